// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/cost.hpp>

#include <cstdint>

struct members {
    std::uint64_t cost(const stemma::operator_load&) const;
};

struct complete : members {
    using policy_category = stemma::cost_category;
};

// role: cost

// expect: cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`
struct without_members {
    using policy_category = stemma::cost_category;
};
static_assert(stemma::explain_policy<stemma::cost_category, without_members>());

// expect: cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`
struct cost_not_const : complete {
    std::uint64_t cost(const stemma::operator_load&);
};
static_assert(stemma::explain_policy<stemma::cost_category, cost_not_const>());

struct cost_of_nothing : complete {
    void cost(const stemma::operator_load&) const;
};
static_assert(stemma::explain_policy<stemma::cost_category, cost_of_nothing>());
