// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/evidence_sources.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>

#include <tuple>
#include <type_traits>
#include <vector>

namespace test::evidence_evidence_sources {

using stemma::evidence_sources;
using stemma::optional_source;
using stemma::parameter_names;
using stemma::provenance;
using stemma::scope_names;

namespace {

using context = stemma::evidence_context<test::operator_scene, stemma::module_tree>;

/// An operator with a scoped name and a parameter.
struct scene {
    scene() {
        v = ops.add({}, "/enc/fc/MatMul", "MatMul");
        ops.read_parameter(v, "enc.fc.weight");
    }

    template <class Sources>
    std::vector<provenance> ask(const Sources& sources) {
        context facts(ops, tree);
        std::vector<provenance> provenances;
        sources.prepare(facts).for_each_claim(
            v, [&](const stemma::claim& one) { provenances.push_back(one.source); });
        return provenances;
    }

    test::operator_scene ops;
    stemma::module_tree tree = test::tree_of({"enc.fc"});
    stemma::id v = 0;
};

using found = std::vector<provenance>;

} // namespace

TEST_CASE("evidence_sources: claims are ordered by source") {
    scene s;
    CHECK(s.ask(evidence_sources<scope_names, parameter_names>{}) ==
          found{provenance::scope, provenance::parameter});
    CHECK(s.ask(evidence_sources<parameter_names, scope_names>{}) ==
          found{provenance::parameter, provenance::scope});
    CHECK(s.ask(evidence_sources(scope_names{})) == found{provenance::scope});
    CHECK(s.ask(evidence_sources<>{}).empty());
}

TEST_CASE("evidence_sources: are a source, and add no state to their parts") {
    using both = evidence_sources<scope_names, parameter_names>;
    STATIC_REQUIRE(stemma::evidence_policy<both, test::operator_scene, stemma::module_tree>);
    // A tuple in libc++ is never empty.
    STATIC_REQUIRE(std::is_empty_v<both> ==
                   std::is_empty_v<std::tuple<scope_names, parameter_names>>);
    scene s;
    CHECK(s.ask(evidence_sources<both, scope_names>{}).size() == 3);
}

TEST_CASE("optional_source: can be switched off at run time") {
    scene s;
    const evidence_sources sources(optional_source<scope_names>{{}, false},
                                   optional_source<parameter_names>{});
    CHECK(s.ask(sources) == found{provenance::parameter});
}

} // namespace test::evidence_evidence_sources
