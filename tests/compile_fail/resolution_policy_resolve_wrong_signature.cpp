// SPDX-License-Identifier: Apache-2.0
// expect: resolution policy: add `stemma::attribution resolve(const stemma::tree_index&,
// std::span<const stemma::claim>) const`
#include <stemma/policy/resolution.hpp>

#include <span>

struct mine {
    using policy_category = stemma::resolution_category;

    [[nodiscard]] stemma::id resolve(const stemma::tree_index&,
                                     std::span<const stemma::claim>) const;
};

static_assert(stemma::explain_resolution_policy<mine>());
