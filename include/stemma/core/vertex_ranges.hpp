// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_VERTEX_RANGES_HPP
#define STEMMA_CORE_VERTEX_RANGES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/parallel.hpp>

#include <cstddef>
#include <iterator>

namespace stemma {

/// Divides the vertices of a graph into `count` ranges of about the same length, in the graph's
/// order, and calls `f(part, first, last)` with the iterators of each, as `for_each_range` does.
///
/// Throws: what the call for the lowest part threw.
/// Complexity: that of `f`, and of moving an iterator to where each range begins.
template <vertex_list_graph G, class Function>
void for_each_vertex_range(const G& graph, std::size_t count, Function f) {
    const auto begin_of_all = vertices(graph).first;
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    for_each_range(size, count, [&](std::size_t part, std::size_t begin, std::size_t end) {
        const auto first = std::next(begin_of_all, static_cast<std::ptrdiff_t>(begin));
        f(part, first, std::next(first, static_cast<std::ptrdiff_t>(end - begin)));
    });
}

} // namespace stemma

#endif // STEMMA_CORE_VERTEX_RANGES_HPP
