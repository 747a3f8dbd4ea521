// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/parameter_scores.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <cstdint>
#include <vector>

namespace test::align_detail_parameter_scores {

using stemma::id;
using stemma::detail::alignment_weights;
using stemma::detail::are_alike;

TEST_CASE("are_alike: transposed or padded shapes may be the same tensor", "[alignment]") {
    using shape = std::vector<std::int64_t>;
    CHECK(are_alike(shape{4, 8}, shape{8, 4}));
    CHECK(are_alike(shape{4, 8}, shape{1, 4, 8}));
    CHECK(are_alike(shape{}, shape{1}));
    CHECK_FALSE(are_alike(shape{4, 8}, shape{4, 4}));
    CHECK_FALSE(are_alike(shape{4, 8}, shape{32}));
    CHECK_FALSE(are_alike(shape{2, 2, 8}, shape{4, 8}));
}

TEST_CASE("parameter_scores: names count first, then shapes; combined parameters are unknown",
          "[alignment]") {
    test::exported_graph graph;
    const auto named = graph.parameter("fc.weight", {4, 8});
    const auto renamed = graph.parameter("w1", {8, 4});
    const auto other = graph.parameter("w2", {5, 7});
    const auto joined = graph.parameter("w3", {2, 4, 8});
    const auto bias = graph.parameter("w4", {9});
    const auto half = graph.parameter("w5", {2, 8});
    const auto padded = graph.parameter("w6", {7, 9});
    const auto stacked = graph.parameter("w7", {2, 6});
    graph.finish();
    stemma::captured_operations captured;
    captured.add({}, "linear");
    captured.add_parameter("fc.weight", std::vector<std::int64_t>{4, 8});
    captured.add_parameter("fc.bias", std::vector<std::int64_t>{4});
    captured.add({}, "linear");
    captured.add_parameter("head.weight", std::vector<std::int64_t>{3, 11});
    captured.add({}, "lstm");
    captured.add_parameter("rnn.bias_ih", std::vector<std::int64_t>{6});
    captured.add_parameter("rnn.bias_hh", std::vector<std::int64_t>{6});
    const alignment_weights weights;
    const stemma::detail::parameter_scores scores(graph, captured, {}, graph.shapes, weights);
    CHECK(scores.agrees(named, 0) == true);
    CHECK(scores.agrees(named, 1) == false);
    CHECK(scores.agrees(renamed, 0) == true);
    CHECK(scores.agrees(renamed, 1) == false);
    CHECK(scores.agrees(other, 0) == false);
    CHECK_FALSE(scores.agrees(joined, 0).has_value());
    CHECK(scores.agrees(half, 0) == false); // a bias is no part of a matrix
    CHECK_FALSE(scores.agrees(padded, 0).has_value());
    CHECK_FALSE(scores.agrees(stacked, 2).has_value()); // of two biases
    CHECK_FALSE(scores.agrees(bias, 0).has_value());
    CHECK(scores.is_named(named));
    CHECK_FALSE(scores.is_named(renamed));
    const auto value = [&](id p, id item) { return scores.of(std::vector{p}, item, true); };
    CHECK(value(named, 0) > value(renamed, 0));
    CHECK(value(renamed, 0) > value(other, 0));
    CHECK(value(other, 0) > value(named, 1));
    REQUIRE(scores.readers(named).size() == 1);
    CHECK(scores.readers(named).front() == 0);
    CHECK(scores.readers(renamed).empty());
}

TEST_CASE("parameter_scores: constant results may have become parameters", "[alignment]") {
    test::exported_graph graph;
    const auto table = graph.parameter("w0", {4, 9, 9});
    graph.finish();
    stemma::captured_operations captured;
    captured.add({}, "index"); // of a parameter, with numbers
    captured.add_parameter("bias_table", std::vector<std::int64_t>{17, 4});
    captured.add({}, "relu");
    captured.add_input();
    captured.add({}, "add");
    captured.add_source(0);
    captured.add_source(1);
    captured.add({}, "add");
    captured.add_source(1);
    captured.add_source(2);
    const alignment_weights weights;
    const stemma::detail::parameter_scores scores(graph, captured, {}, graph.shapes, weights);
    CHECK_FALSE(scores.agrees(table, 2).has_value());
    CHECK(scores.agrees(table, 3) == false);
}

TEST_CASE("parameter_scores: parameters without elements combine to nothing", "[alignment]") {
    test::exported_graph graph;
    const auto matrix = graph.parameter("w0", {4, 8});
    graph.finish();
    stemma::captured_operations captured;
    captured.add({}, "linear");
    captured.add_parameter("fc.weight", std::vector<std::int64_t>{0, 3});
    captured.add_parameter("fc.bias", std::vector<std::int64_t>{0});
    const alignment_weights weights;
    const stemma::detail::parameter_scores scores(graph, captured, {}, graph.shapes, weights);
    CHECK(scores.agrees(matrix, 0) == false);
}

TEST_CASE("parameter_scores: a quantized weight is known by the name that it had", "[alignment]") {
    test::exported_graph graph;
    const auto quantized = graph.parameter("fc.weight_quantized", {4, 8});
    const auto scale = graph.parameter("fc.weight_scale", {});
    graph.finish();
    stemma::captured_operations captured;
    captured.add({}, "linear");
    captured.add_parameter("fc.weight", std::vector<std::int64_t>{4, 8});
    const alignment_weights weights;
    const stemma::detail::parameter_scores scores(graph, captured, {}, graph.shapes, weights);
    CHECK(scores.is_named(quantized));
    CHECK_FALSE(scores.is_named(scale));
    CHECK(scores.readers(quantized).size() == 1);
}

} // namespace test::align_detail_parameter_scores
