// SPDX-License-Identifier: Apache-2.0
// expect: attribution_options: a policy is a class with `using policy_category =
// stemma::<role>_category;`
#include <stemma/open/attribution_options.hpp>

struct all {
    bool selects(const stemma::module_tree&, stemma::id) const;
};

const auto chosen = stemma::attribution_options().set(all{});
