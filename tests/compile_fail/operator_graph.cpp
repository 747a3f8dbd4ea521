// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/concepts.hpp>
#include <stemma/model/mapped_operators.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/property_map/function_property_map.hpp>

#include <string>

struct nothing {};

// expect: graph of operators: model Boost's VertexListGraph (`vertices(g)`, `num_vertices(g)`)
// expect: graph of operators: model Boost's IncidenceGraph (`out_edges(v, g)`, `source(e, g)`,
// `target(e, g)`)
// expect: graph of operators: add a `vertex_index` from 0; an adjacency_list has it with
// `boost::vecS` for vertices, or as a property of these
static_assert(stemma::explain_operator_graph<nothing>());

using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;

inline std::string spell(std::size_t v) {
    return std::to_string(v);
}

using temporary_text = boost::function_property_map<std::string (*)(std::size_t), std::size_t>;

// expect: mapped_operators: pass property maps from vertices to text that outlives them
template class stemma::mapped_operators<graph_type, temporary_text, temporary_text>;
