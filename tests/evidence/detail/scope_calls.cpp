// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scope_calls.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_scope_calls {

using stemma::id;
using stemma::no_id;
using stemma::detail::scope_modules;
using stemma::detail::scope_style_count;

TEST_CASE("number_scopes: in the order of operators, Constants last") {
    test::operator_scene ops;
    const auto constant = ops.add({}, "/fc_1/Constant", "Constant");
    const auto first = ops.add({}, "/fc/MatMul", "MatMul");
    const auto second = ops.add({first}, "/fc_2/MatMul", "MatMul");
    const auto apart = ops.add({first}, "/fc_2/Add", "Add");
    const auto table = stemma::detail::collect_scopes(ops);
    scope_modules scopes;
    scopes.of_scope.resize(table.scopes.size());
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        scopes.of_scope[s].module = 1;
    }
    scopes.of_operator[static_cast<id>(apart)].module = 2;
    stemma::detail::number_scopes(ops, table, scopes, 3);
    const auto call_of = [&](auto v) {
        return scopes.of(static_cast<id>(v), table.scope_of[v]).call;
    };
    CHECK(call_of(first) == 0);
    CHECK(call_of(second) == 1);
    CHECK(call_of(constant) == 2);
    CHECK(call_of(apart) == 0);
    CHECK(scopes.of_scope[0].call == no_id);
}

TEST_CASE("note_calls: a module ran as often as it has scopes, and not if a scope leads past it") {
    test::operator_scene ops;
    ops.add({}, "/fc/MatMul", "MatMul");
    ops.add({}, "/fc_1/MatMul", "MatMul");
    const auto table = stemma::detail::collect_scopes(ops);
    stemma::module_tree_builder builder;
    const auto fc = builder.at_path("list.fc");
    const auto other = builder.at_path("other");
    scope_modules scopes;
    scopes.of_scope.assign(table.scopes.size(), {0, no_id, no_id, 1});
    scopes.of_scope[table.scope_of[0]] = {fc, 0, no_id, 1};
    scopes.of_scope[table.scope_of[1]] = {fc, 1, no_id, 1};
    stemma::detail::note_calls(table, scopes, builder);
    CHECK(builder.calls(fc) == 2);
    CHECK(builder.calls(builder.parent(fc)) == 0);
    CHECK(builder.calls(other) == no_id);
}

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

} // namespace test::evidence_detail_scope_calls
