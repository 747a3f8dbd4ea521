// SPDX-License-Identifier: Apache-2.0
// A custom policy against the default, on a million operators: a standalone project in ten lines.
#include <stemma_bench/compare_policy.hpp>

struct few_blocks {
    using policy_category = stemma::selection_category;

    template <stemma::module_view Modules>
    bool selects(const Modules& modules, stemma::id m) const {
        return modules.class_name(m) == "Block";
    }
};

int main(int argc, char** argv) {
    return stemma_bench::compare_policy(argc, argv, few_blocks{});
}
