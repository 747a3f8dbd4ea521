// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/resolution.hpp>

#include <span>

struct members {
    stemma::attribution resolve(const stemma::tree_index&, std::span<const stemma::claim>) const;
};

struct complete : members {
    using policy_category = stemma::resolution_category;
};

// compiles
static_assert(stemma::explain_policy<stemma::resolution_category, complete>());

// expect: resolution policy: make the class copyable
struct not_copyable : complete {
    not_copyable(const not_copyable&) = delete;
};
static_assert(stemma::explain_policy<stemma::resolution_category, not_copyable>());

// expect: resolution policy: add `using policy_category = stemma::resolution_category;`
static_assert(stemma::explain_policy<stemma::resolution_category, members>());

struct of_another_role : members {
    using policy_category = stemma::cut_category;
};
static_assert(stemma::explain_policy<stemma::resolution_category, of_another_role>());

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
