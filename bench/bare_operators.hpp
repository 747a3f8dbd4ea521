// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_BARE_OPERATORS_HPP
#define STEMMA_BENCH_BARE_OPERATORS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace stemma_bench {

using stemma::id;

/// Properties of operators as plain arrays, for hand-written loops.
struct named_arrays {
    using graph_type = stemma::operator_graph;

    /// The properties of another view, which must outlive this.
    template <class Ops>
    explicit named_arrays(const Ops& ops) : edges(ops.graph()) {
        for (id v = 0; v < edges.vertex_count(); ++v) {
            names.push_back(ops.name(v));
            types.push_back(ops.op_type(v));
            ops.for_each_parameter(v, [&](id p) { parameters.push_back(p); });
            first_parameter.push_back(static_cast<id>(parameters.size()));
        }
        for (id p = 0; p < ops.parameter_count(); ++p) {
            parameter_names.push_back(ops.parameter_name(p));
        }
    }

    [[nodiscard]] const graph_type& graph() const { return edges; }
    [[nodiscard]] std::string_view name(id v) const { return names[v]; }
    [[nodiscard]] std::string_view op_type(id v) const { return types[v]; }
    [[nodiscard]] std::size_t parameter_count() const { return parameter_names.size(); }
    [[nodiscard]] std::string_view parameter_name(id p) const { return parameter_names[p]; }
    template <class Function>
    void for_each_parameter(id v, Function f) const {
        for (auto at = first_parameter[v]; at < first_parameter[v + 1]; ++at) {
            f(parameters[at]);
        }
    }

    const graph_type& edges;
    std::vector<std::string_view> names;           ///< by operator
    std::vector<std::string_view> types;           ///< by operator
    std::vector<id> first_parameter{0};            ///< by operator, plus end
    std::vector<id> parameters;                    ///< grouped by operator
    std::vector<std::string_view> parameter_names; ///< by parameter
};

/// Properties of modules as plain arrays.
struct module_arrays {
    /// The properties of a tree, which must outlive this; classes depend on the depth.
    explicit module_arrays(const stemma::module_tree& modules) : tree(modules.index()) {
        for (id m = 0; m < tree.size(); ++m) {
            names.push_back(modules.name(m));
            const auto kind = tree.depth(m) % 4;
            classes.push_back(kind == 0   ? "Model"
                              : kind == 1 ? "Block"
                              : kind == 2 ? "Mlp"
                                          : "Linear");
            qualified.push_back(kind == 3 ? "torch.nn.modules.linear.Linear" : "");
        }
    }

    [[nodiscard]] const stemma::tree_index& index() const { return tree; }
    [[nodiscard]] std::string_view name(id m) const { return names[m]; }
    [[nodiscard]] std::string_view class_name(id m) const { return classes[m]; }
    [[nodiscard]] std::string_view qualified_class(id m) const { return qualified[m]; }

    const stemma::tree_index& tree;
    std::vector<std::string_view> names;     ///< by module
    std::vector<std::string_view> classes;   ///< by module
    std::vector<std::string_view> qualified; ///< by module
};

} // namespace stemma_bench

#endif // STEMMA_BENCH_BARE_OPERATORS_HPP
