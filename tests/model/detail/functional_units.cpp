// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/functional_units.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/detail/wired_operators.hpp>

#include <vector>

namespace test::model_detail_functional_units {

using stemma::id;
using ids = std::vector<id>;

namespace {

/// The steps after an operator, knowing only that these belong to none.
ids behind(const test::operator_scene& ops, id v, const ids& units) {
    std::vector<bool> free(ops.size(), true);
    for (auto w : units) {
        free[w] = false;
    }
    const stemma::detail::wired_operators wires(ops);
    return stemma::detail::functional_units(wires, free).behind(v);
}

} // namespace

TEST_CASE("functional_units: a step computes one value from one, including scaling") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "MatMul");
    const auto divided = ops.add({x}, "", "Div");
    const auto erf = ops.add({divided}, "", "Erf");
    const auto gate = ops.add({erf}, "", "Add");
    const auto gated = ops.add({x, gate}, "", "Mul");
    const auto half = ops.add({gated}, "", "Mul");
    const auto pooled = ops.add({half}, "", "MaxPool");
    const auto y = ops.add({pooled}, "y", "MatMul");
    CHECK(behind(ops, x, {x, y}) == ids{divided, erf, gate, gated, half});
    CHECK(behind(ops, half, {x, y}) == ids{pooled});
    CHECK(behind(ops, pooled, {x, y}).empty());
}

TEST_CASE("functional_units: one operator ends the model if nothing else happens there") {
    const auto last_behind = [](const test::operator_scene& ops, id v) {
        const std::vector<bool> free(ops.size(), true);
        const stemma::detail::wired_operators wires(ops);
        return stemma::detail::functional_units(wires, free).last_behind(v);
    };
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "MatMul");
    const auto y = ops.add({x}, "y", "Sigmoid");
    CHECK(last_behind(ops, x) == y);
    CHECK(last_behind(ops, y) == stemma::no_id);
    const auto z = ops.add({y}, "z", "Neg");
    CHECK(last_behind(ops, x) == stemma::no_id);
    CHECK(last_behind(ops, y) == z);
    ops.add({y}, "other", "Neg");
    CHECK(last_behind(ops, y) == stemma::no_id);
    test::operator_scene joined;
    const auto a = joined.add({}, "a", "MatMul");
    const auto b = joined.add({}, "b", "MatMul");
    joined.add({a, b}, "sum", "Add");
    CHECK(last_behind(joined, a) == stemma::no_id);
}

TEST_CASE(
    "functional_units: operators with other inputs, or only some of the readers, are no step") {
    test::operator_scene ops;
    const auto x = ops.add({}, "x", "MatMul");
    const auto other = ops.add({}, "other", "MatMul");
    const auto sum = ops.add({x, other}, "", "Add");
    const auto relu = ops.add({sum}, "", "Relu");
    const auto y = ops.add({relu}, "y", "MatMul");
    const auto z = ops.add({sum}, "z", "MatMul");
    CHECK(behind(ops, x, {x, other, y, z}).empty());
    CHECK(behind(ops, sum, {x, other, y, z}).empty());
}

} // namespace test::model_detail_functional_units
