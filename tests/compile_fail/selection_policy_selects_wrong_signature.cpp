// SPDX-License-Identifier: Apache-2.0
// expect: selection policy: add `bool selects(const Modules&, stemma::id module) const`
#include <stemma/policy/selection.hpp>

#include <stemma/model/module_tree.hpp>

struct mine {
    using policy_category = stemma::selection_category;

    void selects(const stemma::module_tree&, stemma::id) const;
};

static_assert(stemma::explain_selection_policy<mine, stemma::module_tree>());
