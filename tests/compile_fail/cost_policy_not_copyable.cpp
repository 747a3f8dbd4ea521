// SPDX-License-Identifier: Apache-2.0
// expect: cost policy: make the class copyable
#include <stemma/policy/cost.hpp>

#include <cstdint>

struct mine {
    using policy_category = stemma::cost_category;

    mine() = default;
    mine(const mine&) = delete;
    mine& operator=(const mine&) = delete;

    [[nodiscard]] std::uint64_t cost(const stemma::operator_load&) const;
};

static_assert(stemma::explain_cost_policy<mine>());
