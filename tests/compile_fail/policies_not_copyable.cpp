// SPDX-License-Identifier: Apache-2.0
// expect: policies: make the class of each argument copyable
#include <stemma/policy/policies.hpp>

struct mine {
    using policy_category = stemma::selection_category;

    mine() = default;
    mine(const mine&) = delete;
    mine& operator=(const mine&) = delete;
};

const stemma::policies<mine>* chosen = nullptr;
constexpr auto size = sizeof(*chosen);
