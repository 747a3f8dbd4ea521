// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/attention_blocks.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::evidence_detail_attention_blocks {

using stemma::id;
using stemma::no_id;

TEST_CASE("attention_blocks: what leads from nameless products to the last projection only") {
    test::region_scene scene;
    const auto x = scene.add({}, "", "Relu");
    const auto added = scene.add({x});
    const auto layout = scene.add({added}, "", "Transpose");
    const auto query = scene.add({layout}, "", "MatMul");
    const auto shared = scene.add({x}, "", "Transpose");
    const auto value = scene.add({shared}, "", "MatMul");
    const auto weights = scene.add({query}, "", "Softmax");
    const auto sum = scene.add({weights, value}, "", "MatMul");
    const auto out = scene.add({sum}, "attn", "Gemm");
    scene.add({shared}, "", "Relu");
    const auto complete = [&] {
        test::region_knowledge known(scene);
        known.facts.attends[known.at("attn")] = true;
        stemma::detail::attention_blocks(known.facts).complete();
        return known.facts.owner;
    };
    // Without nameless weights others tell better.
    std::vector<id> expected(scene.ops.size(), no_id);
    expected[out] = 1;
    CHECK(complete() == expected);
    scene.lost = {query, value};
    for (auto v : {layout, query, value, weights, sum}) {
        expected[v] = 1;
    }
    CHECK(complete() == expected);
}

TEST_CASE("attention_blocks: an attention of which only the projection has names") {
    test::region_scene scene;
    constexpr id projection = 2;
    constexpr id attention = 1;
    constexpr id other = 3;
    scene.others = {"attn", "attn.out", "other"};
    const auto x = scene.add({}, "", "Relu");
    const auto bias = scene.add({}, "", "Gather");
    const auto query = scene.lose({x});
    const auto value = scene.lose({x});
    const auto weights = scene.add({query, bias}, "", "Softmax");
    const auto sum = scene.add({weights, value}, "", "MatMul");
    const auto product = scene.lose({sum}); // has a name by its bias
    const auto out = scene.add({product}, "attn.out");
    const auto complete = [&](id around, id of_bias = no_id) {
        test::region_knowledge known(scene);
        known.facts.owner[bias] = of_bias;
        known.facts.owner[product] = projection;
        stemma::detail::attention_blocks(known.facts)
            .complete_around({no_id, no_id, around, no_id});
        return known.facts.owner;
    };
    std::vector<id> expected(scene.ops.size(), no_id);
    expected[product] = expected[out] = projection;
    const auto unknown = expected;
    CHECK(complete(no_id) == unknown);
    for (auto v : {bias, query, value, weights, sum}) {
        expected[v] = attention;
    }
    CHECK(complete(attention) == expected);
    expected = unknown;
    expected[bias] = other;
    CHECK(complete(attention, other) == expected);
    scene.ops.at(weights).op_type = "Relu"; // no attention
    CHECK(complete(attention) == unknown);
}

} // namespace test::evidence_detail_attention_blocks
