// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/reordered_names.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_reordered_names {

namespace {

bool are_reordered(const std::vector<std::pair<std::string, std::string>>& operators,
                   bool one = false) {
    test::operator_scene ops;
    for (const auto& [name, type] : operators) {
        ops.add({}, name, type);
    }
    return stemma::detail::are_reordered(ops, stemma::detail::collect_scopes(ops),
                                         [&](stemma::id, stemma::id) { return one; });
}

} // namespace

TEST_CASE("are_reordered: detects decreasing counts within a scope and type") {
    CHECK(are_reordered({{"/a/Mul_1", "Mul"}, {"/a/Mul", "Mul"}}));
    CHECK(are_reordered({{"/a/Mul_10", "Mul"}, {"/b/Mul", "Mul"}, {"/a/Mul_9", "Mul"}}));
}

TEST_CASE("are_reordered: detects a later call of a list member before an earlier one") {
    CHECK(are_reordered({{"/a/b.0_1/Relu", "Relu"}, {"/a/b.0/Relu", "Relu"}}));
    CHECK_FALSE(are_reordered({{"/a/b.0/Relu", "Relu"}, {"/a/b.0_1/Relu", "Relu"}}));
    CHECK_FALSE(are_reordered({{"/a/b_1/Relu", "Relu"}, {"/a/b/Relu", "Relu"}}));
    CHECK(are_reordered({{"/a/b_1/Relu", "Relu"}, {"/a/b/Relu", "Relu"}}, true));
}

TEST_CASE("are_reordered: ignores increasing counts, and other scopes and types") {
    CHECK_FALSE(are_reordered({{"/a/Mul", "Mul"}, {"/a/Mul_1", "Mul"}, {"/a/Mul_10", "Mul"}}));
    CHECK_FALSE(are_reordered({{"/a/Mul_3", "Mul"}, {"/b/Mul", "Mul"}, {"/a/Add", "Add"}}));
    CHECK_FALSE(are_reordered({{"Mul_3", "Mul"}, {"Mul_1", "Mul"}}));
}

} // namespace test::evidence_detail_reordered_names
