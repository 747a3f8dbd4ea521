// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/detail/profiled_nodes.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::cost_detail_profiled_nodes {

namespace {

using kernels = std::vector<stemma::profile::kernel>;
using nodes = std::vector<stemma::id>;

} // namespace

TEST_CASE("profiled_nodes: parses names that runtimes compose of several", "[cost][profile]") {
    const auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    const stemma::wire_model model(bytes, "mlp");
    const stemma::detail::profiled_nodes names(model, {});
    const auto find = [&](const std::string& name) {
        stemma::profile::kernel kernel;
        kernel.name = name;
        return names.find(kernel);
    };
    CHECK(find("/fc1/Gemm") == nodes{0});
    CHECK(find("/fc1/Gemm_output_0") == nodes{0});
    CHECK(find("/fc1/Gemm + /relu/Relu") == nodes{0, 1});
    CHECK(find("PWN(/relu/Relu)") == nodes{1});
    CHECK(find("PWN(PWN(/fc1/Gemm), /relu/Relu)") == nodes{0, 1});
    CHECK(find("{ForeignNode[/fc1/Gemm.../fc2/Gemm]}") == nodes{0, 1, 2});
    CHECK(find("{ForeignNode[/fc2/Gemm]}") == nodes{2});
    CHECK(find("{ForeignNode[fc1.weight + (Unnamed Layer* 3) [Shuffle].../relu/Relu]}") ==
          nodes{0, 1});
    CHECK(find("/fc1/Gemm || /fc2/Gemm") == nodes{0, 2});
    CHECK(find("fused /relu/Relu") == nodes{1});
    CHECK(find("/fc2/Gemm/LayerNormFusion/") == nodes{2});
    CHECK(find("/fc2/Gemm/WithoutBiases") == nodes{2});
    CHECK(find("_fc2_Gemm") == nodes{2});
    CHECK(find("/fc1/Gemm_output_0_nchwc") == nodes{0});
    CHECK(find("Reformatting CopyNode for Input Tensor 1 to /fc1/Gemm + /relu/Relu") ==
          nodes{0, 1});
    CHECK(find("Reformatting CopyNode for Output Tensor 0 to PWN(/relu/Relu)") == nodes{1});
    CHECK(find("Reformatting CopyNode for Input Tensor 0 to "
               "{ForeignNode[shape_output[Constant].../fc2/Gemm]}") == nodes{2});
    CHECK(find("Reformatting CopyNode for Network Input nothing").empty());
    CHECK(find("node_of_/relu/Relu_output_0 + node_of_/fc1/Gemm_output_0") == nodes{0, 1});
    CHECK(find("/fc1/Gemm_output_0 copy") == nodes{0});
    CHECK(find("/fc1/Gemm;/fc2/Gemm") == nodes{0, 2});
    CHECK(find(std::string(100000, '(') + "/fc1/Gemm" + std::string(100000, ')')).empty());
    CHECK(find("nothing").empty());
    CHECK(find("").empty());
    CHECK(find("{ForeignNode[]}").empty());
    CHECK(find("((((((").empty());
}

/// A kernel as ONNX Runtime calls that of an unnamed node.
stemma::profile::kernel numbered(const std::string& type, stemma::id number) {
    stemma::profile::kernel kernel;
    kernel.name = type + "_" + std::to_string(number);
    kernel.op_type = type;
    kernel.node_index = number;
    return kernel;
}

TEST_CASE("profiled_nodes: finds unnamed nodes by number", "[cost][profile]") {
    const auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    const stemma::wire_model model(bytes, "mlp");
    std::vector<stemma::profile::kernel> kernels(1);
    kernels[0].op_type = "Relu";
    kernels[0].node_index = 1;
    CHECK(stemma::detail::profiled_nodes(model, kernels).find(kernels[0]) ==
          std::vector<stemma::id>{1});
    kernels[0].node_index = 2; // another operator: the number is of another graph
    CHECK(stemma::detail::profiled_nodes(model, kernels).find(kernels[0]).empty());
}

TEST_CASE("profiled_nodes: bodies have numbers of their own", "[cost][profile]") {
    const auto body = test::graph(
        {test::node("Relu", {"x"}, {"r"}), test::node("Add", {"r", "x"}, {"b"})}, {}, {"b"});
    const auto bytes =
        test::model(test::graph({test::owner_node("If", {"c"}, {"i"},
                                                  {test::graph_attribute("then_branch", body)}),
                                 test::node("Add", {"i", "x"}, {"y"})},
                                {"c", "x"}, {"y"}))
            .bytes();
    const stemma::wire_model model(bytes, "file");
    const std::vector kernels{numbered("Add", 1), numbered("Relu", 0)};
    const stemma::detail::profiled_nodes names(model, kernels);
    CHECK(names.find(kernels[0]).size() == 2); // that of the body, or that after it
    CHECK(names.find(kernels[1]).size() == 1);
    CHECK(names.find(numbered("Relu", 1)).empty());
}

/// Kernels as ONNX Runtime calls those of unnamed nodes, by operator and number.
kernels unnamed(const std::vector<std::pair<std::string, stemma::id>>& numbers) {
    kernels result;
    for (const auto& [type, number] : numbers) {
        auto& kernel = result.emplace_back();
        kernel.name = type + "_" + std::to_string(number);
        kernel.op_type = type;
        kernel.node_index = number;
    }
    return result;
}

/// Returns: the nodes of kernels by the order in which they run.
nodes ordered(const stemma::wire_model& model, const kernels& ran) {
    const stemma::detail::numbered_kernels numbers(model, ran);
    nodes result;
    for (const auto& kernel : ran) {
        result.push_back(numbers.ordered(kernel));
    }
    return result;
}

std::string chain() {
    return test::model(
               test::graph({test::node("Add", {"x", "x"}, {"a"}), test::node("Constant", {}, {"k"}),
                            test::node("Mul", {"a", "k"}, {"b"}),
                            test::node("Add", {"b", "x"}, {"c"}),
                            test::node("Mul", {"c", "x"}, {"d"})},
                           {"x"}, {"d"}))
        .bytes();
}

TEST_CASE("numbered_kernels: numbers are positions without Constants where all fit",
          "[cost][profile]") {
    const auto bytes = chain();
    const stemma::wire_model model(bytes, "file");
    // Runs out of order; the runtime added the last.
    const auto ran = unnamed({{"Add", 2}, {"Mul", 1}, {"Add", 0}, {"Mul", 3}, {"Relu", 4}});
    const stemma::detail::numbered_kernels numbers(model, ran);
    CHECK(numbers.at_position(ran[0]) == nodes{3});
    CHECK(numbers.at_position(ran[2]) == nodes{0});
    CHECK(numbers.at_position(ran[4]).empty());
    CHECK(numbers.ordered(ran[0]) == stemma::no_id);
}

TEST_CASE("numbered_kernels: nodes of a saved file run in its order", "[cost][profile]") {
    const auto bytes = chain();
    const stemma::wire_model model(bytes, "file");
    // The first has the number of another Add, the last that of no node.
    const auto ran = unnamed({{"Add", 2}, {"Mul", 2}, {"Add", 3}, {"Mul", 9}});
    CHECK(ordered(model, ran) == nodes{0, 2, 3, 4});
    CHECK(stemma::detail::numbered_kernels(model, ran).at_position(ran[0]).empty());
    const auto none = stemma::no_id;
    CHECK(ordered(model, unnamed({{"Mul", 2}, {"Add", 1}, {"Add", 3}, {"Mul", 9}})) ==
          nodes{none, none, none, none});
}

TEST_CASE("numbered_kernels: numbers of a saved file mean nothing, even if all fit a node",
          "[cost][profile]") {
    const auto bytes = chain();
    const stemma::wire_model model(bytes, "file");
    // The session removed two nodes before these.
    const auto ran = unnamed({{"Add", 2}, {"Mul", 3}, {"Add", 4}, {"Mul", 5}});
    CHECK(ordered(model, ran) == nodes{0, 2, 3, 4});
}

TEST_CASE("numbered_kernels: names tell whether the order is that of the file", "[cost][profile]") {
    const auto bytes = test::model(test::graph({test::node("Add", {"x", "x"}, {"a"}, "first"),
                                                test::node("Add", {"x", "x"}, {"b"}),
                                                test::node("Add", {"x", "x"}, {"c"}, "last")},
                                               {"x"}, {"a", "b", "c"}))
                           .bytes();
    const stemma::wire_model model(bytes, "file");
    auto ran = unnamed({{"Add", 7}, {"Add", 5}, {"Add", 6}});
    ran[0].name = "first";
    ran[2].name = "last";
    CHECK(ordered(model, ran) == nodes{0, 1, 2});
    std::swap(ran[0].name, ran[2].name);
    CHECK(ordered(model, ran)[1] == stemma::no_id);
}

TEST_CASE("numbered_kernels: branches that did not run leave the operators outside them",
          "[cost][profile]") {
    const auto body = [](const char* op) {
        return test::graph({test::node("Relu", {"x"}, {"r"}), test::node(op, {"r"}, {"b"})}, {},
                           {"b"});
    };
    const auto bytes =
        test::model(
            test::graph({test::node("Mul", {"x", "x"}, {"m"}),
                         test::owner_node("If", {"c"}, {"i"},
                                          {test::graph_attribute("then_branch", body("Exp")),
                                           test::graph_attribute("else_branch", body("Tanh"))}),
                         test::node("Mul", {"i", "x"}, {"y"})},
                        {"c", "x"}, {"y"}))
            .bytes();
    const stemma::wire_model model(bytes, "file");
    const auto ran = unnamed({{"Mul", 8}, {"Relu", 3}, {"Exp", 4}, {"If", 5}, {"Mul", 9}});
    const auto nodes = ordered(model, ran);
    CHECK(model.op_type(nodes[0]) == "Mul");
    CHECK(nodes[1] == stemma::no_id); // that of either branch
    CHECK(model.op_type(nodes[2]) == "Exp");
    CHECK(model.position(nodes[4]) == 2);
}

} // namespace test::cost_detail_profiled_nodes
