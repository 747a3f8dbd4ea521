// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/visibility.hpp>

#include "../catch.hpp"
#include "../query_scene.hpp"

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace test::report_visibility {

namespace {

struct no_category {
    [[nodiscard]] bool shows(const test::query_scene&, stemma::id) const { return true; }
};

struct no_answer {
    using policy_category = stemma::visibility_category;
};

} // namespace

TEST_CASE("visibility_policy: accepts the built-in policies and rejects near misses",
          "[visibility]") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::visibility_category, stemma::hide_constants,
                                          test::query_scene>());
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::visibility_category, stemma::show_all, test::query_scene>());
    STATIC_REQUIRE(!stemma::visibility_policy<no_category, test::query_scene>);
    STATIC_REQUIRE(!stemma::visibility_policy<no_answer, test::query_scene>);
    STATIC_REQUIRE(std::is_empty_v<stemma::hide_constants>);
    STATIC_REQUIRE(std::is_empty_v<stemma::show_all>);
}

TEST_CASE("hide_constants: hides constants and nothing else", "[visibility]") {
    test::query_scene scene;
    scene.nodes[3].op_type = "Constant";
    scene.nodes[4].op_type = "ConstantOfShape";
    for (stemma::id v = 0; v < scene.nodes.size(); ++v) {
        CHECK(stemma::hide_constants{}.shows(scene, v) == (v != 3));
        CHECK(stemma::show_all{}.shows(scene, v));
    }
}

TEST_CASE("hide_constants: an operator of another domain is not a constant", "[visibility]") {
    test::query_scene scene;
    scene.nodes[3].op_type = "Constant";
    CHECK_FALSE(stemma::hide_constants{}.shows(scene, 3));
    scene.nodes[3].domain = "module";
    CHECK(stemma::hide_constants{}.shows(scene, 3));
}

TEST_CASE("hide_types: hides types that match a pattern", "[visibility]") {
    test::query_scene scene;
    scene.nodes[3].op_type = "Constant";
    scene.nodes[4].op_type = "ConstantOfShape";
    const auto hidden = [&](const stemma::hide_types& policy) {
        std::size_t count = 0;
        for (stemma::id v = 0; v < scene.nodes.size(); ++v) {
            count += policy.shows(scene, v) ? 0U : 1U;
        }
        return count;
    };
    CHECK(hidden({}) == 0);
    CHECK(hidden({{"Constant"}}) == 1);
    CHECK(hidden({{"Constant*"}}) == 2);
    CHECK(hidden({{"*"}}) == scene.nodes.size());
    STATIC_REQUIRE(stemma::explain_policy<stemma::visibility_category, stemma::hide_types,
                                          test::query_scene>());
}

} // namespace test::report_visibility
