// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/attribution_options.hpp>

struct all {
    bool selects(const stemma::module_tree&, stemma::id) const;
};

// expect: attribution_options: two arguments have the same policy_category
const auto of_one_role =
    stemma::attribution_options().set(stemma::all_modules{}, stemma::down_to_depth{2});

// expect: attribution_options: tagging uses no policy with this policy_category
const auto with_a_cost = stemma::attribution_options().set(stemma::cost_in_bytes{});

// expect: attribution_options: a policy is a class with `using policy_category =
// stemma::<role>_category;`
const auto without_a_category = stemma::attribution_options().set(all{});
