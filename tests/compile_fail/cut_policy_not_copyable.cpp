// SPDX-License-Identifier: Apache-2.0
// expect: cut policy: make the class copyable
#include <stemma/policy/cut.hpp>

#include <string>
#include <string_view>

struct mine {
    using policy_category = stemma::cut_category;

    mine() = default;
    mine(const mine&) = delete;
    mine& operator=(const mine&) = delete;

    [[nodiscard]] bool pulls(stemma::dependence) const;
    [[nodiscard]] stemma::gap_rule gaps() const;
    [[nodiscard]] std::string boundary_name(std::string_view) const;
    [[nodiscard]] bool keeps_unused_initializers() const;
};

static_assert(stemma::explain_cut_policy<mine>());
