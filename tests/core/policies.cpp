// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/policies.hpp>

#include "../catch.hpp"

#include <stemma/core/category.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/selection.hpp>

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace test::core_policies {

using stemma::policies;

namespace {

struct not_copyable {
    using policy_category = stemma::selection_category;
    std::unique_ptr<int> held;
};

struct without_category {};

template <class Category, class Default, class Set>
using chosen = decltype(std::declval<const Set&>().template get_or<Category, Default>());

} // namespace

TEST_CASE("policies: picks by role, else the default", "[policy][policies]") {
    using set = policies<stemma::all_modules, stemma::consumers_only>;
    STATIC_REQUIRE(std::same_as<chosen<stemma::selection_category, stemma::not_infrastructure, set>,
                                stemma::all_modules>);
    STATIC_REQUIRE(std::same_as<chosen<stemma::propagation_category, stemma::both_sides, set>,
                                stemma::consumers_only>);
    STATIC_REQUIRE(std::same_as<chosen<stemma::naming_category, stemma::class_paths, set>,
                                stemma::class_paths>);
    STATIC_REQUIRE(
        std::same_as<chosen<stemma::selection_category, stemma::not_infrastructure, policies<>>,
                     stemma::not_infrastructure>);
}

TEST_CASE("policies: the order does not matter, and arguments are kept", "[policy][policies]") {
    const stemma::down_to_depth depth{3};
    const policies one{depth, stemma::module_paths{}};
    const policies other{stemma::module_paths{}, depth};
    CHECK(one.get_or<stemma::selection_category, stemma::all_modules>().depth == 3);
    CHECK(other.get_or<stemma::selection_category, stemma::all_modules>().depth == 3);
    const policies words{stemma::of_classes{{"A", "B"}}};
    CHECK(words.get_or<stemma::selection_category, stemma::all_modules>().patterns.size() == 2);
}

TEST_CASE("policies: a set of stateless policies is stateless", "[policy][policies]") {
    STATIC_REQUIRE(std::is_empty_v<policies<>>);
    STATIC_REQUIRE(std::is_empty_v<policies<stemma::all_modules, stemma::class_paths>>);
    STATIC_REQUIRE(sizeof(policies<stemma::class_paths, stemma::down_to_depth>) ==
                   sizeof(stemma::down_to_depth));
}

TEST_CASE("policy: is copyable and names its role", "[policy][policies]") {
    STATIC_REQUIRE(stemma::policy<stemma::all_modules>);
    STATIC_REQUIRE_FALSE(stemma::policy<not_copyable>);
    STATIC_REQUIRE_FALSE(stemma::policy<without_category>);
    STATIC_REQUIRE_FALSE(stemma::detail::policy_for<stemma::all_modules, stemma::naming_category>);
    STATIC_REQUIRE(stemma::detail::policy_for<stemma::all_modules, stemma::selection_category>);
}

} // namespace test::core_policies
