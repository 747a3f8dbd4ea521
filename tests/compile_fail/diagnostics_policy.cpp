// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/diagnostics.hpp>

#include <optional>

struct members {
    std::optional<stemma::severity> judge(const stemma::finding&) const;
};

struct complete : members {
    using policy_category = stemma::diagnostics_category;
};

// role: diagnostics

// expect: diagnostics policy: add `std::optional<stemma::severity> judge(const stemma::finding&)
// const`
struct without_members {
    using policy_category = stemma::diagnostics_category;
};
static_assert(stemma::explain_policy<stemma::diagnostics_category, without_members>());

// expect: diagnostics policy: add `std::optional<stemma::severity> judge(const stemma::finding&)
// const`
struct judge_not_const : complete {
    std::optional<stemma::severity> judge(const stemma::finding&);
};
static_assert(stemma::explain_policy<stemma::diagnostics_category, judge_not_const>());

struct judge_void : complete {
    void judge(const stemma::finding&) const;
};
static_assert(stemma::explain_policy<stemma::diagnostics_category, judge_void>());
