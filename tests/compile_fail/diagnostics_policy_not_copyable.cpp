// SPDX-License-Identifier: Apache-2.0
// expect: diagnostics policy: make the class copyable
#include <stemma/policy/diagnostics.hpp>

#include <optional>

struct mine {
    using policy_category = stemma::diagnostics_category;

    mine() = default;
    mine(const mine&) = delete;
    mine& operator=(const mine&) = delete;

    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding&) const;
};

static_assert(stemma::explain_diagnostics_policy<mine>());
