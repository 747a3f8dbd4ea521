// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_VERTICES_BY_INDEX_HPP
#define STEMMA_CORE_DETAIL_VERTICES_BY_INDEX_HPP

#include <stemma/core/concepts.hpp>

#include <boost/property_map/property_map.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

template <class Map>
inline constexpr bool is_identity_map = false;

template <class T>
inline constexpr bool is_identity_map<boost::typed_identity_property_map<T>> = true;

/// A graph whose vertices are their own indices: its interior `vertex_index` is Boost's identity
/// map.
template <class Graph>
concept vertices_are_indices = vertex_indexed_graph<Graph> && std::integral<vertex_t<Graph>> &&
    requires(const Graph& g) {
    requires detail::is_identity_map<std::remove_cvref_t<decltype(get(boost::vertex_index, g))>>;
};

/// The vertices of a graph by index. No table is built where the two are the same.
template <class Graph>
    requires vertex_list_graph<Graph> && vertex_indexed_graph<Graph>
class vertices_by_index {
public:
    /// Complexity: O(V), or O(1) where vertices are indices.
    explicit vertices_by_index(const Graph& graph) {
        if constexpr (!vertices_are_indices<Graph>) {
            vertices_.resize(num_vertices(graph));
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                vertices_[index_of(graph, *it)] = *it;
            }
        }
    }

    /// Returns: the vertex at an index. Requires: it exists.
    [[nodiscard]] vertex_t<Graph> operator[](std::size_t index) const {
        if constexpr (vertices_are_indices<Graph>) {
            return static_cast<vertex_t<Graph>>(index);
        } else {
            return vertices_[index];
        }
    }

private:
    std::vector<vertex_t<Graph>> vertices_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_VERTICES_BY_INDEX_HPP
