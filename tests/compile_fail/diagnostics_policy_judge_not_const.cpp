// SPDX-License-Identifier: Apache-2.0
// expect: diagnostics policy: add `std::optional<stemma::severity> judge(const stemma::finding&)
// const`
#include <stemma/policy/diagnostics.hpp>

#include <optional>

struct mine {
    using policy_category = stemma::diagnostics_category;

    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding&);
};

static_assert(stemma::explain_diagnostics_policy<mine>());
