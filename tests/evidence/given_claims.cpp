// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/given_claims.hpp>

#include "../alignment_scene.hpp"
#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <vector>

namespace test::evidence_given_claims {

using stemma::claim;
using stemma::claim_table;
using stemma::given_claims;
using stemma::provenance;

TEST_CASE("given_claims: every table makes claims about its operators, in order",
          "[given_claims]") {
    test::exported_graph graph;
    for (int i = 0; i < 3; ++i) {
        graph.add("Relu", {});
    }
    graph.finish();
    const auto modules = stemma::module_tree_builder().build();
    const std::vector<claim_table> tables{
        {provenance::trace, {claim{0, 1, 0.5F, provenance::trace}, claim{}}},
        {provenance::fx,
         {claim{0, 0, 0.7F, provenance::fx}, claim{}, claim{0, 0, 0.9F, provenance::fx}}}};
    CHECK(tables[0].count() == 1);
    CHECK(tables[1].count() == 2);
    stemma::evidence_context<test::exported_graph, stemma::module_tree> context(graph, modules);
    const auto claims_of = [&](const given_claims& source, stemma::id v) {
        std::vector<provenance> sources;
        source.prepare(context).for_each_claim(
            v, [&](const claim& claim) { sources.push_back(claim.source); });
        return sources;
    };
    const given_claims source{&tables};
    CHECK(claims_of(source, 0) == std::vector{provenance::trace, provenance::fx});
    CHECK(claims_of(source, 1).empty());
    CHECK(claims_of(source, 2) == std::vector{provenance::fx});
    CHECK(claims_of({}, 0).empty());
    STATIC_REQUIRE(
        stemma::evidence_policy<given_claims, test::exported_graph, stemma::module_tree>);
}

TEST_CASE("given_claims: an aligned operation is a part of an operator fused from several") {
    test::evidence_scene scene(
        test::graph({test::node("Conv", {"x"}, {"/b/Mul_output_0"}, "/b/conv/Conv")}, {"x"},
                    {"/b/Mul_output_0"}));
    const auto lookup = stemma::module_lookup(scene.modules());
    const auto part = stemma::find_module(lookup, "b.conv");
    const auto claimed = [&](provenance source, float confidence = 0.9F) {
        const std::vector<claim_table> tables{{source, {claim{part, 0, confidence, source}}}};
        std::vector<claim> claims;
        given_claims{&tables}.prepare(scene.context()).for_each_claim(0, [&](const claim& one) {
            claims.push_back(one);
        });
        return claims.at(0);
    };
    CHECK(claimed(provenance::trace).module == stemma::find_module(lookup, "b"));
    CHECK(claimed(provenance::trace).call == stemma::no_id);
    CHECK(claimed(provenance::trace).exact);
    CHECK(claimed(provenance::trace, 0.6F).module == part); // doubtful
    CHECK_FALSE(claimed(provenance::trace, 0.6F).exact);
    CHECK(claimed(provenance::recorded).module == part); // of all its origins
    CHECK(claimed(provenance::recorded).call == 0);
}

} // namespace test::evidence_given_claims
