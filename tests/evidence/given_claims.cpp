// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/given_claims.hpp>

#include "../alignment_scene.hpp"
#include "../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
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
            v, [&](const claim& made) { sources.push_back(made.source); });
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

} // namespace test::evidence_given_claims
