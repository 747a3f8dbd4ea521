// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/alignment_judge.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/alignment.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test::align_detail_alignment_judge {

using stemma::id;
using stemma::no_id;

namespace {

/// @returns the counts, and what is still claimed, if every operator comes from the operation at
/// its place.
template <class Ops = test::exported_graph>
stemma::alignment judged(test::alignment_scene& scene, const std::vector<id>& operations,
                         const Ops& ops = {}) {
    scene.graph.finish();
    const auto nodes = stemma::detail::aligned_nodes_finder(scene.graph).find();
    const stemma::detail::alignment_weights weights;
    const auto items = stemma::detail::describe_items(scene.captured, nodes.types,
                                                      stemma::torch_lexicon{}, weights);
    const stemma::detail::parameter_scores parameters(scene.graph, scene.captured, {},
                                                      scene.graph.shapes, weights);
    stemma::detail::alignment_judge judge(nodes, items, scene.captured, parameters, operations);
    stemma::alignment result;
    result.of.resize(scene.graph.size());
    for (id n = 0; n < nodes.size(); ++n) {
        result.of[nodes.vertex[n]].operation = operations[n];
        judge.judge(n, operations[n], false, result);
    }
    judge.withdraw_unconfirmed(result);
    judge.excuse_uniform(ops, result);
    return result;
}

/// Operators whose parameters are numbers repeated, all but the first.
struct uniform_graph : test::exported_graph {
    static void keep_uniform(std::vector<bool>& marked) { marked.front() = false; }
};

} // namespace

TEST_CASE("alignment_judge: numbers repeated that no operation reads are no parameters",
          "[alignment]") {
    test::alignment_scene scene;
    scene.capture(0, "torch.nn.functional.linear", {test::alignment_scene::tensor{}});
    scene.captured.add_parameter("weight", std::vector<std::int64_t>{7, 5});
    const auto weight = scene.graph.parameter("w", {3, 2});
    const auto zeros = scene.graph.parameter("zeros", {2, 3});
    scene.export_node(0, "Gemm", {no_id}, {weight, zeros});
    CHECK(judged(scene, {0}).reads == 2);
    uniform_graph graph;
    graph.parameter("w", {3, 2});
    graph.parameter("zeros", {2, 3});
    CHECK(judged(scene, {0}, graph).reads == 1);
}

TEST_CASE("alignment_judge: counts what fits, flows and agrees", "[alignment]") {
    test::alignment_scene scene;
    const auto x = scene.relu(scene.linear({}, scene.add_module()), 0);
    static_cast<void>(scene.linear(x, scene.add_module(), 16));
    const auto right = judged(scene, {0, 0, 1, 2, 2});
    CHECK(right.explained == 5);
    CHECK(right.links == 2);
    CHECK(right.flows == 2);
    CHECK(right.reads == 2);
    CHECK(right.agreed == 2);
    const auto exchanged = judged(scene, {2, 2, 1, 0, 0});
    CHECK(exchanged.links == 2);
    CHECK(exchanged.flows == 0);
    CHECK(exchanged.agreed == 0);
}

TEST_CASE("alignment_judge: operators of which neither data flow nor a parameter is confirmed "
          "claim nothing",
          "[alignment]") {
    test::alignment_scene scene;
    const auto x = scene.relu(scene.linear({}, scene.add_module()), 0);
    static_cast<void>(scene.linear(x, scene.add_module(), 16));
    const auto claimed = [&](const std::vector<id>& operations) {
        std::size_t count = 0;
        for (const auto& entry : judged(scene, operations).of) {
            count += entry.operation == no_id ? 0U : 1U;
        }
        return count;
    };
    CHECK(claimed({0, 0, 1, 2, 2}) == 5);
    CHECK(claimed({2, 2, 1, 0, 0}) == 0);
    CHECK(claimed({0, 0, 0, 2, 2}) == 5); // parameters confirm them
    CHECK(claimed({1, 1, 1, 1, 1}) == 5); // they exchange data only among themselves
    scene.export_node(0, "Neg", {x.node});
    CHECK(claimed({0, 0, 1, 2, 2, 1}) == 6);
    CHECK(claimed({0, 0, 1, 2, 2, 0}) == 5); // apart from the others of its operation
}

TEST_CASE("alignment_judge: what two operations compute alike may be there once", "[alignment]") {
    // Both the program and the variance subtract the mean.
    test::alignment_scene scene;
    const auto x = scene.relu({}, 0);
    scene.capture(0, "torch.Tensor.mean", {x});
    const auto mean = scene.last(scene.export_node(0, "ReduceMean", {x.node}));
    scene.capture(0, "torch.Tensor.var", {x});
    const auto variance = mean.operation + 1;
    scene.capture(0, "torch.Tensor.sub", {x, mean});
    const auto centred = scene.last(scene.export_node(0, "Sub", {x.node, mean.node}));
    const auto square = scene.export_node(0, "Mul", {centred.node, centred.node});
    scene.export_node(0, "ReduceMean", {square});
    const std::vector<id> operations{x.operation, mean.operation, centred.operation, variance,
                                     variance};
    const auto shared = judged(scene, operations);
    CHECK(shared.links == 3);
    CHECK(shared.flows == shared.links);
    const auto weight = scene.graph.parameter("w", {8}); // makes it another computation
    const auto other = scene.export_node(0, "Sub", {x.node}, {weight});
    scene.export_node(0, "Mul", {other, other});
    auto further = operations;
    further.insert(further.end(), {centred.operation, variance});
    const auto apart = judged(scene, further);
    CHECK(apart.links == 5);
    CHECK(apart.flows == 4);
}

TEST_CASE("alignment_judge: a parameter that another operation reads is a contradiction",
          "[alignment]") {
    test::alignment_scene scene(true);
    const auto x = scene.linear({}, scene.add_module());
    static_cast<void>(scene.linear(x, scene.add_module()));
    CHECK(judged(scene, {0, 0, 1, 1}).contradicted == 0);
    CHECK(judged(scene, {1, 1, 0, 0}).contradicted > 0);
}

} // namespace test::align_detail_alignment_judge
