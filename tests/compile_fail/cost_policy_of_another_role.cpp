// SPDX-License-Identifier: Apache-2.0
// expect: cost policy: add `using policy_category = stemma::cost_category;`
#include <stemma/policy/cost.hpp>

#include <cstdint>

struct mine {
    using policy_category = stemma::cut_category;

    [[nodiscard]] std::uint64_t cost(const stemma::operator_load&) const;
};

static_assert(stemma::explain_cost_policy<mine>());
