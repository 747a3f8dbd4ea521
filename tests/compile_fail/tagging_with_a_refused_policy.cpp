// SPDX-License-Identifier: Apache-2.0
// expect: selection policy: add `bool selects(const Modules&, stemma::id module) const`
#include <stemma/tagger.hpp>

#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/policy/policies.hpp>

#include <cstddef>
#include <string_view>

struct operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const stemma::operator_graph& graph() const;
    [[nodiscard]] std::string_view name(stemma::id) const;
    [[nodiscard]] std::string_view op_type(stemma::id) const;
    [[nodiscard]] std::size_t parameter_count() const;
    [[nodiscard]] std::string_view parameter_name(stemma::id) const;
    template <class Function>
    void for_each_parameter(stemma::id, Function) const {}
};

struct mine {
    using policy_category = stemma::selection_category;

    [[nodiscard]] bool select(const stemma::module_tree&, stemma::id) const;
};

stemma::tagging run(const operators& ops, const stemma::module_tree& modules) {
    return stemma::tag_operators(ops, modules, stemma::policies{mine{}});
}
