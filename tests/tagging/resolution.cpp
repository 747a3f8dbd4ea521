// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/resolution.hpp>

#include "../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>

#include <span>
#include <vector>

namespace test::tagging_resolution {

using stemma::attribution;
using stemma::by_trust;
using stemma::claim;
using stemma::id;
using stemma::no_id;
using stemma::provenance;
using stemma::tree_index;

namespace {

// 0 holds 1 and 4; 1 holds 2 and 3.
tree_index some_tree() {
    return tree_index({no_id, 0, 1, 1, 0});
}

attribution resolve(const std::vector<claim>& claims, by_trust policy = {}) {
    return policy.resolve(some_tree(), claims);
}

claim says(provenance source, id module, float confidence, bool exact = true) {
    return {module, no_id, confidence, source, exact};
}

} // namespace

TEST_CASE("by_trust: the most trusted source leads, whatever the order of claims", "[resolution]") {
    const auto scope = says(provenance::scope, 2, 0.9F);
    const auto fx = says(provenance::fx, 4, 0.99F);
    for (const auto& claims : {std::vector{scope, fx}, std::vector{fx, scope}}) {
        const auto resolution = resolve(claims);
        CHECK(resolution.module == 2);
        CHECK(resolution.source == provenance::scope);
        CHECK(resolution.conflict);
    }
}

TEST_CASE("by_trust: agreement raises confidence, one claim alone keeps its own", "[resolution]") {
    const auto alone = resolve({says(provenance::trace, 2, 0.8F)});
    CHECK(alone.confidence == 0.8F);
    const auto both = resolve({says(provenance::trace, 2, 0.8F), says(provenance::fx, 2, 0.8F)});
    CHECK(both.module == 2);
    CHECK(both.confidence > 0.9F);
    CHECK_FALSE(both.conflict);
}

TEST_CASE("by_trust: an inexact claim agrees with modules above and below", "[resolution]") {
    const auto parameter = says(provenance::parameter, 1, 0.85F, false);
    CHECK_FALSE(resolve({says(provenance::scope, 2, 0.9F), parameter}).conflict);
    CHECK_FALSE(resolve({says(provenance::scope, 0, 0.9F), parameter}).conflict);
    CHECK(resolve({says(provenance::scope, 4, 0.9F), parameter}).conflict);
}

TEST_CASE("by_trust: an aligned operation picks among the modules a parameter allows",
          "[resolution]") {
    const auto parameter = says(provenance::parameter, 1, 0.85F, false);
    for (const auto source : {provenance::torchscript, provenance::trace, provenance::fx}) {
        for (const id module : {0U, 2U}) {
            const auto resolution = resolve({parameter, says(source, module, 0.8F)});
            CHECK(resolution.module == module);
            CHECK(resolution.source == source);
            CHECK(resolution.confidence == 0.8F);
            CHECK_FALSE(resolution.conflict);
        }
        CHECK(resolve({parameter, says(source, 2, 0.3F)}).module == 1);
        CHECK(resolve({parameter, says(source, 2, 0.8F, false)}).module == 1);
    }
}

TEST_CASE("by_trust: a surer claim picks among the modules below that a parameter allows") {
    const auto module_for = [](float sureness, id module) {
        return resolve({{1, no_id, 0.6F, provenance::parameter, false},
                        {module, no_id, sureness, provenance::leftover, false}})
            .module;
    };
    CHECK(module_for(0.7F, 2) == 2);
    CHECK(module_for(0.5F, 2) == 1);
    CHECK(module_for(0.7F, 0) == 1); // the module that contains it
    const auto several = resolve({{1, no_id, 0.85F, provenance::function, false},
                                  {2, no_id, 0.92F, provenance::function, false},
                                  {3, no_id, 0.92F, provenance::function, false}});
    CHECK(several.module == 1); // alternatives of one source
}

TEST_CASE("by_trust: an aligned operation overrules a parameter only if it is sure",
          "[resolution]") {
    const auto parameter = says(provenance::parameter, 1, 0.85F, false);
    const auto unsure = resolve({parameter, says(provenance::trace, 4, 0.8F)});
    CHECK(unsure.module == 1);
    CHECK(unsure.conflict);
    const auto sure = resolve({parameter, says(provenance::trace, 4, 0.95F)});
    CHECK(sure.module == 4);
    CHECK(sure.conflict);
}

TEST_CASE("by_trust: claims below the threshold are not believed", "[resolution]") {
    const by_trust strict{0.5F};
    CHECK(resolve({says(provenance::trace, 2, 0.4F)}, strict).module == no_id);
    const auto resolution =
        resolve({says(provenance::trace, 2, 0.4F), says(provenance::fx, 4, 0.6F)}, strict);
    CHECK(resolution.module == 4);
    CHECK_FALSE(resolution.conflict);
}

TEST_CASE("by_trust: the surest alternative counts if no other source decides") {
    const auto says = [](id module, float confidence) {
        return claim{module, 1, confidence, provenance::parameter, false};
    };
    const auto surest = resolve({says(2, 0.8F), says(3, 0.5F), says(4, 0.5F)});
    CHECK(surest.module == 2);
    CHECK(surest.call == 1);
    CHECK(surest.confidence == 0.8F);
    const auto common = resolve({says(2, 0.8F), says(3, 0.8F), says(4, 0.5F)});
    CHECK(common.module == 1);
    CHECK(common.call == no_id);
}

TEST_CASE("by_trust: the alternative supported by another source counts", "[resolution]") {
    const auto first = says(provenance::scope, 2, 0.9F);
    const auto second = says(provenance::scope, 3, 0.9F);
    CHECK(resolve({first, second}).module == 1);
    CHECK(resolve({first, second, says(provenance::fx, 3, 0.6F)}).module == 3);
}

TEST_CASE("by_trust: a contradicted doubtful claim yields", "[resolution]") {
    auto doubtful = says(provenance::scope, 2, 0.9F);
    doubtful.doubtful = true;
    const auto resolution = resolve({doubtful, says(provenance::fx, 3, 0.9F)});
    CHECK(resolution.module == 1);
    CHECK(resolution.confidence < 0.9F);
    CHECK(resolution.conflict);
}

TEST_CASE("by_weight: a sure claim beats a more trusted one that is not", "[resolution]") {
    const stemma::by_weight policy;
    const auto resolution =
        policy.resolve(some_tree(), std::vector{says(provenance::trace, 2, 0.39F),
                                                says(provenance::leftover, 4, 0.8F)});
    CHECK(resolution.module == 4);
    CHECK(resolution.source == provenance::leftover);
    CHECK(resolution.conflict);
    CHECK(resolution.confidence <= 0.8F);
}

TEST_CASE("by_weight: alternatives that beat a more trusted claim become their common ancestor") {
    const stemma::by_weight policy;
    const std::vector claims{says(provenance::recorded, 1, 0.5F),
                             says(provenance::function, 2, 0.8F),
                             says(provenance::function, 3, 0.8F)};
    REQUIRE(some_tree().lca(2, 3) == 1);
    CHECK(policy.resolve(some_tree(), claims).module == 1);
    auto decided = claims;
    decided.push_back(says(provenance::parameter, 3, 0.6F));
    CHECK(policy.resolve(some_tree(), decided).module == 3);
}

TEMPLATE_TEST_CASE("resolution: claims below the minimum confidence have no say", "[resolution]",
                   stemma::by_trust, stemma::cautious, stemma::by_confidence, stemma::by_weight) {
    const TestType policy{0.5F};
    const std::vector sure{says(provenance::scope, 2, 0.9F), says(provenance::parameter, 3, 0.6F)};
    auto all = sure;
    all.push_back(says(provenance::leftover, 4, 0.2F));
    CHECK(policy.resolve(some_tree(), all) == policy.resolve(some_tree(), sure));
    // An alternative of the leading source that is confirmed, but too doubtful.
    const std::vector alternatives{says(provenance::scope, 2, 0.9F),
                                   says(provenance::scope, 4, 0.2F),
                                   says(provenance::parameter, 4, 0.8F)};
    CHECK(policy.resolve(some_tree(), alternatives) ==
          policy.resolve(some_tree(), std::vector{alternatives.front(), alternatives.back()}));
}

TEST_CASE("by_weight: agreeing sources beat a stronger one they contradict", "[resolution]") {
    const stemma::by_weight policy;
    const std::vector claims{says(provenance::scope, 2, 0.9F), says(provenance::trace, 3, 0.85F),
                             says(provenance::fx, 3, 0.85F)};
    CHECK(policy.resolve(some_tree(), claims).module == 3);
    CHECK(by_trust{}.resolve(some_tree(), claims).module == 2);
}

TEST_CASE("by_weight: a fused operator outweighs the parameters of one", "[resolution]") {
    const stemma::by_weight policy;
    const auto resolution =
        policy.resolve(some_tree(), std::vector{says(provenance::parameter, 2, 0.85F, false),
                                                says(provenance::leftover, 1, 0.88F)});
    CHECK(resolution.module == 1);
}

TEST_CASE("by_weight: a claim that is more likely wrong counts neither for nor against",
          "[resolution]") {
    const stemma::by_weight policy;
    const auto sure = says(provenance::trace, 2, 0.9F);
    const auto other = says(provenance::scope, 4, 0.97F);
    const auto weak = says(provenance::fx, 4, 0.01F);
    CHECK(policy.resolve(some_tree(), std::vector{other, sure, weak}).module == 4);
    CHECK(policy.resolve(some_tree(), std::vector{other, sure}).module == 4);
}

TEST_CASE("by_weight: without a conflict, and on ties, trust decides", "[resolution]") {
    const stemma::by_weight policy;
    for (const auto& claims :
         {std::vector{says(provenance::scope, 2, 0.9F)},
          std::vector{says(provenance::scope, 2, 0.9F), says(provenance::fx, 2, 0.8F)},
          std::vector{says(provenance::scope, 2, 0.9F), says(provenance::fx, 4, 0.9F)}}) {
        CHECK(policy.resolve(some_tree(), claims) == by_trust{}.resolve(some_tree(), claims));
    }
    CHECK(policy.resolve(some_tree(), std::vector<claim>{}).module == no_id);
}

TEST_CASE("cautious: takes the common ancestor if sources disagree", "[resolution]") {
    const std::vector claims{says(provenance::scope, 2, 0.9F), says(provenance::fx, 4, 0.9F)};
    const auto resolution = stemma::cautious{}.resolve(some_tree(), claims);
    CHECK(resolution.module == 0);
    CHECK(resolution.confidence <= 0.5F);
    const std::vector agreed{says(provenance::scope, 2, 0.9F), says(provenance::fx, 2, 0.9F)};
    CHECK(stemma::cautious{}.resolve(some_tree(), agreed).module == 2);
}

TEST_CASE("by_confidence: the surest claim leads, among equals the most trusted source",
          "[resolution]") {
    const auto resolved = [](const std::vector<claim>& claims, float least = 0) {
        return stemma::by_confidence{least}.resolve(some_tree(), claims);
    };
    const auto scope = says(provenance::scope, 2, 0.8F);
    const auto fx = says(provenance::fx, 4, 0.9F);
    for (const auto& claims : {std::vector{scope, fx}, std::vector{fx, scope}}) {
        const auto resolution = resolved(claims);
        CHECK(resolution.module == 4);
        CHECK(resolution.source == provenance::fx);
        CHECK(resolution.conflict);
        CHECK_FALSE(resolved(claims, 0.85F).conflict);
        CHECK(resolved(claims, 0.95F).module == no_id);
    }
    const auto equal = says(provenance::fx, 4, 0.8F);
    for (const auto& claims : {std::vector{scope, equal}, std::vector{equal, scope}}) {
        CHECK(resolved(claims).module == 2);
    }
    CHECK(resolved({scope, says(provenance::scope, 3, 0.8F)}).module == 1);
    CHECK_FALSE(resolved({scope, says(provenance::parameter, 1, 0.5F, false)}).conflict);
    STATIC_REQUIRE(stemma::explain_policy<stemma::resolution_category, stemma::by_confidence>());
}

namespace {

struct without_category {
    [[nodiscard]] attribution resolve(const tree_index&, std::span<const claim>) const {
        return {};
    }
};

struct without_resolve {
    using policy_category = stemma::resolution_category;
};

} // namespace

TEST_CASE("resolution_policy: rejects near misses", "[resolution]") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::resolution_category, by_trust>());
    STATIC_REQUIRE(stemma::resolution_policy<stemma::by_weight>);
    STATIC_REQUIRE(stemma::resolution_policy<stemma::cautious>);
    STATIC_REQUIRE_FALSE(stemma::resolution_policy<without_category>);
    STATIC_REQUIRE_FALSE(stemma::resolution_policy<without_resolve>);
}

} // namespace test::tagging_resolution
