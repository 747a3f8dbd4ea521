// SPDX-License-Identifier: Apache-2.0
// Boost.Graph's algorithms on a model: the longest path, the nodes on all paths, and a depth-first
// search of its modules.
//
//   boost_algorithms MODEL.onnx MODULES.json
#include <stemma/capture/captures.hpp>
#include <stemma/open/attributed_model.hpp>

#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/topological_sort.hpp>
#include <boost/property_map/property_map.hpp>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using stemma::id;

/// Prints a module where the search enters it, down to a depth.
struct print_modules : boost::default_dfs_visitor {
    void discover_vertex(id module, const stemma::module_tree& tree) const {
        const auto depth = tree.index().depth(module);
        if (depth <= 2) {
            std::cout << std::string(2 * depth, ' ') << tree.class_name(module) << "\n";
        }
    }
};

} // namespace

int main(int, char** arguments) {
    const stemma::attributed_model opened(arguments[1],
                                          {.captures = stemma::captures({arguments[2]})});
    const auto& model = opened.model();
    const auto& graph = opened.operators().graph();

    // Readers come before producers.
    std::vector<id> order;
    boost::topological_sort(graph, std::back_inserter(order));
    std::vector<id> length(num_vertices(graph), 1);
    for (const id node : order) {
        for (const id reader : graph.readers(node)) {
            length[node] = std::max(length[node], length[reader] + 1);
        }
    }
    std::cout << "longest path: " << *std::max_element(length.begin(), length.end()) << " of "
              << order.size() << " operators\n";

    // Against the edges, the immediate dominator of a node is the next node on all paths from it.
    std::vector<id> next(num_vertices(graph), stemma::no_id);
    boost::lengauer_tarjan_dominator_tree(
        boost::make_reverse_graph(graph), order.front(),
        boost::make_iterator_property_map(next.begin(), get(boost::vertex_index, graph)));
    id first = 0;
    while (first + 1 < model.node_count() && model.op_type(first) != "Gather") {
        ++first;
    }
    std::cout << "all paths from " << model.name(first) << " pass through these modules\n";
    id module = stemma::no_id;
    for (id node = next[first]; node != stemma::no_id; node = next[node]) {
        if (module != opened.tags().attributions[node].module) {
            module = opened.tags().attributions[node].module;
            std::cout << "  " << opened.tags().tags.text(module) << "\n";
        }
    }

    boost::depth_first_search(opened.modules(), boost::visitor(print_modules()));
}
