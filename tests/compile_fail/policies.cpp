// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/policies.hpp>

#include <stemma/tagging/selection.hpp>

// compiles
const stemma::policies chosen{stemma::all_modules{}};

// expect: policies: two arguments have the same policy_category
const stemma::policies one_twice{stemma::all_modules{}, stemma::all_modules{}};

// expect: policies: two arguments have the same policy_category
const stemma::policies two_of_one_role{stemma::all_modules{}, stemma::down_to_depth{2}};

// expect: policies: add `using policy_category` to the class of each argument
struct without_category {};
const stemma::policies none{without_category{}};

// expect: policies: make the class of each argument copyable
struct not_copyable {
    using policy_category = stemma::selection_category;

    not_copyable() = default;
    not_copyable(const not_copyable&) = delete;
};
constexpr auto size = sizeof(stemma::policies<not_copyable>);
