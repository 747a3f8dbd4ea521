// SPDX-License-Identifier: Apache-2.0
// expect: partition policy: add `using policy_category = stemma::partition_category;`
#include <stemma/cut/partition.hpp>

struct mine {
    [[nodiscard]] stemma::partition_plan
    partition(const stemma::partition_problem<stemma::operator_graph>&) const;
};

static_assert(stemma::explain_partition_policy<mine>());
