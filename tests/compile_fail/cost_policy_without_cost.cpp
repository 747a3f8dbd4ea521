// SPDX-License-Identifier: Apache-2.0
// expect: cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`
#include <stemma/policy/cost.hpp>

#include <cstdint>

struct mine {
    using policy_category = stemma::cost_category;
};

static_assert(stemma::explain_cost_policy<mine>());
