// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/rank_demands.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace test::types_detail_rank_demands {

namespace {

/// A body that gives back a value from around it.
test::message body(const std::string& result) {
    test::message graph;
    graph.inner(1, test::node("Identity", {result}, {"inner_" + result}));
    return graph.inner(12, test::message().text(1, "inner_" + result));
}

/// An If, `r`, whose branches return different ranks.
test::inference_scene scene() {
    return test::inference_scene()
        .input("x", {2, 3})
        .input("v", {3})
        .input("go", {}, 9)
        .weight("w", {6, 3, 5})
        .weight("m", {3, 4})
        .numbers("pads", {0, 1, 0, 1})
        .numbers("axes", {0})
        .numbers("start", {0})
        .node(test::owner_node("If", {"go"}, {"r"},
                               {test::graph_attribute("then_branch", body("x")),
                                test::graph_attribute("else_branch", body("v"))}));
}

/// The type of what the If returns, if another operator reads it.
std::string read_by(std::string_view op, const test::names& inputs,
                    const std::vector<test::message>& attributes = {}) {
    auto reader = test::node(op, inputs, {"y"}, "reader");
    for (const auto& attribute : attributes) {
        reader.inner(5, attribute);
    }
    return scene().node(reader).type_of("r");
}

} // namespace

TEST_CASE("rank_demands: a value has the rank that its reader demands") {
    CHECK(scene().type_of("r").empty());
    CHECK(read_by("Conv", {"r", "w"}) == "float32[?,?,?]");
    CHECK(read_by("Conv", {"r", "unknown"}, test::attributes("kernel_shape=[3,3]")) ==
          "float32[?,?,?,?]");
    CHECK(read_by("MaxPool", {"r"}, test::attributes("kernel_shape=[2]")) == "float32[?,?,?]");
    CHECK(read_by("LSTM", {"x", "w", "w", "", "", "r"}) == "float32[?,?,?]");
    CHECK(read_by("Gemm", {"r", "m"}) == "float32[?,?]");
    CHECK(read_by("Transpose", {"r"}, test::attributes("perm=[0,2,1]")) == "float32[?,?,?]");
    CHECK(read_by("Pad", {"r", "pads"}) == "float32[?,?]");
    CHECK(read_by("DepthToSpace", {"r"}) == "float32[?,?,?,?]");
    CHECK(read_by("Concat", {"r", "m"}, test::attributes("axis=0")) == "float32[?,?]");
}

TEST_CASE("rank_demands: inputs and operators that demand no rank") {
    CHECK(read_by("Add", {"r", "m"}).empty());
    CHECK(read_by("MatMul", {"r", "m"}).empty());
    CHECK(read_by("Relu", {"r"}).empty());
    CHECK(read_by("Gemm", {"x", "m", "r"}).empty());
    CHECK(read_by("Transpose", {"r"}).empty());
}

TEST_CASE("rank_demands: the demand reaches back through operators that change ranks as known") {
    const auto behind = [](const test::message& between) {
        return scene().node(between).node(test::node("Conv", {"b", "w"}, {"y"})).type_of("r");
    };
    CHECK(behind(test::node("Relu", {"r"}, {"b"})) == "float32[?,?,?]");
    CHECK(behind(test::node("Slice", {"r", "start", "start"}, {"b"})) == "float32[?,?,?]");
    CHECK(behind(test::node("Unsqueeze", {"r", "axes"}, {"b"})) == "float32[?,?]");
    CHECK(behind(test::node("Squeeze", {"r", "axes"}, {"b"})) == "float32[?,?,?,?]");
    CHECK(behind(test::node("Squeeze", {"r"}, {"b"})).empty());
    CHECK(behind(test::node("MatMul", {"r", "m"}, {"b"})).empty());
}

TEST_CASE("rank_demands: what follows from the rank is inferred, too") {
    const auto conv = test::node("Conv", {"r", "w"}, {"y"});
    CHECK(scene().node(conv).type_of("y") == "float32[?,6,?]");
}

TEST_CASE("rank_demands: a reader in a body, which may not run, demands nothing") {
    test::message inside;
    inside.inner(1, test::node("Conv", {"r", "w"}, {"c"}));
    inside.inner(12, test::message().text(1, "c"));
    const auto choice = test::owner_node("If", {"go"}, {"y"},
                                         {test::graph_attribute("then_branch", inside),
                                          test::graph_attribute("else_branch", inside)});
    const test::inferred_model model(scene().node(choice).model_with("y"));
    CHECK(model.type_of("r").empty());
    CHECK(model.type_of("c", 3) == "float32[?,6,?]"); // behind the bodies of the scene
}

} // namespace test::types_detail_rank_demands
