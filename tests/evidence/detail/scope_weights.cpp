// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scope_weights.hpp>

#include "../../catch.hpp"
#include "../../weighted_operators.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <vector>

namespace test::evidence_detail_scope_weights {

using stemma::id;

TEST_CASE("scope_weights: what repeated scopes read and share, with the scopes in them") {
    test::weighted_operators ops;
    const auto first = ops.add({}, "/a/fc/MatMul", "MatMul");
    const auto sum = ops.add({first}, "/a/Add", "Add");
    const auto second = ops.add({sum}, "/a_1/MatMul", "MatMul");
    ops.add({second}, "/a_2/Add", "Add");
    const auto other = ops.add({second}, "/d/MatMul", "MatMul");
    ops.read_parameter(first, "fc.weight");
    ops.read_parameter(sum, "shape");
    ops.read_parameter(second, "fc.weight");
    ops.read_parameter(other, "fc.weight");
    const auto table = stemma::detail::collect_scopes(ops);
    const auto a = table.scope_of[sum];
    const auto fc = table.scope_of[first];
    const auto b = table.scope_of[second];
    const auto c = table.scope_of[3];
    const stemma::detail::scope_weights weights(ops, table);
    CHECK(stemma::detail::range::equal(weights.own(a), std::vector<id>{1}));
    CHECK(weights.own(c).empty());
    CHECK(weights.own(table.scope_of[other]).empty());
    CHECK(weights.any_in(fc));
    CHECK_FALSE(weights.any_in(a));
    CHECK(weights.below(a).size() == 1);
    CHECK(weights.below(c).empty());
    CHECK(weights.share(a, b));
    CHECK(weights.share(fc, b));
    CHECK_FALSE(weights.share(c, b));
    CHECK_FALSE(weights.share(b, c));
}

TEST_CASE("scope_weights: a weight that a quantizer converted for one call is the same weight") {
    test::weighted_operators ops;
    const auto first = ops.add({}, "/a/fc/MatMul_Q4", "MatMulNBits");
    const auto second = ops.add({first}, "/a_1/fc/MatMul", "MatMul");
    const auto third = ops.add({second}, "/a_2/fc/MatMul_quant", "MatMulInteger");
    ops.read_parameter(first, "onnx::MatMul_7_Q4");
    ops.read_parameter(second, "onnx::MatMul_7");
    ops.read_parameter(third, "onnx::MatMul_8_quantized");
    const auto table = stemma::detail::collect_scopes(ops);
    const stemma::detail::scope_weights weights(ops, table);
    CHECK(weights.share(table.scope_of[first], table.scope_of[second]));
    CHECK_FALSE(weights.share(table.scope_of[first], table.scope_of[third]));
}

} // namespace test::evidence_detail_scope_weights
