// SPDX-License-Identifier: Apache-2.0
// Holds what gdb is asked to show.
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/stemma.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace {

/// One operator has a name, two follow it.
struct operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const graph_type& graph() const { return edges; }
    [[nodiscard]] static std::string_view name(stemma::id v) {
        return v == 0 ? "/engine/pump/Start" : "";
    }
    [[nodiscard]] static std::string_view op_type(stemma::id) { return "Run"; }
    [[nodiscard]] static std::size_t parameter_count() { return 0; }
    [[nodiscard]] static std::string_view parameter_name(stemma::id) { return ""; }
    template <class Function>
    void for_each_parameter(stemma::id, Function) const {}

    stemma::operator_graph edges;
};

/// Returns: something of each, so that all are still there.
std::size_t stop_here(const stemma::module_tree& tree, const stemma::operator_graph& graph,
                      const stemma::tagging& found, const stemma::id& some, const stemma::id& none,
                      stemma::node_ref node, stemma::module_ref module, stemma::value_ref value,
                      stemma::parameter_ref parameter, stemma::node_ref nothing) {
    const bool met = node == nothing ||
                     to_index(module.id()) + to_index(value.id()) + to_index(parameter.id()) == 0;
    return (met ? 0U : 1U) + tree.size() + num_vertices(graph) + found.dropped +
           (some < none ? 1 : 0);
}

} // namespace

int main(int, char** argv) {
    stemma::module_tree_builder builder;
    builder.set_class(builder.at_path("engine"), "Engine", "works.Engine");
    builder.at_path("engine.pump");
    const auto tree = builder.build();
    const std::vector<stemma::operator_edge> edges{
        {0, 1, 0, 0, 0}, {0, 2, 0, 0, 0}, {1, 2, 1, 1, 0}};
    const operators ops{stemma::operator_graph(3, edges)};
    const auto found = stemma::tag_operators(ops, tree);
    const stemma::id some = 7;
    const stemma::id none = stemma::no_id;
    const auto model = stemma::open(argv[1]);
    return stop_here(tree, ops.edges, found, some, none, model.node(stemma::node_id{64}),
                     model.module(stemma::module_id{1}), model.value(stemma::value_id{3}),
                     model.parameter(stemma::parameter_id{2}), {}) > 0
               ? 0
               : 1;
}
