// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_VERTEX_SET_HPP
#define STEMMA_CUT_DETAIL_VERTEX_SET_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A part of the vertices of a graph, by vertex index.
///  `inside` are the members. `apart` count on neither side, as every reader gets a copy, such as
/// constants.
struct vertex_set {
    std::vector<bool> inside; ///< by vertex index
    std::vector<bool> apart;  ///< by vertex index

    /// An empty set.
    explicit vertex_set(std::size_t vertex_count) : inside(vertex_count), apart(vertex_count) {}

    /// Whether `v` counts as a member.
    [[nodiscard]] bool is_inside(std::size_t v) const { return inside[v] && !apart[v]; }

    /// Whether `v` counts as outside; `apart` vertices are neither.
    [[nodiscard]] bool is_outside(std::size_t v) const { return !inside[v] && !apart[v]; }
};

/// The range of a topological order from the first to the last member of a set. Vertices outside
/// are on no path between members.
template <operator_graph_like Graph>
class order_stretch {
public:
    /// `order` is topological and `rank` its inverse by vertex index; an empty `order` means index
    /// order. Complexity: O(members).
    order_stretch(const Graph& graph, std::span<const vertex_t<Graph>> order,
                  std::span<const id> rank, std::span<const vertex_t<Graph>> members)
        : rank_(rank) {
        std::size_t end = 0;
        first_ = members.empty() ? 0 : order.size();
        for (const auto& v : members) {
            const auto at = rank_of(index_of(graph, v));
            first_ = std::min(first_, at);
            end = std::max(end, at + 1);
        }
        vertices_ = order.subspan(first_, end - first_);
    }

    /// From `first` up to `end`; otherwise as above. Complexity: O(1).
    order_stretch(std::span<const vertex_t<Graph>> order, std::span<const id> rank,
                  std::size_t first, std::size_t end)
        : vertices_(order.subspan(first, end - first)), rank_(rank), first_(first) {}

    /// Returns: the range, producers first; valid as long as the order.
    [[nodiscard]] std::span<const vertex_t<Graph>> vertices() const noexcept { return vertices_; }

    /// Returns: the position of a vertex index in `vertices()`; beyond its end for others.
    [[nodiscard]] std::size_t place(std::size_t v) const {
        return rank_of(v) - first_; // earlier ones wrap around
    }

private:
    [[nodiscard]] std::size_t rank_of(std::size_t v) const { return rank_.empty() ? v : rank_[v]; }

    std::span<const vertex_t<Graph>> vertices_;
    std::span<const id> rank_;
    std::size_t first_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_VERTEX_SET_HPP
