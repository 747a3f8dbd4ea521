// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_JOIN_FUSED_HPP
#define STEMMA_ALIGN_DETAIL_JOIN_FUSED_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/detail/parameter_scores.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Assigns operators that a runtime fused to the common ancestor of what they were fused from: of
/// the operations around and connected with the aligned one that their type may include and that
/// left no operator of their own; and of those that read their parameters.
class fused_joiner {
public:
    /// Requires: all arguments outlive it. Complexity: O(operators).
    fused_joiner(const aligned_nodes& nodes, const aligned_items& items,
                 const captured_operations& captured, const tree_index& modules,
                 const parameter_scores& parameters, alignment& result)
        : nodes_(nodes)
        , items_(items)
        , captured_(captured)
        , modules_(modules)
        , parameters_(parameters)
        , result_(result)
        , made_by_(captured.size(), no_id) {
        for (id n = 0; n < nodes.size(); ++n) {
            const auto item = result.of[nodes.vertex[n]].operation;
            if (item != no_id && leads(item, nodes.type[n])) {
                made_by_[item] = n;
            }
        }
    }

    /// Complexity: O(fused operators) steps of bounded size.
    void run() {
        for (id n = 0; n < nodes_.size(); ++n) {
            auto& entry = result_.of[nodes_.vertex[n]];
            if (entry.operation == no_id || !items_.is_fused[nodes_.type[n]]) {
                continue;
            }
            joined_.assign(1, entry.operation);
            join_neighbours(entry.operation, n);
            auto module = entry.module;
            for (auto item : joined_) {
                module = modules_.lca(module, captured_[item].module);
            }
            for (auto p : nodes_.parameters[n]) {
                module = common_with_readers(module, p);
            }
            entry.call = module == entry.module ? entry.call : no_id;
            entry.module = module;
        }
    }

private:
    static constexpr id max_distance = 64;

    /// Returns: the common ancestor of a module and those whose operations read a parameter.
    [[nodiscard]] id common_with_readers(id module, id parameter) {
        const auto readers = parameters_.readers(parameter);
        if (readers.empty()) {
            return module;
        }
        const auto [entry, is_new] =
            of_readers_.try_emplace(parameter, captured_[readers.front()].module);
        for (std::size_t i = 1; is_new && i < readers.size(); ++i) {
            entry->second = modules_.lca(entry->second, captured_[readers[i]].module);
        }
        return modules_.lca(module, entry->second);
    }

    void join_neighbours(id item, id n) {
        const auto first = item > max_distance ? item - max_distance : 0;
        const auto last = std::min<std::size_t>(captured_.size(), item + max_distance);
        for (std::size_t before = 0; before != joined_.size();) { // repeat while it grows
            before = joined_.size();
            for (auto i = item + 1; i < last; ++i) {
                join(i, n);
            }
            for (auto i = item; i-- > first;) {
                join(i, n);
            }
        }
    }

    void join(id item, id n) {
        const auto type = nodes_.type[n];
        const auto is_connected = [&](id other) {
            return (items_.flows(item, other) && !is_layer(other, type)) ||
                   items_.flows(other, item);
        };
        if (made_by_[item] == no_id && items_.fuses[items_.profile[item]][type] &&
            !(is_layer(item, type) && std::any_of(joined_.begin(), joined_.end(),
                                                  [&](id other) { return leads(other, type); })) &&
            std::any_of(joined_.begin(), joined_.end(), is_connected) && !reads_later(item, n) &&
            may_read(item, n)) {
            made_by_[item] = n;
            joined_.push_back(item);
        }
    }

    /// Whether operator `n` reads as many results as the operations that it would be fused from:
    /// a sum of two results is no part of a layer that reads one.
    [[nodiscard]] bool may_read(id item, id n) {
        read_.clear();
        for (auto reader : {joined_.front(), item}) {
            for (auto source : captured_.sources_of(reader)) {
                const auto result = remaining(source, n);
                if (result != no_id &&
                    std::find(read_.begin(), read_.end(), result) == read_.end()) {
                    read_.push_back(result);
                }
            }
        }
        return read_.size() < 2 || read_.size() <= nodes_.producers[n].size();
    }

    /// Returns: the operation that left an operator, not `n`, with the result of an operation; past
    /// those that left none and read one result. `no_id` if there is none, or it is a shape.
    [[nodiscard]] id remaining(id item, id n) const {
        for (id step = 0; step < max_distance && item != joined_.front(); ++step) {
            const auto maker = made_by_[item];
            if (maker != no_id) {
                return maker == n || nodes_.of_shapes[maker] ? no_id : item;
            }
            const auto sources = captured_.sources_of(item);
            if (sources.size() != 1) {
                return no_id;
            }
            item = sources.front();
        }
        return no_id;
    }

    /// Whether an operation reads what an operator makes that comes after `n`.
    [[nodiscard]] bool reads_later(id item, id n) const {
        const auto sources = items_.sources[item];
        return std::any_of(sources.begin(), sources.end(), [&](id source) {
            const auto maker = made_by_[source];
            return maker != no_id && maker > n && nodes_.chain[maker] == nodes_.chain[n];
        });
    }

    [[nodiscard]] bool leads(id item, id type) const {
        return items_.table[items_.profile[item]][type] == correspondence::head;
    }

    /// Whether an operation leads, and multiplies by weights, such as a convolution: a fused
    /// operator has only one such, and everything else in it follows.
    [[nodiscard]] bool is_layer(id item, id type) const {
        const auto parameters = captured_.parameters_of(item);
        return leads(item, type) && std::any_of(parameters.begin(), parameters.end(),
                                                [](const auto& p) { return p.shape.size() > 1; });
    }

    const aligned_nodes& nodes_;
    const aligned_items& items_;
    const captured_operations& captured_;
    const tree_index& modules_;
    const parameter_scores& parameters_;
    std::unordered_map<id, id> of_readers_; // by parameter: the common ancestor of its readers
    alignment& result_;
    std::vector<id> made_by_; // by operation: the last operator that it produced, or is part of
    std::vector<id> joined_;
    std::vector<id> read_; // operations
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_JOIN_FUSED_HPP
