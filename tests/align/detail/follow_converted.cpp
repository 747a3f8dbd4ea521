// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/follow_converted.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>

namespace test::align_detail_follow_converted {

using stemma::no_id;

TEST_CASE("follow_converted: a conversion goes with what it converts, or is left to its readers",
          "[alignment]") {
    stemma::captured_operations captured;
    captured.add({4, 0, true, false}, "torch.nn.functional.conv2d");
    captured.add({5, 0, true, false}, "torch.Tensor.permute");
    captured.add({6, 0, true, false}, "torch.Tensor.to");
    captured.add({7, 0, true, false}, "torch.instance_norm");
    test::exported_graph graph;
    const auto w = graph.parameter("w", {8, 3, 3, 3});
    const auto input = graph.add("Cast", {no_id});
    const auto weight = graph.add("DequantizeLinear", {}, {w});
    const auto conv = graph.add("Conv", {input, weight});
    const auto reorder = graph.add("com.microsoft.nchwc::ReorderOutput", {conv});
    const auto quantize = graph.add("QuantizeLinear", {reorder});
    const auto moved = graph.add("com.microsoft.nchwc::ReorderOutput", {conv});
    const auto cast = graph.add("Cast", {conv});
    const auto wanted = graph.add("Cast", {no_id});
    graph.finish();
    const auto nodes = stemma::detail::aligned_nodes_finder(
                           graph, stemma::detail::run_order::as_written, {},
                           {.quantizes = true, .casts_inputs = true, .casts_results = true})
                           .find();
    const auto items =
        stemma::detail::describe_items(captured, nodes.types, stemma::torch_lexicon(), {});
    stemma::alignment aligned;
    aligned.of.assign(graph.size(), {5, 0, 1, 0.6F, true});
    aligned.of[conv] = {4, 0, 0, 0.9F, true};
    aligned.of[wanted] = {6, 0, 2, 0.9F, true};
    aligned.of[quantize] = {6, 0, 2, 0.9F, true};
    aligned.of[reorder] = {7, 0, 3, 0.9F, true};
    stemma::detail::follow_converted(nodes, items, aligned);
    CHECK(aligned.of[input].module == no_id);
    CHECK(aligned.of[weight].module == no_id);
    CHECK(aligned.of[reorder].module == 4);
    CHECK(aligned.of[quantize].module == 4);
    CHECK(aligned.of[moved].module == 5);
    CHECK(aligned.of[cast].module == 5);
    CHECK(aligned.of[wanted].module == 6);
}

TEST_CASE("follow_converted: what a quantizer inserted is never surer than its own name",
          "[alignment]") {
    test::exported_graph graph;
    const auto relu = graph.add("Relu", {no_id});
    const auto quantize = graph.add("QuantizeLinear", {relu});
    graph.finish();
    const auto nodes = stemma::detail::aligned_nodes_finder(graph).find();
    stemma::alignment aligned;
    aligned.of.resize(graph.size());
    aligned.of[relu] = {4, 0, 0, 0.99F, true};
    stemma::detail::follow_converted(nodes, {}, aligned);
    CHECK(aligned.of[quantize].module == 4);
    CHECK(aligned.of[quantize].confidence == stemma::detail::confidence::aligned_passed);
    CHECK(stemma::detail::confidence::aligned_passed < stemma::detail::confidence::leftover);
}

} // namespace test::align_detail_follow_converted
