// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/aligned_nodes.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <vector>

namespace test::align_detail_aligned_nodes {

using stemma::id;
using stemma::no_id;
using stemma::detail::id_lists;

TEST_CASE("id_lists: returns lists, and their inverse", "[alignment]") {
    id_lists lists;
    const std::vector<std::vector<id>> expected{{2, 0}, {}, {2}};
    for (const auto& list : expected) {
        for (auto item : list) {
            lists.add(item);
        }
        lists.close();
    }
    REQUIRE(lists.size() == 3);
    for (id i = 0; i < 3; ++i) {
        CHECK(ranges::equal(lists[i], expected[i]));
    }
    const auto reversed = lists.reversed(3);
    CHECK(ranges::equal(reversed[0], std::vector<id>{0}));
    CHECK(reversed[1].empty());
    CHECK(ranges::equal(reversed[2], std::vector<id>{0, 2}));
}

TEST_CASE("aligned_nodes: constants are excluded, and shape computations are known",
          "[alignment]") {
    test::exported_graph graph;
    const auto constant = graph.add("Constant", {});
    const auto cast = graph.add("Cast", {constant});
    const auto input = graph.add("Relu", {no_id});
    const auto shape = graph.add("Shape", {input});
    const auto gather = graph.add("Gather", {shape, constant});
    const auto reshape = graph.add("Reshape", {input, gather});
    const auto p = graph.parameter("w", {3});
    const auto folded = graph.add("Transpose", {}, {p});
    graph.finish();
    auto finder = stemma::detail::aligned_nodes_finder(graph);
    const auto nodes = finder.find();
    CHECK(nodes.vertex == std::vector<id>{cast, input, shape, gather, reshape, folded});
    CHECK(nodes.of_shapes == std::vector<bool>{false, false, true, true, false, false});
    CHECK(nodes.fixed == std::vector<bool>{true, false, false, false, false, false});
    CHECK(nodes.parameters[5].size() == 1);
    CHECK(ranges::equal(nodes.producers[4], std::vector<id>{1, 3}));
    CHECK(ranges::equal(nodes.readers[1], std::vector<id>{2, 4}));
}

TEST_CASE("aligned_nodes: a stored number makes no data of a shape, a matrix does", "[alignment]") {
    test::exported_graph graph;
    const auto axis = graph.parameter("axis", {1});
    const auto table = graph.parameter("table", {4, 8});
    const auto input = graph.add("Relu", {no_id});
    const auto shape = graph.add("Shape", {input});
    const auto size = graph.add("Gather", {shape}, {axis});
    const auto row = graph.add("Gather", {size}, {table});
    graph.finish();
    const auto nodes = stemma::detail::aligned_nodes_finder(graph).find();
    CHECK(nodes.vertex == std::vector<id>{input, shape, size, row});
    CHECK(nodes.of_shapes == std::vector<bool>{false, true, true, false});
}

TEST_CASE("aligned_nodes: data pass what a quantizer inserted", "[alignment]") {
    test::exported_graph graph;
    const auto w = graph.parameter("w_quantized", {4, 8});
    const auto scale = graph.parameter("w_scale", {4});
    const auto relu = graph.add("Relu", {no_id});
    const auto quantize = graph.add("QuantizeLinear", {relu}, {scale});
    const auto dequantize = graph.add("DequantizeLinear", {quantize}, {scale});
    const auto weight = graph.add("DequantizeLinear", {}, {w, scale});
    const auto gemm = graph.add("Gemm", {dequantize, weight});
    graph.finish();
    const auto nodes = stemma::detail::aligned_nodes_finder(graph).find();
    CHECK(nodes.vertex == std::vector<id>{relu, gemm});
    CHECK(ranges::equal(nodes.producers[1], std::vector<id>{0}));
    CHECK(ranges::equal(nodes.parameters[1], std::vector<id>{w}));
    REQUIRE(nodes.passed.size() == 3);
    CHECK(nodes.passed[0].vertex == quantize);
    CHECK(nodes.passed[0].behind == relu);
    CHECK(nodes.passed[1].vertex == dequantize);
    CHECK(nodes.passed[1].behind == relu);
    CHECK(nodes.passed[2].vertex == weight);
    CHECK(nodes.passed[2].behind == no_id);
    auto program = stemma::detail::aligned_nodes_finder(
        graph, stemma::detail::run_order::as_written, {}, {.quantizes = true});
    CHECK(program.find().vertex == std::vector<id>{relu, quantize, dequantize, weight, gemm});
}

TEST_CASE("aligned_nodes: data pass Casts of parameters, inputs and results", "[alignment]") {
    test::exported_graph graph;
    const auto w = graph.parameter("w", {4, 8});
    const auto input = graph.add("Cast", {no_id});
    const auto weight = graph.add("Cast", {}, {w});
    const auto gemm = graph.add("Gemm", {input, weight});
    const auto inside = graph.add("Cast", {gemm});
    const auto relu = graph.add("Relu", {inside});
    const auto result = graph.add("Cast", {relu});
    graph.finish();
    const auto find = [&](bool inputs, bool results) {
        return stemma::detail::aligned_nodes_finder(
                   graph, stemma::detail::run_order::as_written, {},
                   {.casts_inputs = inputs, .casts_results = results})
            .find();
    };
    const auto none = find(false, false);
    CHECK(none.vertex == std::vector<id>{gemm, inside, relu});
    CHECK(ranges::equal(none.parameters[0], std::vector<id>{w}));
    CHECK(none.passed.back().vertex == result);
    CHECK(none.passed.back().behind == relu);
    CHECK(find(true, false).vertex == std::vector<id>{input, gemm, inside, relu});
    CHECK(find(false, true).vertex == std::vector<id>{gemm, inside, relu, result});
}

TEST_CASE("aligned_nodes: of inputs and of results, the one that ran first is first",
          "[alignment]") {
    test::exported_graph graph;
    const auto left = graph.add("Relu", {no_id});
    const auto right = graph.add("Tanh", {no_id});
    const auto both = graph.add("Add", {left, right});
    const auto alone = graph.add("Exp", {no_id});
    graph.finish();
    const auto order_of = [&](const std::vector<id>& ran) {
        return stemma::detail::aligned_nodes_finder(graph, stemma::detail::run_order::as_read, ran)
            .find()
            .vertex;
    };
    CHECK(order_of({}) == std::vector<id>{left, right, both, alone});
    CHECK(order_of({2, 1, 3, 4}) == std::vector<id>{right, left, both, alone});
    CHECK(order_of({2, 3, 4, 1}) == std::vector<id>{alone, left, right, both});
}

TEST_CASE("aligned_nodes: what makes the first result of the model comes first", "[alignment]") {
    test::exported_graph graph;
    const auto left = graph.add("Relu", {no_id});
    const auto right = graph.add("Tanh", {no_id});
    graph.set_result_makers({right, left});
    graph.finish();
    const auto order_of = [&](const std::vector<id>& ran) {
        return stemma::detail::aligned_nodes_finder(graph, stemma::detail::run_order::as_read, ran)
            .find()
            .vertex;
    };
    CHECK(order_of({}) == std::vector<id>{right, left});
    CHECK(order_of({1, 2}) == std::vector<id>{left, right});
}

TEST_CASE("aligned_nodes: a Reshape before a Gemm flattens if another one follows", "[alignment]") {
    const auto flattens = [](const char* product, bool restores) {
        test::exported_graph graph;
        const auto reshaped = graph.add("Reshape", {no_id});
        const auto multiplied = graph.add(product, {reshaped});
        graph.add(restores ? "Reshape" : "Relu", {multiplied});
        graph.finish();
        return stemma::detail::aligned_nodes_finder(graph).find().flattens(0);
    };
    CHECK(flattens("Gemm", true));
    CHECK_FALSE(flattens("Gemm", false));
    CHECK_FALSE(flattens("MatMul", true));
}

} // namespace test::align_detail_aligned_nodes
