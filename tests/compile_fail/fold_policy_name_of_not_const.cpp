// SPDX-License-Identifier: Apache-2.0
// expect: fold policy: add `stemma::function_name name_of(const Modules&, stemma::id module) const`
#include <stemma/policy/fold.hpp>

#include <stemma/model/module_tree.hpp>

#include <cstddef>
#include <cstdint>

struct mine {
    using policy_category = stemma::fold_category;

    [[nodiscard]] bool folds(const stemma::module_tree&, stemma::id) const;
    [[nodiscard]] std::size_t least_nodes() const;
    [[nodiscard]] bool shares(const stemma::module_tree&, stemma::id, stemma::id) const;
    [[nodiscard]] stemma::function_name name_of(const stemma::module_tree&, stemma::id);
    [[nodiscard]] bool varies_constants() const;
    [[nodiscard]] bool lifts(std::int64_t) const;
};

static_assert(stemma::explain_fold_policy<mine, stemma::module_tree>());
