// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/detail/profiled_nodes.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::cost_detail_profiled_nodes {

TEST_CASE("profiled_nodes: parses names that runtimes compose of several", "[cost][profile]") {
    const auto bytes = test::read_bytes(test::fixture("mlp/model.onnx"));
    const stemma::wire_model model(bytes, "mlp");
    const stemma::detail::profiled_nodes names(model, {});
    const auto find = [&](const std::string& name) {
        stemma::profile::kernel kernel;
        kernel.name = name;
        return names.find(kernel);
    };
    using nodes = std::vector<stemma::id>;
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

} // namespace test::cost_detail_profiled_nodes
