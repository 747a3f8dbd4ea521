// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/captured_order.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/core/id.hpp>

#include <vector>

namespace test::align_detail_captured_order {

using stemma::id;
using stemma::no_id;
using stemma::detail::captured_order_finder;

namespace {

/// Two equal operations, of which the last one reads both; the second by a third, that left
/// nothing.
struct scene {
    stemma::captured_operations captured;
    test::exported_graph graph;
    stemma::alignment aligned;

    explicit scene(const char* reader = "aten.cat.default") {
        for (int i = 0; i < 2; ++i) {
            captured.add({}, "aten.relu.default");
            captured.add_input();
        }
        captured.add({}, "aten.dropout.default");
        captured.add_source(1);
        captured.add({}, reader);
        captured.add_source(0);
        captured.add_source(2);
        const auto a = graph.add("Relu", {no_id});
        const auto b = graph.add("Relu", {no_id});
        graph.add("Concat", {a, b});
        graph.finish();
        aligned.of.resize(3);
        aligned.of[2].operation = 3;
    }

    stemma::detail::captured_order find(id first, id second) {
        aligned.of[0].operation = first;
        aligned.of[1].operation = second;
        return captured_order_finder(graph, captured, aligned).find();
    }
};

} // namespace

TEST_CASE("captured_order: operands are where they were captured", "[alignment]") {
    const auto order = scene().find(0, 1);
    CHECK(order.crossed == 0);
    CHECK(order.operation == std::vector<id>{0, 1, 3});
}

TEST_CASE("captured_order: exchanged operands stand for each other's operations", "[alignment]") {
    const auto order = scene().find(1, 0);
    CHECK(order.crossed == 1);
    CHECK(order.operation == std::vector<id>{0, 2, 3});
}

TEST_CASE("captured_order: operands that exporters swap are no evidence", "[alignment]") {
    for (const auto* reader :
         {"aten.rsub.Scalar", "torch.rsub", "aten.kl_div.default", "torch.Tensor.masked_fill"}) {
        CHECK(scene(reader).find(1, 0).crossed == 0);
    }
}

TEST_CASE("captured_order: operands of unknown operations are no evidence", "[alignment]") {
    const auto order = scene().find(no_id, 0);
    CHECK(order.crossed == 0);
    CHECK(order.operation == std::vector<id>{no_id, 0, 3});
}

} // namespace test::align_detail_captured_order
