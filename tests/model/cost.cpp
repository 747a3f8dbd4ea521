// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/cost.hpp>

#include "../catch.hpp"

#include <stemma/core/category.hpp>

#include <cstdint>
#include <type_traits>

namespace test::model_cost {

using stemma::operator_load;

namespace {

constexpr operator_load load{3, 500, 2000, 70};

/// A weight counts as a thousandth of an operator.
struct mixed {
    using policy_category = stemma::cost_category;

    std::uint64_t weight = 1000;

    [[nodiscard]] std::uint64_t cost(const operator_load& one) const {
        return one.operators * weight + one.parameters;
    }
};

struct without_category {
    [[nodiscard]] std::uint64_t cost(const operator_load&) const;
};

struct not_const {
    using policy_category = stemma::cost_category;
    std::uint64_t cost(const operator_load&);
};

struct without_result {
    using policy_category = stemma::cost_category;
    void cost(const operator_load&) const;
};

} // namespace

TEST_CASE("cost_policy: accepts models and rejects near misses", "[policy][cost]") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, stemma::cost_in_bytes>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, stemma::cost_in_parameters>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, stemma::cost_in_operators>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, stemma::cost_in_macs>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, stemma::cost_in_flops>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, stemma::cost_in_activations>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cost_category, mixed>());
    STATIC_REQUIRE_FALSE(stemma::cost_policy<without_category>);
    STATIC_REQUIRE_FALSE(stemma::cost_policy<not_const>);
    STATIC_REQUIRE_FALSE(stemma::cost_policy<without_result>);
    STATIC_REQUIRE(std::is_empty_v<stemma::cost_in_bytes>);
}

TEST_CASE("cost policies: each counts one thing", "[policy][cost]") {
    STATIC_REQUIRE(stemma::cost_in_bytes{}.cost(load) == 2070);
    STATIC_REQUIRE(stemma::cost_in_parameters{}.cost(load) == 500);
    STATIC_REQUIRE(stemma::cost_in_operators{}.cost(load) == 3);
    CHECK(mixed{}.cost(load) == 3500);
}

} // namespace test::model_cost
