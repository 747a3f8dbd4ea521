// SPDX-License-Identifier: Apache-2.0
// compiles
#include <stemma/policy/diagnostics.hpp>

#include <optional>

struct mine {
    using policy_category = stemma::diagnostics_category;

    [[nodiscard]] std::optional<stemma::severity> judge(const stemma::finding&) const;
};

static_assert(stemma::explain_diagnostics_policy<mine>());
