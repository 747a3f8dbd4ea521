// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/split_skeleton.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../split_scene.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::cut_detail_split_skeleton {

TEST_CASE("find_loads: a weight counts once, where it is first read; bodies count for their owner",
          "[onnx][split_model]") {
    const auto body = test::graph({test::node("Add", {"x", "b"}, {"r"}, "inside")}, {}, {"r"});
    auto graph = test::graph(
        {test::node("Add", {"x", "a"}, {"p"}, "first"),
         test::node("Mul", {"p", "a"}, {"q"}, "second"),
         test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}, "if")},
        {"x", "c"}, {"y"});
    graph.inner(5, test::tensor("a", {3}, std::string(12, 'a')));
    graph.inner(5, test::tensor("b", {2, 2}, std::string(16, 'b')));
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    const auto loads = stemma::detail::find_loads(model);
    const auto& first = loads[test::node_called(model, "first")];
    const auto& second = loads[test::node_called(model, "second")];
    const auto& choice = loads[test::node_called(model, "if")];
    CHECK(first.parameters == 3);
    CHECK(first.weight_bytes >= 12);
    CHECK(first.operators == 1);
    CHECK(second.parameters == 0);
    CHECK(second.weight_bytes == 0);
    CHECK(choice.parameters == 4);
    CHECK(choice.operators == 2);
    CHECK(choice.message_bytes ==
          test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}, "if")
              .bytes()
              .size());
}

TEST_CASE("find_loads: external data without a length are as long as their tensor",
          "[onnx][split_model]") {
    auto graph = test::graph({test::node("Add", {"x", "a"}, {"y"}, "add")}, {"x"}, {"y"});
    graph.inner(5,
                test::tensor("a", {2500}).inner(13, test::entry("location", "data")).number(14, 1));
    const auto bytes = test::model(graph).bytes();
    const auto loads = stemma::detail::find_loads(stemma::wire_model(bytes));
    CHECK(loads[0].weight_bytes >= 10000);
}

TEST_CASE("find_loads: parameters are those of find_weights, also in Constants and functions",
          "[onnx][split_model]") {
    const auto weight = [](const std::string& output) {
        const auto attribute =
            test::message().text(1, "value").inner(5, test::tensor("", {3, 4})).number(20, 4);
        return test::node("Constant", {}, {output}).inner(5, attribute);
    };
    auto graph = test::graph({weight("w"), test::node("MatMul", {"x", "w"}, {"a"}),
                              test::node("made", {"a"}, {"b"}, "call", "f"),
                              test::node("made", {"b"}, {"c"}, "again", "f"),
                              test::node("BatchNormalization", {"c", "g", "g", "m", "m"}, {"d"}),
                              test::node("Reshape", {"d", "shape"}, {"y"})},
                             {"x"}, {"y"});
    graph.inner(5, test::tensor("g", {4})).inner(5, test::tensor("m", {4}));
    graph.inner(5, test::message().number(1, 2).number(2, 7).text(8, "shape"));
    auto message = test::model(graph);
    message.inner(25, test::function("f", "inner", {"p"}, {"q"},
                                     {weight("w"), test::node("MatMul", {"p", "w"}, {"q"})}));
    message.inner(25, test::function("f", "made", {"p"}, {"q"},
                                     {test::node("inner", {"p"}, {"q"}, "", "f")}));
    const test::built_model model(message);
    const auto loads = stemma::detail::find_loads(model);
    std::uint64_t elements = 0;
    for (const auto& weight_found : stemma::detail::find_weights(model)) {
        elements += weight_found.kind == stemma::weight_kind::parameter ? weight_found.elements : 0;
    }
    std::uint64_t sum = 0;
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        sum += model.graph_of(node) == 0 ? loads[node].parameters : 0;
    }
    CHECK(elements == 12 + 12 + 4);
    CHECK(sum == elements);
    CHECK(loads[test::node_called(model, "call")].parameters == 12);
    CHECK(loads[test::node_called(model, "again")].parameters == 0);
}

TEST_CASE("split_skeleton: has everything except nodes and data in parts", "[onnx][split_model]") {
    test::split_scene scene(test::fixture("bert_micro/model.onnx"));
    const auto& model = scene.model();
    const auto parts = scene.planner.divide(stemma::balanced_parts{3});
    stemma::detail::weight_store store(model, scene.opened.file(), "weights.bin", false);
    stemma::value_types types(model);
    stemma::detail::infer_shapes(model, types);
    stemma::detail::cut_writer<> writer(model, scene.cuts.contents(), types);
    for (const auto& part : parts) {
        static_cast<void>(writer.build(part.plan, "", &store));
    }
    const stemma::detail::split_skeleton skeleton(model, parts, store);
    std::string text;
    skeleton.bytes().for_each(
        [&](stemma::id, std::uint64_t begin, std::uint64_t size) {
            text.append(model.bytes().substr(begin, size));
        },
        [&](std::string_view more) { text.append(more); });
    const stemma::wire_model rest(text);
    CHECK(rest.node_count() == 0);
    CHECK(rest.tensors().size() == model.tensors().size());
    CHECK(rest.graph(0).inputs.size() == model.graph(0).inputs.size());
    CHECK(rest.graph(0).outputs.size() == model.graph(0).outputs.size());
    CHECK(text.size() * 5 < model.bytes().size());
}

} // namespace test::cut_detail_split_skeleton
