// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/sketch_lookup.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <vector>

namespace test::record_detail_sketch_lookup {

namespace {

using stemma::id;
using stemma::no_id;
using test::node;

/// A chain of six, and a shape of the input.
stemma::detail::graph_sketch sketch() {
    const test::built_model model(
        {node("Relu", {"x"}, {"a"}), node("Relu", {"a"}, {"b"}), node("Relu", {"b"}, {"c"}),
         node("Relu", {"c"}, {"d"}), node("Relu", {"d"}, {"e"}), node("Relu", {"e"}, {"gemm"}),
         node("Shape", {"x"}, {"s"}), node("Add", {"gemm", "s"}, {"y_2"})},
        {"x"}, {"y_2"});
    const std::vector<stemma::attribution> attributions(
        model.node_count(), {0, no_id, 1, stemma::provenance::scope, false});
    return *stemma::detail::graph_sketch::read(stemma::detail::sketch_of(model, attributions), 1);
}

} // namespace

TEST_CASE("sketch_lookup: finds values by name, and by derived names") {
    const auto then = sketch();
    const stemma::detail::sketch_lookup lookup(then);
    CHECK(lookup.maker_of("a") == 0);
    CHECK(lookup.maker_of("y_2") == 7);
    CHECK(lookup.maker_of("x") == no_id);
    CHECK(lookup.maker_of("") == no_id);
    CHECK(lookup.maker_within("c_bn_nchwc") == 2);
    CHECK(lookup.maker_within("y_2_token_40") == 7);
    CHECK(lookup.maker_within("c_40") == no_id); // may be another value's own name
    CHECK(lookup.maker_within("node_y_2/QuickGeluFusion/") == 7);
    CHECK(lookup.maker_within("node_y_2/MatMulAddFusion") == 7);
    CHECK(lookup.maker_within("node_q/QuickGeluFusion/") == no_id);
    CHECK(lookup.maker_within("Fusion") == no_id);
    CHECK(lookup.maker_of("gemm") == 5);
    CHECK(lookup.maker_within("gemm_nchwc") == 5);
    CHECK(lookup.maker_within("gemm_input_reshape_arg") == no_id); // not from its name
    CHECK(lookup.maker_within("gemm_output_reshape_token_3") == no_id);
    CHECK(lookup.maker_within("token") == no_id);
    CHECK(lookup.maker_within("_c") == no_id);
}

TEST_CASE("sketch_lookup: finds what made the values of a node now") {
    const auto then = sketch();
    const stemma::detail::sketch_lookup lookup(then);
    const test::built_model now(
        {node("Split", {"x"}, {"b", "q", "", "a"}), node("Relu", {"b"}, {"q_1", "c_bn_nchwc"})},
        {"x"}, {"a"});
    std::vector<id> makers;
    lookup.for_each_maker(now, 0, [&](id maker) { makers.push_back(maker); });
    CHECK(makers == std::vector<id>{1, 0});
    CHECK(lookup.hinted_maker(now, 0) == no_id);
    CHECK(lookup.hinted_maker(now, 1) == 2);
}

TEST_CASE("sketch_lookup: a value named after a node before is what that made") {
    const test::built_model model({node("Relu", {"x"}, {"/a/Relu_output_0"}, "/a/Relu"),
                                   node("Exp", {"/a/Relu_output_0"}, {"y"}, "/Exp")},
                                  {"x"}, {"y"});
    const std::vector<stemma::attribution> attributions(
        2, {0, no_id, 1, stemma::provenance::scope, false});
    const auto then =
        *stemma::detail::graph_sketch::read(stemma::detail::sketch_of(model, attributions), 1);
    const stemma::detail::sketch_lookup lookup(then);
    const test::built_model now(
        {node("Relu", {"x"}, {"/a/Relu"}, "any"), node("Exp", {"/a/Relu"}, {"/Exp"}, "other")},
        {"x"}, {"/Exp"});
    CHECK(lookup.hinted_maker(now, 0) == 0);
    CHECK(lookup.hinted_maker(now, 1) == no_id);
}

TEST_CASE("sketch_lookup: what reads the inputs of a node, but not its result, bypasses it") {
    const auto then = sketch();
    const stemma::detail::sketch_lookup lookup(then);
    CHECK(lookup.is_bypassed(2, std::vector<id>{0, 1}));
    CHECK_FALSE(lookup.is_bypassed(2, std::vector<id>{1, 2}));
    CHECK_FALSE(lookup.is_bypassed(2, std::vector<id>{0, 3}));
    CHECK_FALSE(lookup.is_bypassed(0, std::vector<id>{1})); // it reads the input of the model
}

TEST_CASE("sketch_lookup: data come from inputs, but not through shapes") {
    const auto then = sketch();
    const stemma::detail::sketch_lookup lookup(then);
    for (id v = 0; v < then.node_count(); ++v) {
        CHECK(lookup.is_dependent(v) == (v != 6));
    }
}

TEST_CASE("sketch_lookup: finds readers and nearby nodes") {
    const auto then = sketch();
    const stemma::detail::sketch_lookup lookup(then);
    CHECK(lookup.only_reader(0) == 1);
    CHECK(lookup.only_reader(7) == no_id);
    CHECK(ranges::equal(lookup.readers(5), std::vector<id>{7}));
    CHECK(lookup.is_near(0, std::vector<id>{4}));
    CHECK(lookup.is_near(0, std::vector<id>{3, 5}));
    CHECK_FALSE(lookup.is_near(0, std::vector<id>{5}));
    CHECK_FALSE(lookup.is_near(0, {}));
}

TEST_CASE("sketch_types: a function that nobody calls any more was inlined") {
    const auto typed = [](const char* type, const char* domain, const char* result) {
        return test::node(type, {"x"}, {result}, result, domain);
    };
    const auto graph = [](const std::vector<test::message>& nodes) {
        return test::model(test::graph(nodes, {"x"}, {"y"})).bytes();
    };
    const auto before = graph({typed("Layer", "pkg.app", "a"), typed("Gelu", "com.microsoft", "b"),
                               test::node("Relu", {"x"}, {"y"}, "y")});
    const auto after =
        graph({test::node("Mul", {"x"}, {"a"}, "a"), typed("Gelu", "com.microsoft", "b"),
               test::node("Relu", {"x"}, {"y"}, "y")});
    const stemma::wire_model then(before);
    const stemma::wire_model now(after);
    stemma::attribution root;
    root.module = 0;
    const std::vector<stemma::attribution> of(then.node_count(), root);
    const auto sketch = stemma::detail::read_sketch(
        stemma::detail::to_json(stemma::detail::sketch_of(then, of)), 1);
    REQUIRE(sketch);
    const stemma::detail::sketch_types types(now, *sketch);
    CHECK(types.is_gone(0));
    CHECK_FALSE(types.is_gone(2));
    CHECK(types.is_gone_call(0));
    CHECK_FALSE(types.is_gone_call(1));
    CHECK_FALSE(types.is_gone_call(2));
    CHECK(types.is_new(0));
    CHECK_FALSE(types.is_new(1));
    CHECK(types.are_same(1, 1));
    CHECK(types.are_same(2, 2));
    CHECK_FALSE(types.are_same(0, 0));
    CHECK(types.is_part(1, 1));
    CHECK_FALSE(types.is_part(1, 2));
    CHECK(types.are_kept([](stemma::id node) { return node; }));
    CHECK_FALSE(types.are_kept([](stemma::id node) { return 3 - node; }));
    CHECK(types.are_kept([](stemma::id) { return stemma::no_id; }));
}

} // namespace test::record_detail_sketch_lookup
