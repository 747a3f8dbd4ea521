// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/selection.hpp>

#include <stemma/model/module_tree.hpp>

using modules = stemma::module_tree;

struct members {
    bool selects(const modules&, stemma::id) const;
};

struct complete : members {
    using policy_category = stemma::selection_category;
};

// compiles
static_assert(stemma::explain_policy<stemma::selection_category, complete, modules>());

// expect: selection policy: make the class copyable
struct not_copyable : complete {
    not_copyable(const not_copyable&) = delete;
};
static_assert(stemma::explain_policy<stemma::selection_category, not_copyable, modules>());

// expect: selection policy: add `using policy_category = stemma::selection_category;`
static_assert(stemma::explain_policy<stemma::selection_category, members, modules>());

struct of_another_role : members {
    using policy_category = stemma::cut_category;
};
static_assert(stemma::explain_policy<stemma::selection_category, of_another_role, modules>());

// expect: selection policy: add `bool selects(const Modules&, stemma::id module) const`
struct without_members {
    using policy_category = stemma::selection_category;
};
static_assert(stemma::explain_policy<stemma::selection_category, without_members, modules>());

// expect: selection policy: add `bool selects(const Modules&, stemma::id module) const`
struct selects_not_const : complete {
    bool selects(const modules&, stemma::id);
};
static_assert(stemma::explain_policy<stemma::selection_category, selects_not_const, modules>());

struct selects_void : complete {
    void selects(const modules&, stemma::id) const;
};
static_assert(stemma::explain_policy<stemma::selection_category, selects_void, modules>());
