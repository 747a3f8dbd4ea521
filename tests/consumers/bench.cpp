// SPDX-License-Identifier: Apache-2.0
// Uses stemma::bench like a user's program: operators to measure on.
#include <stemma_bench/compare_policy.hpp>

#include <iostream>

int main() {
    const stemma_bench::many_operators ops(100);
    const auto tagged = stemma::tag_operators(ops, ops.modules());
    std::cout << tagged.attributions.size() << " operators\n";
    return tagged.attributions.size() == num_vertices(ops.graph()) ? 0 : 1;
}
