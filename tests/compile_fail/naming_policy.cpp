// SPDX-License-Identifier: Apache-2.0
// compiles
#include <stemma/policy/naming.hpp>

#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>

struct mine {
    using policy_category = stemma::naming_category;

    void name_modules(const stemma::module_tree&, stemma::tag_table&) const;
};

static_assert(stemma::explain_naming_policy<mine, stemma::module_tree>());
