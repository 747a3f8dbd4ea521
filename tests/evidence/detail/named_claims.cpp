// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/named_claims.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/tagger.hpp>

#include <string>
#include <string_view>

namespace test::evidence_detail_named_claims {

namespace {

using any_evidence =
    stemma::any_policy<stemma::evidence_category, test::operator_scene, stemma::module_tree>;

/// Claims that every operator is in the last module.
struct unnamed_labels {
    using policy_category = stemma::evidence_category;

    struct claims {
        stemma::id last;

        template <class Vertex, class Function>
        void for_each_claim(const Vertex&, Function f) const {
            f(stemma::claim{last, stemma::no_id, 1, stemma::provenance::metadata});
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] claims prepare(stemma::evidence_context<Ops, Modules>& context) const {
        return {static_cast<stemma::id>(context.index().size() - 1)};
    }
};

struct labels : unnamed_labels {
    static constexpr std::string_view name = "labels";
};
struct guesses : unnamed_labels {
    static constexpr std::string_view name = "guesses";
};
struct impostor : unnamed_labels {
    static constexpr std::string_view name = "scope";
};

/// Returns: the provenance of the first operators.
template <class Source>
std::string known_from(const Source& source) {
    test::operator_scene ops;
    ops.add({}, "/head/MatMul", "MatMul");
    const auto tree = test::tree_of({":zoo.Net", "head:zoo.Fc"});
    const auto tagged = stemma::tag_operators(ops, tree, stemma::policies{source});
    const auto p = tagged.attributions.front().source;
    CHECK(stemma::is_evidence(p));
    return std::string(tagged.provenances[p]);
}

} // namespace

TEST_CASE("prepare_source: a named source makes claims under its name", "[named_claims]") {
    CHECK(known_from(labels{}) == "labels");
    CHECK(known_from(any_evidence(guesses{})) == "guesses");
    CHECK(known_from(stemma::optional_source<labels>{}) == "labels");
    CHECK(known_from(stemma::evidence_sources<unnamed_labels>{}) == "metadata");
    CHECK(known_from(any_evidence(unnamed_labels{})) == "metadata");
}

TEST_CASE("prepare_source: sources are numbered in query order", "[named_claims]") {
    test::operator_scene ops;
    const auto v = ops.add({}, "", "MatMul");
    const auto tree = test::tree_of({":zoo.Net", "head:zoo.Fc"});
    stemma::evidence_context<test::operator_scene, stemma::module_tree> context(ops, tree);
    const auto claims = stemma::evidence_sources<guesses, labels>{}.prepare(context);
    std::string text;
    claims.for_each_claim(v, [&](const stemma::claim& claim) {
        text.append(context.provenances()[claim.source]).append(" ");
    });
    CHECK(text == "guesses labels ");
    CHECK(context.provenances().size() == stemma::detail::provenance_count + 2);
}

TEST_CASE("prepare_source: built-in names are reserved", "[named_claims]") {
    CHECK_THROWS_AS(known_from(impostor{}), stemma::error);
}

} // namespace test::evidence_detail_named_claims
