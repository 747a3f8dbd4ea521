// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/tagging/tag_operators.hpp>

struct operators {
    using graph_type = stemma::operator_graph;

    const stemma::operator_graph& graph() const;
};

// compiles
stemma::tagging tag(const operators& ops, const stemma::module_tree& tree) {
    return stemma::tag_operators(ops, tree, stemma::policies{stemma::evidence_sources<>{}});
}

// expect: tag_operators: pass evidence, or include <stemma/tagging/tagger.hpp>
stemma::tagging tag_by_default(const operators& ops, const stemma::module_tree& tree) {
    return stemma::tag_operators(ops, tree);
}
