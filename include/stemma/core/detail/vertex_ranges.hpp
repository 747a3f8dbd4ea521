// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_VERTEX_RANGES_HPP
#define STEMMA_CORE_DETAIL_VERTEX_RANGES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/parallel.hpp>

#include <cstddef>
#include <iterator>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the iterators to the begin and end of range `part`, where a graph's vertices are
/// divided into `count` ranges of about equal length, in the graph's order. Complexity: that of
/// advancing an iterator that far.
template <vertex_list_graph G>
[[nodiscard]] auto vertex_range(const G& graph, std::size_t count, std::size_t part) {
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    const auto begin = static_cast<std::ptrdiff_t>(range_begin(size, count, part));
    const auto end = static_cast<std::ptrdiff_t>(range_begin(size, count, part + 1));
    const auto first = std::next(vertices(graph).first, begin);
    return std::pair(first, std::next(first, end - begin));
}

/// Divides a graph's vertices into `count` ranges of about equal length, in the graph's order, and
/// calls `f(part, first, last)` with the iterators of each, as `for_each_part` does.
///
/// Throws: what the call for the lowest part threw.
/// Complexity: that of `f`, and of advancing an iterator to the beginning of each range.
template <vertex_list_graph G, class Function>
void for_each_vertex_range(const G& graph, std::size_t count, Function f) {
    for_each_part(count, [&](std::size_t part) {
        const auto [first, last] = vertex_range(graph, count, part);
        f(part, first, last);
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_VERTEX_RANGES_HPP
