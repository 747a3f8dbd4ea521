// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/naming.hpp>

#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>

#include <string>

using modules = stemma::module_tree;

struct members {
    void name_modules(const modules&, stemma::tag_table&) const;
};

struct complete : members {
    using policy_category = stemma::naming_category;
};

// role: naming, modules

// expect: naming policy: add `void name_modules(const Modules&, stemma::tag_table&) const`
struct without_members {
    using policy_category = stemma::naming_category;
};
static_assert(stemma::explain_policy<stemma::naming_category, without_members, modules>());

// expect: naming policy: add `void name_modules(const Modules&, stemma::tag_table&) const`
struct name_modules_not_const : complete {
    void name_modules(const modules&, stemma::tag_table&);
};
static_assert(stemma::explain_policy<stemma::naming_category, name_modules_not_const, modules>());

struct name_modules_in_text : complete {
    void name_modules(const modules&, std::string&) const;
};
static_assert(stemma::explain_policy<stemma::naming_category, name_modules_in_text, modules>());
