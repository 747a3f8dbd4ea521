// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/name_sources.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>

#include <vector>

namespace test::evidence_name_sources {

TEST_CASE("name_sources: claims of names come before those of parameters") {
    const auto tree = test::tree_of({":zoo.Net", "block:zoo.Block", "block.fc:torch.nn.Linear"});
    test::operator_scene ops;
    const auto v = ops.add({}, "/block/MatMul", "MatMul");
    ops.read_parameter(v, "block.fc.weight");
    stemma::evidence_context<test::operator_scene, stemma::module_tree> context(ops, tree);
    std::vector<stemma::claim> claims;
    stemma::name_sources{}.prepare(context).for_each_claim(
        v, [&](const stemma::claim& one) { claims.push_back(one); });
    REQUIRE(claims.size() == 2);
    CHECK(claims[0].source == stemma::provenance::scope);
    CHECK(tree.path(claims[0].module) == "block");
    CHECK(claims[1].source == stemma::provenance::parameter);
    CHECK(tree.path(claims[1].module) == "block.fc");
}

} // namespace test::evidence_name_sources
