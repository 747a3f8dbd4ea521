// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/resolution.hpp>

#include <span>

struct members {
    stemma::attribution resolve(const stemma::tree_index&, std::span<const stemma::claim>) const;
};

struct complete : members {
    using policy_category = stemma::resolution_category;
};

// role: resolution

// expect: resolution policy: add `stemma::attribution resolve(const stemma::tree_index&,
// std::span<const stemma::claim>) const`
struct without_members {
    using policy_category = stemma::resolution_category;
};
static_assert(stemma::explain_policy<stemma::resolution_category, without_members>());

// expect: resolution policy: add `stemma::attribution resolve(const stemma::tree_index&,
// std::span<const stemma::claim>) const`
struct resolve_not_const : complete {
    stemma::attribution resolve(const stemma::tree_index&, std::span<const stemma::claim>);
};
static_assert(stemma::explain_policy<stemma::resolution_category, resolve_not_const>());

struct resolve_to_module : complete {
    stemma::id resolve(const stemma::tree_index&, std::span<const stemma::claim>) const;
};
static_assert(stemma::explain_policy<stemma::resolution_category, resolve_to_module>());
