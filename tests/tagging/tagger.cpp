// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/tagger.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/policies.hpp>
#include <stemma/evidence/name_sources.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/tagging/tag_operators.hpp>

namespace test::tagging_tagger {

TEST_CASE("tagger: without evidence of the caller's, names and parameters are asked") {
    const auto tree = test::tree_of({":zoo.Net", "fc:torch.nn.Linear", "head:torch.nn.Linear"});
    test::operator_scene ops;
    const auto named = ops.add({}, "/fc/MatMul", "MatMul");
    const auto reader = ops.add({named}, "", "Gemm");
    ops.read_parameter(reader, "head.weight");
    const auto tagged = stemma::tag_operators(ops, tree);
    CHECK(tree.path(tagged.attributions[named].module) == "fc");
    CHECK(tree.path(tagged.attributions[reader].module) == "head");
    const auto same = stemma::tag_operators(ops, tree, stemma::policies{stemma::name_sources{}});
    CHECK(same.attributions == tagged.attributions);
    const auto names = stemma::tag_operators(ops, tree, stemma::policies{stemma::scope_names{}});
    CHECK(names.attributions[named] == tagged.attributions[named]);
    CHECK_FALSE(stemma::is_evidence(names.attributions[reader].source));
}

} // namespace test::tagging_tagger
