// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/join_fused.hpp>

#include "../../alignment_scene.hpp"
#include "../../catch.hpp"

#include <stemma/align/align.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::align_detail_join_fused {

using stemma::id;
using stemma::no_id;

namespace {

/// Layers and activations of blocks as captured, and operators that a runtime fused from them.
struct scene : test::alignment_scene {
    id block = add_module();
    id layer = add_module(block);
    id activation = add_module(block);

    id run(id module, const char* name, id source) {
        captured.add({module, 0, true, false}, name);
        source == no_id ? captured.add_input() : captured.add_source(source);
        return captured.size() - 1;
    }

    void read(const std::string& name, std::vector<std::int64_t> shape) {
        captured.add_parameter(name, shape);
    }

    /// A layer, its activation and a layer of module `next` read each other; `source` is first.
    void run_two_layers(id next, id source) {
        const auto conv = run(layer, "torch.conv2d", source);
        read("a.weight", {8, 3, 3, 3});
        const auto relu = run(activation, "torch.nn.functional.relu", conv);
        run(next, "torch.conv2d", relu);
        read("b.weight", {4, 8, 1, 1});
    }

    [[nodiscard]] stemma::alignment aligned() {
        graph.finish();
        return stemma::align(graph, tree(), captured, {}, graph.shapes);
    }
};

} // namespace

TEST_CASE("join_fused: a missing activation was fused into the layer before it", "[alignment]") {
    scene s;
    const auto next = s.add_module();
    s.run_two_layers(next, no_id);
    const auto w = s.graph.parameter("a.weight", {8, 3, 3, 3});
    const auto v = s.graph.parameter("b.weight", {4, 8, 1, 1});
    const auto first = s.graph.add("FusedConv", {no_id}, {w});
    const auto second = s.graph.add("FusedConv", {first}, {v});
    const auto aligned = s.aligned();
    CHECK(aligned.of[first].module == s.block);
    CHECK(aligned.of[first].call == no_id);
    CHECK(aligned.of[first].exact);
    CHECK(aligned.of[second].module == next);
    CHECK(aligned.quality() == 1);
}

TEST_CASE("join_fused: neither what a layer reads nor the next layer is part of it",
          "[alignment]") {
    scene s;
    const auto before = s.add_module();
    const auto next = s.add_module();
    const auto sigmoid = s.run(before, "torch.sigmoid", no_id);
    s.run_two_layers(next, sigmoid);
    const auto w = s.graph.parameter("a.weight", {8, 3, 3, 3});
    const auto fused = s.graph.add("FusedConv", {no_id}, {w});
    CHECK(s.aligned().of[fused].module == s.block);
}

TEST_CASE("join_fused: a remaining activation is not part of its layer", "[alignment]") {
    scene s;
    const auto conv = s.run(s.layer, "torch.conv2d", no_id);
    s.run(s.activation, "torch.nn.functional.relu", conv);
    const auto first = s.graph.add("FusedConv", {no_id});
    const auto second = s.graph.add("Relu", {first});
    const auto aligned = s.aligned();
    CHECK(aligned.of[first].module == s.layer);
    CHECK(aligned.of[second].module == s.activation);
}

TEST_CASE("join_fused: a sum was fused into the later of the layers that it adds", "[alignment]") {
    scene s;
    const auto first = s.run(s.layer, "torch.conv2d", no_id);
    s.read("a.weight", {8, 3, 3, 3});
    const auto other = s.add_module(s.block);
    const auto second = s.run(other, "torch.conv2d", no_id);
    s.read("b.weight", {8, 3, 1, 1});
    s.run(s.block, "torch.Tensor.add", first);
    s.captured.add_source(second);
    const auto w = s.graph.parameter("a.weight", {8, 3, 3, 3});
    const auto v = s.graph.parameter("b.weight", {8, 3, 1, 1});
    const auto alone = s.graph.add("FusedConv", {no_id}, {w});
    const auto adding = s.graph.add("FusedConv", {no_id, alone}, {v});
    const auto aligned = s.aligned();
    CHECK(aligned.of[alone].module == s.layer);
    CHECK(aligned.of[adding].module == s.block);
}

TEST_CASE("join_fused: a sum of two results is no part of a layer that reads one", "[alignment]") {
    scene s;
    const auto before = s.run(s.activation, "torch.tanh", no_id);
    const auto relu = s.run(s.activation, "torch.relu", before);
    const auto linear = s.run(s.layer, "torch.nn.functional.linear", relu);
    s.read("fc.weight", {8, 8});
    s.read("fc.bias", {8});
    const auto dropped = s.run(s.add_module(s.block), "torch.nn.functional.dropout", linear);
    const auto sum = s.run(s.block, "torch.Tensor.add", before);
    s.captured.add_source(dropped);
    s.run(s.add_module(s.block), "torch.nn.functional.layer_norm", sum);
    s.read("norm.weight", {8});
    const auto w = s.graph.parameter("fc.weight", {8, 8});
    const auto b = s.graph.parameter("fc.bias", {8});
    const auto n = s.graph.parameter("norm.weight", {8});
    const auto tanh = s.graph.add("Tanh", {no_id});
    const auto activated = s.graph.add("Relu", {tanh});
    const auto product = s.graph.add("DynamicQuantizeMatMul", {activated}, {w, b});
    const auto skip = s.graph.add("SkipLayerNormalization", {tanh, product}, {n});
    const auto aligned = s.aligned();
    CHECK(aligned.of[product].module == s.layer);
    CHECK(aligned.of[skip].module == s.block);
}

TEST_CASE("join_fused: the owners of a fused operator's parameters are included", "[alignment]") {
    scene s;
    const auto linear = s.run(s.layer, "torch.nn.functional.linear", no_id);
    s.read("dense.weight", {8, 8});
    s.read("dense.bias", {8});
    s.run(s.activation, "torch.nn.functional.gelu", linear);
    const auto w = s.graph.parameter("dense.weight", {8, 8});
    const auto b = s.graph.parameter("dense.bias", {8});
    const auto product = s.graph.add("MatMul", {no_id}, {w});
    const auto fused = s.graph.add("BiasGelu", {product}, {b});
    const auto aligned = s.aligned();
    CHECK(aligned.of[product].module == s.layer);
    CHECK(aligned.of[fused].module == s.block);
    CHECK(aligned.contradicted == 0);
}

TEST_CASE("join_fused: an attention covers everything that ran between its neighbours",
          "[alignment]") {
    scene s;
    const auto heads = s.add_module(s.block);
    const auto out = s.add_module();
    const auto linear = s.run(s.layer, "torch.nn.functional.linear", no_id);
    const auto scores = s.run(heads, "torch.matmul", linear);
    const auto weights = s.run(s.activation, "torch.nn.functional.softmax", scores);
    const auto mixed = s.run(heads, "torch.matmul", weights);
    s.run(out, "torch.tanh", mixed);
    const auto fused = s.graph.add("Attention", {no_id});
    const auto last = s.graph.add("Tanh", {fused});
    const auto aligned = s.aligned();
    CHECK(aligned.of[fused].module == s.block);
    CHECK(aligned.of[last].module == out);
}

} // namespace test::align_detail_join_fused
