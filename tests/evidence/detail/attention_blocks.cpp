// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/attention_blocks.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_attention_blocks {

using stemma::id;
using stemma::no_id;
using texts = std::vector<std::string>;

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
    scene.others = {"attn", "attn.out", "attn.norm", "other"};
    const auto x = scene.add({}, "", "Relu");
    const auto bias = scene.add({}, "", "Gather");
    const auto query = scene.lose({x});
    const auto value = scene.lose({x});
    const auto weights = scene.add({query, bias}, "", "Softmax");
    const auto sum = scene.add({weights, value}, "", "MatMul");
    const auto product = scene.lose({sum}); // has a name by its bias
    const auto out = scene.add({product}, "attn.out");
    constexpr id attention = 1;
    constexpr id projection = 2;
    constexpr id other = 4;
    const auto complete = [&](id of_bias = no_id) {
        test::region_knowledge known(scene);
        known.facts.owner[bias] = of_bias;
        known.facts.owner[product] = projection;
        stemma::detail::attention_blocks(known.facts).complete();
        return known.facts.owner;
    };
    std::vector<id> expected(scene.ops.size(), no_id);
    expected[product] = expected[out] = projection;
    const auto unknown = expected;
    for (auto v : {bias, query, value, weights, sum}) {
        expected[v] = attention;
    }
    CHECK(complete() == expected);
    expected = unknown;
    expected[bias] = other;
    CHECK(complete(other) == expected);
    scene.ops.at(weights).op_type = "Relu"; // no attention
    CHECK(complete() == unknown);
    scene.ops.at(weights).op_type = "Softmax";
    scene.ops.read_parameter(x, "attn.norm.weight"); // other modules in it have names
    CHECK(complete() == unknown);
}

namespace {

/// The module around an owner where each of some modules has a parameter.
std::string around(const texts& modules, const std::string& path) {
    test::region_scene scene;
    for (const auto& module : modules) {
        scene.add({}, module);
    }
    const test::region_knowledge known(scene);
    return known.path(stemma::detail::modules_around_lone_owners(known.facts)[known.at(path)]);
}

} // namespace

TEST_CASE("lone_owners: the outermost module in which nothing else has parameters") {
    const texts modules{"norm", "attn.out.proj", "ff.fc1", "ff.fc2"};
    CHECK(around(modules, "attn.out.proj") == "attn");
    CHECK(around(modules, "norm") == "none");
    CHECK(around(modules, "ff.fc1") == "none");
    CHECK(around(modules, "attn") == "none"); // has none itself
}

TEST_CASE("lone_owners: lists do not run") {
    const texts modules{"norm", "attn.to_out.0", "layers.0"};
    CHECK(around(modules, "attn.to_out.0") == "attn");
    CHECK(around(modules, "layers.0") == "none");
}

TEST_CASE("lone_owners: the model is no answer") {
    CHECK(around({"attn.out"}, "attn.out") == "attn");
    CHECK(around({"out"}, "out") == "none");
}

} // namespace test::evidence_detail_attention_blocks
