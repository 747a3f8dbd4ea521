// SPDX-License-Identifier: Apache-2.0
// compiles
#include <stemma/policy/selection.hpp>

#include <stemma/model/module_tree.hpp>

struct mine {
    using policy_category = stemma::selection_category;

    [[nodiscard]] bool selects(const stemma::module_tree&, stemma::id) const;
};

static_assert(stemma::explain_selection_policy<mine, stemma::module_tree>());
