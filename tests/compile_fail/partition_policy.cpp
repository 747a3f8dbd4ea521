// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/partition.hpp>

struct members {
    [[nodiscard]] stemma::partition_plan
    partition(const stemma::partition_problem<stemma::operator_graph>&) const;
};

struct complete : members {
    using policy_category = stemma::partition_category;
};

// role: partition

// expect: partition policy: add `stemma::partition_plan partition(const
// stemma::partition_problem<Graph>&) const`
struct without_members {
    using policy_category = stemma::partition_category;
};
static_assert(stemma::explain_policy<stemma::partition_category, without_members>());

struct partition_not_const : complete {
    stemma::partition_plan partition(const stemma::partition_problem<stemma::operator_graph>&);
};
static_assert(stemma::explain_policy<stemma::partition_category, partition_not_const>());

struct partition_void : complete {
    void partition(const stemma::partition_problem<stemma::operator_graph>&) const;
};
static_assert(stemma::explain_policy<stemma::partition_category, partition_void>());
