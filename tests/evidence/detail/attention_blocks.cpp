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

} // namespace test::evidence_detail_attention_blocks
