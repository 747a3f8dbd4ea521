// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/fold.hpp>

#include <stemma/model/module_tree.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

using modules = stemma::module_tree;

struct members {
    bool folds(const modules&, stemma::id) const;
    std::size_t least_nodes() const;
    bool shares(const modules&, stemma::id, stemma::id) const;
    stemma::function_name name_of(const modules&, stemma::id) const;
    bool varies_constants() const;
    bool lifts(std::int64_t) const;
};

struct complete : members {
    using policy_category = stemma::fold_category;
};

// compiles
static_assert(stemma::explain_fold_policy<complete, modules>());

// expect: fold policy: make the class copyable
struct not_copyable : complete {
    not_copyable(const not_copyable&) = delete;
};
static_assert(stemma::explain_fold_policy<not_copyable, modules>());

// expect: fold policy: add `using policy_category = stemma::fold_category;`
static_assert(stemma::explain_fold_policy<members, modules>());

struct of_another_role : members {
    using policy_category = stemma::selection_category;
};
static_assert(stemma::explain_fold_policy<of_another_role, modules>());

// expect: fold policy: add `bool folds(const Modules&, stemma::id module) const`

// expect: fold policy: add `std::size_t least_nodes() const`

// expect: fold policy: add `bool shares(const Modules&, stemma::id, stemma::id) const`

// expect: fold policy: add `stemma::function_name name_of(const Modules&, stemma::id module) const`

// expect: fold policy: add `bool varies_constants() const`

// expect: fold policy: add `bool lifts(std::int64_t ir_version) const`
struct without_members {
    using policy_category = stemma::fold_category;
};
static_assert(stemma::explain_fold_policy<without_members, modules>());

// expect: fold policy: add `bool folds(const Modules&, stemma::id module) const`
struct folds_not_const : complete {
    bool folds(const modules&, stemma::id);
};
static_assert(stemma::explain_fold_policy<folds_not_const, modules>());

struct folds_void : complete {
    void folds(const modules&, stemma::id) const;
};
static_assert(stemma::explain_fold_policy<folds_void, modules>());

// expect: fold policy: add `std::size_t least_nodes() const`
struct least_nodes_not_const : complete {
    std::size_t least_nodes();
};
static_assert(stemma::explain_fold_policy<least_nodes_not_const, modules>());

struct least_nodes_text : complete {
    std::string least_nodes() const;
};
static_assert(stemma::explain_fold_policy<least_nodes_text, modules>());

// expect: fold policy: add `bool shares(const Modules&, stemma::id, stemma::id) const`
struct shares_not_const : complete {
    bool shares(const modules&, stemma::id, stemma::id);
};
static_assert(stemma::explain_fold_policy<shares_not_const, modules>());

struct shares_one : complete {
    bool shares(const modules&, stemma::id) const;
};
static_assert(stemma::explain_fold_policy<shares_one, modules>());

// expect: fold policy: add `stemma::function_name name_of(const Modules&, stemma::id module) const`
struct name_of_not_const : complete {
    stemma::function_name name_of(const modules&, stemma::id);
};
static_assert(stemma::explain_fold_policy<name_of_not_const, modules>());

struct name_of_text : complete {
    std::string name_of(const modules&, stemma::id) const;
};
static_assert(stemma::explain_fold_policy<name_of_text, modules>());

// expect: fold policy: add `bool varies_constants() const`
struct varies_constants_not_const : complete {
    bool varies_constants();
};
static_assert(stemma::explain_fold_policy<varies_constants_not_const, modules>());

struct varies_constants_void : complete {
    void varies_constants() const;
};
static_assert(stemma::explain_fold_policy<varies_constants_void, modules>());

// expect: fold policy: add `bool lifts(std::int64_t ir_version) const`
struct lifts_not_const : complete {
    bool lifts(std::int64_t);
};
static_assert(stemma::explain_fold_policy<lifts_not_const, modules>());

struct lifts_always : complete {
    bool lifts() const;
};
static_assert(stemma::explain_fold_policy<lifts_always, modules>());
