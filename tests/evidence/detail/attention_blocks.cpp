// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/attention_blocks.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::evidence_detail_attention_blocks {

using stemma::id;
using stemma::no_id;

TEST_CASE("attention_blocks: what leads from nameless products to the last projection only") {
    test::operator_scene ops;
    const auto x = ops.add({}, "", "Relu");
    const auto added = ops.add({x}, "", "Add");
    const auto layout = ops.add({added}, "", "Transpose");
    const auto query = ops.add({layout}, "", "MatMul");
    const auto shared = ops.add({x}, "", "Transpose");
    const auto value = ops.add({shared}, "", "MatMul");
    const auto weights = ops.add({query}, "", "Softmax");
    const auto sum = ops.add({weights, value}, "", "MatMul");
    const auto out = ops.add({sum}, "", "Gemm");
    ops.add({shared}, "", "Relu");
    std::vector<bool> lost(ops.size(), false);
    const auto complete = [&] {
        std::vector<id> owner(ops.size(), no_id);
        owner[out] = 1;
        stemma::detail::attention_blocks<test::operator_scene>(
            ops, std::vector<bool>(ops.size(), true), std::vector<bool>(ops.size(), false), lost)
            .complete({false, true}, owner);
        return owner;
    };
    // Without nameless weights others tell better.
    std::vector<id> expected(ops.size(), no_id);
    expected[out] = 1;
    CHECK(complete() == expected);
    lost[query] = lost[value] = true;
    for (auto v : {layout, query, value, weights, sum}) {
        expected[v] = 1;
    }
    CHECK(complete() == expected);
}

TEST_CASE("attention_blocks: an attention of which only the projection has names") {
    test::operator_scene ops;
    const auto x = ops.add({}, "", "Relu");
    const auto bias = ops.add({}, "", "Gather");
    const auto query = ops.add({x}, "", "MatMul");
    const auto value = ops.add({x}, "", "MatMul");
    const auto weights = ops.add({query, bias}, "", "Softmax");
    const auto sum = ops.add({weights, value}, "", "MatMul");
    const auto product = ops.add({sum}, "", "MatMul"); // has a name by its bias
    const auto out = ops.add({product}, "", "Add");
    std::vector<bool> lost(ops.size(), false);
    lost[query] = lost[value] = lost[product] = true;
    constexpr id projection = 2;
    constexpr id attention = 1;
    id other = no_id; // computes the bias
    const auto complete = [&](id around) {
        std::vector<id> owner(ops.size(), no_id);
        owner[bias] = other;
        owner[product] = owner[out] = projection;
        stemma::detail::attention_blocks<test::operator_scene>(
            ops, std::vector<bool>(ops.size(), true), std::vector<bool>(ops.size(), false), lost)
            .complete_around({no_id, no_id, around, no_id}, owner);
        return owner;
    };
    std::vector<id> expected(ops.size(), no_id);
    expected[product] = expected[out] = projection;
    CHECK(complete(no_id) == expected);
    for (auto v : {bias, query, value, weights, sum}) {
        expected[v] = attention;
    }
    CHECK(complete(attention) == expected);
    other = 3;
    for (auto v : {query, value, weights, sum}) {
        expected[v] = no_id;
    }
    expected[bias] = other;
    CHECK(complete(attention) == expected);
    other = no_id;
    ops.at(weights).op_type = "Relu"; // no attention
    expected[bias] = no_id;
    CHECK(complete(attention) == expected);
}

} // namespace test::evidence_detail_attention_blocks
