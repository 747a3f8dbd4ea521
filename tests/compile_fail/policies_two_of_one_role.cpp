// SPDX-License-Identifier: Apache-2.0
// expect: policies: two arguments have the same policy_category
#include <stemma/policy/policies.hpp>

#include <stemma/policy/selection.hpp>

const stemma::policies chosen{stemma::all_modules{}, stemma::down_to_depth{2}};
