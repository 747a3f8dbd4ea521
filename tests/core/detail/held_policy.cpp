// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/held_policy.hpp>

#include "../../catch.hpp"

namespace test::core_detail_held_policy {

TEST_CASE("held_name: nothing is chosen until a policy is held, named or not") {
    const stemma::detail::held_name none;
    CHECK(!none.is_chosen());
    stemma::detail::held_name unnamed("");
    CHECK(unnamed.is_chosen());
    CHECK(unnamed.name().empty());
    unnamed.set_name("depth:2");
    CHECK(unnamed.name() == "depth:2");
}

TEST_CASE("held_function: accepts callables that answer the role's question, except policies and "
          "the holder") {
    struct any {};
    struct policy_that_answers {
        using policy_category = stemma::cost_category;
        int operator()(int) const { return 0; }
    };
    const auto answers = [](int) { return 1; };
    STATIC_REQUIRE(stemma::detail::held_function<decltype(answers), any, int, int>);
    STATIC_REQUIRE(!stemma::detail::held_function<any, any, int, int>);
    STATIC_REQUIRE(!stemma::detail::held_function<policy_that_answers, any, int, int>);
    STATIC_REQUIRE(!stemma::detail::held_function<int, any, int, int>);
}

} // namespace test::core_detail_held_policy
