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

// role: selection, modules

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
