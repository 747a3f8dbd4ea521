// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/tagger.hpp>

#include <stemma/core/policies.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>

#include <cstddef>
#include <string_view>

using modules = stemma::module_tree;

struct operators {
    using graph_type = stemma::operator_graph;

    const stemma::operator_graph& graph() const;
    std::string_view name(stemma::id) const;
    std::string_view op_type(stemma::id) const;
    std::size_t parameter_count() const;
    std::string_view parameter_name(stemma::id) const;
    template <class Function>
    void for_each_parameter(stemma::id, Function) const {}
};

// compiles
stemma::tagging tag(const operators& ops, const modules& tree) {
    return stemma::tag_operators(ops, tree,
                                 stemma::policies{stemma::all_modules{}, stemma::cautious{}});
}

// expect: tag_operators: tagging uses no policy with this policy_category
stemma::tagging tag_with_a_cut(const operators& ops, const modules& tree) {
    return stemma::tag_operators(ops, tree, stemma::policies{stemma::standard_cut{}});
}

// expect: selection policy: add `bool selects(const Modules&, stemma::id module) const`
struct misspelt {
    using policy_category = stemma::selection_category;

    bool select(const modules&, stemma::id) const;
};
stemma::tagging tag_misspelt(const operators& ops, const modules& tree) {
    return stemma::tag_operators(ops, tree, stemma::policies{misspelt{}});
}
