// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_STORED_CONTENTS_HPP
#define STEMMA_ALIGN_DETAIL_STORED_CONTENTS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The values of a graph by contents.
class stored_contents {
public:
    /// Requires: the graph outlives this. Complexity: O(values), and O(n log n) in stored ones.
    explicit stored_contents(const comparable_graph& graph) : graph_(graph) {
        for (id v = 0; v < graph.value_count(); ++v) {
            if (const auto content = graph.content(v); content != 0) {
                const auto existing = index_.insert(
                    content, v, [&](id other) { return graph.content(other) == content; });
                if (existing != v) {
                    shared_.push_back(content);
                }
            }
        }
        std::sort(shared_.begin(), shared_.end());
        loose_ = by_hash(graph.loose_contents());
        scaled_ = by_hash(graph.scaled_contents());
    }

    /// Returns: the first value with some contents, or `no_id`; always for 0.
    [[nodiscard]] id find(std::uint64_t content) const {
        return content == 0 ? no_id : index_.find(content, [&](id other) {
            return graph_.content(other) == content;
        });
    }

    /// Whether exactly one value has these contents.
    [[nodiscard]] bool is_unique(std::uint64_t content) const {
        return !std::binary_search(shared_.begin(), shared_.end(), content);
    }

    /// Returns: the value with the same elements in any order, `no_id` for none or several.
    [[nodiscard]] id find_loose(std::uint64_t loose) const { return find_one(loose_, loose); }

    /// Returns: the same, of slices that may have been multiplied.
    [[nodiscard]] id find_scaled(std::uint64_t scaled) const { return find_one(scaled_, scaled); }

private:
    using hashed_values = std::vector<std::pair<std::uint64_t, id>>;

    [[nodiscard]] static hashed_values
    by_hash(std::span<const std::pair<id, std::uint64_t>> hashes) {
        hashed_values result;
        for (const auto& [value, hash] : hashes) {
            result.emplace_back(hash, value);
        }
        std::sort(result.begin(), result.end());
        return result;
    }

    [[nodiscard]] static id find_one(const hashed_values& all, std::uint64_t hash) {
        const auto at = std::lower_bound(all.begin(), all.end(), std::pair(hash, id{0}));
        const bool has_match = at != all.end() && at->first == hash;
        const bool again = has_match && at + 1 != all.end() && (at + 1)->first == hash;
        return has_match && !again ? at->second : no_id;
    }

    const comparable_graph& graph_;
    flat_index index_;
    std::vector<std::uint64_t> shared_; // of several values, ascending
    hashed_values loose_;
    hashed_values scaled_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_STORED_CONTENTS_HPP
