// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_VALUE_NAMES_HPP
#define STEMMA_ALIGN_DETAIL_VALUE_NAMES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/tool_names.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The values of a graph by name; ambiguous names find none.
class value_names {
public:
    /// Requires: the graph outlives this. Complexity: O(values + length of names).
    explicit value_names(const comparable_graph& graph)
        : graph_(graph), index_(graph.value_count()), several_(graph.value_count()) {
        for (id value = 0; value < graph.value_count(); ++value) {
            const auto name = graph.value_name(value);
            if (name.empty()) {
                continue;
            }
            const auto existing = index_.insert(
                hash_bytes(name), value, [&](id other) { return graph.value_name(other) == name; });
            if (existing != value) {
                several_[existing] = several_[value] = true;
            }
        }
    }

    /// Returns: by value of another graph the one with its name, or `no_id`.
    /// Complexity: O(values + length of names); cheapest if both have them in the same order.
    [[nodiscard]] std::vector<id> find_all(const comparable_graph& other) const {
        std::vector<id> result(other.value_count(), no_id);
        id next = 0;
        for (id value = 0; value < other.value_count(); ++value) {
            const auto name = other.value_name(value);
            const bool is_next = next < graph_.value_count() && !name.empty() &&
                                 graph_.value_name(next) == name && !several_[next];
            result[value] = is_next ? next : find(name);
            next = result[value] == no_id ? next : result[value] + 1;
        }
        return result;
    }

    /// Returns: the value with a name, or `no_id`. Complexity: O(length).
    [[nodiscard]] id find(std::string_view name) const {
        if (name.empty()) {
            return no_id;
        }
        const auto existing = index_.find(
            hash_bytes(name), [&](id value) { return graph_.value_name(value) == name; });
        return existing == no_id || several_[existing] ? no_id : existing;
    }

    /// The same, ignoring tools' prefixes and suffixes.
    /// Complexity: O(length of the lists).
    [[nodiscard]] id find_within(std::string_view name) const {
        for (int cuts = 0; cuts < 4 && !name.empty(); ++cuts) {
            const auto behind = suffix_length(name, tool_suffixes);
            const auto before = behind > 0 ? 0 : prefix_length(name, tool_prefixes);
            if (behind + before == 0) {
                break;
            }
            name.remove_suffix(behind);
            name.remove_prefix(before);
            if (const auto result = find(name); result != no_id) {
                return result;
            }
        }
        return no_id;
    }

private:
    const comparable_graph& graph_;
    flat_index index_;
    std::vector<bool> several_; // by value: whether its name is ambiguous
};

/// The operators of a graph by name; ambiguous names find none.
class operator_names {
public:
    /// Requires: the graph outlives this. Complexity: O(operators + length of names).
    explicit operator_names(const comparable_graph& graph)
        : graph_(graph), index_(graph.operator_count()), several_(graph.operator_count()) {
        for (id op = 0; op < graph.operator_count(); ++op) {
            const auto name = graph.name(op);
            if (!name.empty()) {
                const auto existing = index_.insert(
                    hash_bytes(name), op, [&](id other) { return graph.name(other) == name; });
                several_[existing] = several_[existing] || existing != op;
            }
        }
    }

    /// Returns: the operator with a name, or `no_id`. Complexity: O(length).
    [[nodiscard]] id find(std::string_view name) const {
        const auto existing = name.empty() ? no_id : index_.find(hash_bytes(name), [&](id op) {
            return graph_.name(op) == name;
        });
        return existing == no_id || several_[existing] ? no_id : existing;
    }

private:
    const comparable_graph& graph_;
    flat_index index_;
    std::vector<bool> several_; // by the first operator with a name
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_VALUE_NAMES_HPP
