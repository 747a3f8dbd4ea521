// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_VERTEX_SET_HPP
#define STEMMA_CUT_DETAIL_VERTEX_SET_HPP

#include <stemma/core/id.hpp>

#include <cstddef>
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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_VERTEX_SET_HPP
