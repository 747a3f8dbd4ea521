// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/align.hpp>

#include "../alignment_scene.hpp"
#include "../catch.hpp"

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/model/mapped_operators.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/property_map/function_property_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::align_align {

using stemma::alignment;
using stemma::captured_operations;
using stemma::id;
using stemma::no_id;
using test::alignment_scene;

namespace {

alignment align_scene(alignment_scene& scene) {
    scene.graph.finish();
    return stemma::align(scene.graph, scene.tree(), scene.captured, {}, scene.graph.shapes);
}

std::size_t count_wrong(const alignment_scene& scene, const alignment& aligned) {
    std::size_t wrong = 0;
    for (id v = 0; v < scene.graph.size(); ++v) {
        wrong += aligned.of[v].module == scene.truth[v] ? 0U : 1U;
    }
    return wrong;
}

std::size_t count_sure(const alignment& aligned) {
    return static_cast<std::size_t>(
        std::count_if(aligned.of.begin(), aligned.of.end(),
                      [](const auto& attribution) { return attribution.confidence >= 0.9F; }));
}

/// A line of blocks that are all alike.
alignment_scene line_of_blocks(int count, bool named = false) {
    alignment_scene scene(named);
    alignment_scene::tensor x;
    for (int i = 0; i < count; ++i) {
        x = scene.new_block(x);
    }
    return scene;
}

} // namespace

TEST_CASE("align: equal layers in a row are never swapped", "[align]") {
    for (const bool named : {false, true}) {
        auto scene = line_of_blocks(12, named);
        const auto aligned = align_scene(scene);
        CHECK(count_wrong(scene, aligned) == 0);
        CHECK(count_sure(aligned) == scene.graph.size());
        CHECK(aligned.doubts.empty());
        CHECK(aligned.quality() > 0.9);
    }
}

TEST_CASE("align: equal towers side by side are never swapped", "[align]") {
    alignment_scene scene;
    alignment_scene::tensor left;
    alignment_scene::tensor right;
    for (int i = 0; i < 4; ++i) {
        left = scene.new_block(left);
    }
    for (int i = 0; i < 4; ++i) {
        right = scene.new_block(right);
    }
    static_cast<void>(scene.add(left, right, 0));
    const auto aligned = align_scene(scene);
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(count_sure(aligned) == scene.graph.size());
}

TEST_CASE("align: a block called twice keeps its calls apart", "[align]") {
    alignment_scene scene;
    const auto module = scene.add_module();
    const auto first = scene.add_module(module);
    const auto drop = scene.add_module(module);
    const auto second = scene.add_module(module);
    const auto once = scene.block({}, module, first, drop, second, 0);
    const auto half = scene.graph.size();
    const auto between = scene.relu(once, 0);
    static_cast<void>(scene.block(between, module, first, drop, second, 1));
    const auto aligned = align_scene(scene);
    CHECK(count_wrong(scene, aligned) == 0);
    for (id v = 0; v < scene.graph.size(); ++v) {
        CHECK(aligned.of[v].call == (v <= half ? 0U : 1U));
    }
}

TEST_CASE("align: parameter shapes distinguish what nothing else does", "[align]") {
    // The capture has two layers that were not exported.
    alignment_scene scene;
    const auto a = scene.add_module();
    const auto lost = scene.add_module();
    const auto b = scene.add_module();
    const auto x = scene.linear({}, a, 8);
    for (int i = 0; i < 2; ++i) {
        scene.capture(lost, "torch.nn.functional.linear", {x});
        scene.captured.add_parameter("lost.weight", std::vector<std::int64_t>{32, 64});
    }
    static_cast<void>(scene.linear(x, b, 16));
    const auto aligned = align_scene(scene);
    CHECK(count_wrong(scene, aligned) == 0);
}

TEST_CASE("align: an operation may become nothing, one or several operators", "[align]") {
    alignment_scene scene;
    const auto norm = scene.add_module();
    const auto act = scene.add_module();
    const auto x = scene.linear({}, 0);
    scene.capture(norm, "torch.nn.functional.layer_norm", {x});
    const auto mean = scene.export_node(norm, "ReduceMean", {x.node});
    const auto centred = scene.export_node(norm, "Sub", {x.node, mean});
    const auto square = scene.export_node(norm, "Pow", {centred});
    const auto variance = scene.export_node(norm, "ReduceMean", {square});
    const auto root = scene.export_node(norm, "Sqrt", {variance});
    const auto normal = scene.export_node(norm, "Div", {centred, root});
    const auto scale = scene.graph.parameter("scale", {8});
    scene.captured.add_parameter("scale", std::vector<std::int64_t>{8});
    auto y = scene.last(scene.export_node(norm, "Mul", {normal}, {scale}));
    y = scene.dropout(y, 0);
    scene.capture(act, "torch.nn.functional.gelu", {y});
    const auto scaled = scene.export_node(act, "Div", {y.node});
    const auto erf = scene.export_node(act, "Erf", {scaled});
    const auto plus = scene.export_node(act, "Add", {erf});
    const auto product = scene.export_node(act, "Mul", {y.node, plus});
    const auto half = scene.export_node(act, "Mul", {product});
    static_cast<void>(scene.linear(scene.last(half), 0));
    CHECK(count_wrong(scene, align_scene(scene)) == 0);
}

TEST_CASE("align: a long part of the capture that the model lacks is passed over", "[align]") {
    alignment_scene scene;
    const auto folded = scene.add_module();
    const auto rest = scene.add_module();
    auto x = scene.linear({}, 0);
    for (int i = 0; i < 120; ++i) {
        for (int gone = 0; i == 100 && gone < 6; ++gone) {
            scene.capture(folded, "torch.softmax", {x});
        }
        scene.capture(rest, i % 2 == 0 ? "torch.tanh" : "torch.sigmoid", {x});
        x = scene.last(scene.export_node(rest, i % 2 == 0 ? "Tanh" : "Sigmoid", {x.node}));
    }
    scene.capture(rest, "torch.softmax", {x});
    scene.export_node(rest, "Softmax", {x.node});
    CHECK(count_wrong(scene, align_scene(scene)) == 0);
}

TEST_CASE("align: layers of one operation may have shapes between them", "[align]") {
    test::alignment_scene scene;
    const auto table = scene.add_module();
    const auto layers = scene.add_module();
    const auto input = test::alignment_scene::tensor{};
    scene.capture(table, "torch.nn.functional.embedding", {input});
    scene.capture(layers, "torch.lstm", {{0, no_id}});
    scene.capture(0, "torch.tanh", {{1, no_id}});
    const auto looked_up = scene.export_node(table, "Gather", {no_id});
    auto x = scene.export_node(layers, "Transpose", {looked_up});
    for (int layer = 0; layer < 2; ++layer) {
        auto state = scene.export_node(layers, "Shape", {x});
        for (const char* type : {"Gather", "Unsqueeze", "Concat", "Expand"}) {
            state = scene.export_node(layers, type, {state});
        }
        x = scene.export_node(layers, "LSTM", {x, state});
        x = scene.export_node(layers, "Transpose", {x});
    }
    scene.export_node(0, "Tanh", {x});
    scene.graph.finish();
    const auto aligned = stemma::align(scene.graph, scene.tree(), scene.captured);
    for (id v = 0; v < scene.graph.size(); ++v) {
        INFO(v << " " << scene.graph.op_type(v));
        CHECK(aligned.of[v].module == scene.truth[v]);
    }
}

TEST_CASE("align: consecutive normalizations have the same number of operators", "[align]") {
    test::alignment_scene scene(true);
    auto x = no_id;
    for (int i = 0; i < 2; ++i) {
        const auto module = scene.add_module();
        scene.capture(module, "torch.nn.functional.layer_norm", {{i == 0 ? no_id : 0, no_id}});
        const auto name = "n" + std::to_string(i) + ".weight";
        scene.captured.add_parameter(name, std::vector<std::int64_t>{8});
        const auto weight = scene.graph.parameter(name, {8});
        const auto mean = scene.export_node(module, "ReduceMean", {x});
        const auto centred = scene.export_node(module, "Sub", {x, mean});
        const auto square = scene.export_node(module, "Pow", {centred});
        const auto variance = scene.export_node(module, "ReduceMean", {square});
        const auto root = scene.export_node(module, "Sqrt", {variance});
        const auto divided = scene.export_node(module, "Div", {centred, root});
        x = scene.export_node(module, "Mul", {divided}, {weight});
    }
    scene.graph.finish();
    const auto aligned = stemma::align(scene.graph, scene.tree(), scene.captured);
    for (id v = 0; v < scene.graph.size(); ++v) {
        INFO(v << " " << scene.graph.op_type(v));
        CHECK(aligned.of[v].module == scene.truth[v]);
    }
}

TEST_CASE("align: constants follow the operators that read them", "[align]") {
    alignment_scene scene;
    const auto a = scene.add_module();
    const auto b = scene.add_module();
    const auto constant = scene.export_node(b, "Constant", {});
    const auto x = scene.linear({}, a);
    scene.capture(b, "torch.Tensor.mul", {x});
    static_cast<void>(scene.export_node(b, "Mul", {x.node, constant}));
    const auto aligned = align_scene(scene);
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(aligned.of[constant].operation == no_id);
}

TEST_CASE("align: of two branches, the one that ran is found, the other is in doubt", "[align]") {
    alignment_scene scene;
    const auto gate = scene.add_module();
    const auto x = scene.linear({}, 0);
    scene.capture(gate, "aten.relu.default", {x});
    const auto y = scene.last(no_id);
    scene.capture(gate, "aten.exp.default", {y});
    const auto z = scene.last(no_id);
    // then: Relu, Exp; else: Tanh
    const auto relu = scene.export_node(gate, "Relu", {x.node});
    const auto exp = scene.export_node(gate, "Exp", {relu});
    const auto tanh = scene.export_node(gate, "Tanh", {x.node});
    const auto owner = scene.export_node(gate, "If", {exp, tanh});
    scene.graph.set_owner(relu, owner, 1);
    scene.graph.set_owner(exp, owner, 1);
    scene.graph.set_owner(tanh, owner, 2);
    static_cast<void>(scene.linear({z.operation, owner}, 0));
    const auto aligned = align_scene(scene);
    CHECK(aligned.of[relu].module == gate);
    CHECK(aligned.of[exp].module == gate);
    CHECK(aligned.of[tanh].module == gate);
    CHECK(aligned.of[owner].module == no_id);
    CHECK(aligned.of[tanh].confidence < 0.9F);
}

TEST_CASE("align: one body stands for all its runs", "[align]") {
    alignment_scene scene;
    const auto loop = scene.add_module();
    const auto x = scene.linear({}, 0);
    auto y = x;
    for (int i = 0; i < 5; ++i) {
        scene.capture(loop, "aten.tanh.default", {y});
        y = scene.last(no_id);
        scene.capture(loop, "aten.exp.default", {y});
        y = scene.last(no_id);
    }
    const auto tanh = scene.export_node(loop, "Tanh", {x.node});
    const auto exp = scene.export_node(loop, "Exp", {tanh});
    const auto owner = scene.export_node(loop, "Loop", {exp});
    scene.graph.set_owner(tanh, owner);
    scene.graph.set_owner(exp, owner);
    const auto z = scene.linear({y.operation, owner}, 0);
    const auto aligned = align_scene(scene);
    CHECK(aligned.of[tanh].module == loop);
    CHECK(aligned.of[exp].module == loop);
    CHECK(aligned.of[z.node].module == 0);
    CHECK(aligned.quality() > 0.9);
}

TEST_CASE("align: a capture of another model is not trusted", "[align]") {
    auto scene = line_of_blocks(6);
    captured_operations other;
    for (int i = 0; i < 20; ++i) {
        other.add({1, 0, true, true}, i % 2 == 0 ? "torch.nn.functional.conv2d" : "torch.sigmoid");
        other.add_parameter("w" + std::to_string(i), std::vector<std::int64_t>{3, 5, 7, 7});
    }
    scene.graph.finish();
    const auto aligned = stemma::align(scene.graph, scene.tree(), other, {}, scene.graph.shapes);
    CHECK_FALSE(aligned.is_plausible());
    CHECK_FALSE(aligned.doubts.empty());
    CHECK(count_sure(aligned) == 0);
}

TEST_CASE("align: half a capture is not trusted", "[align]") {
    auto whole = line_of_blocks(12);
    auto half = line_of_blocks(5);
    whole.graph.finish();
    const auto aligned =
        stemma::align(whole.graph, whole.tree(), half.captured, {}, whole.graph.shapes);
    CHECK_FALSE(aligned.doubts.empty());
    CHECK(count_sure(aligned) == 0);
}

TEST_CASE("align: a fault in the capture lowers all confidence, and is passed on", "[align]") {
    auto scene = line_of_blocks(4);
    scene.captured.add_fault("the trace ends inside module 'x': it is truncated");
    const auto aligned = align_scene(scene);
    CHECK(count_sure(aligned) == 0);
    REQUIRE(aligned.doubts.size() == 1);
    CHECK(aligned.doubts.front().find("is truncated") != std::string::npos);
}

TEST_CASE("align: layers in another order than the names of their parameters are in doubt",
          "[align]") {
    // The capture ran the second layer first; in the export the names show which is which.
    alignment_scene scene(true);
    const auto a = scene.add_module();
    const auto b = scene.add_module();
    const auto x = scene.linear({}, a);
    static_cast<void>(scene.linear(x, b));
    captured_operations swapped;
    for (const auto m : {b, a}) {
        swapped.add({m, 0, true, true}, "torch.nn.functional.linear");
        const auto path = "m" + std::to_string(m);
        swapped.add_parameter(path + ".weight", std::vector<std::int64_t>{8, 8});
        swapped.add_parameter(path + ".bias", std::vector<std::int64_t>{8});
    }
    scene.graph.finish();
    const auto aligned = stemma::align(scene.graph, scene.tree(), swapped, {}, scene.graph.shapes);
    for (id v = 0; v < scene.graph.size(); ++v) {
        CHECK((aligned.of[v].module == scene.truth[v] || aligned.of[v].confidence < 0.9F));
    }
    CHECK_FALSE(aligned.doubts.empty());
}

TEST_CASE("align: of equal layers, names tell which one an optimizer removed", "[align]") {
    alignment_scene scene;
    const auto gone = scene.add_module();
    const auto left = scene.add_module();
    scene.capture(gone, "torch.nn.functional.linear", {alignment_scene::tensor{}});
    scene.captured.add_parameter("gone.weight", std::vector<std::int64_t>{8, 8});
    scene.captured.add_parameter("gone.bias", std::vector<std::int64_t>{8});
    static_cast<void>(scene.linear(scene.last(no_id), left));
    scene.graph.finish();
    const auto align_stated = [&](const std::vector<stemma::detail::stated_module>& stated) {
        return stemma::align(scene.graph, scene.tree(), scene.captured, {}, scene.graph.shapes,
                             stemma::torch_lexicon(), stated);
    };
    CHECK(align_stated({}).of[0].module == gone);
    const auto aligned = align_stated({{left, 0.95F, true}, {}});
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(align_stated({{0, 0.95F, true}, {}}).of[0].module == gone); // the caller of both
}

TEST_CASE("align: names tell equal branches apart that nothing reads together", "[align]") {
    alignment_scene scene;
    const auto left = scene.add_module();
    const auto right = scene.add_module();
    scene.capture(left, "torch.tanh", {alignment_scene::tensor{}});
    scene.capture(right, "torch.tanh", {alignment_scene::tensor{}});
    static_cast<void>(scene.export_node(right, "Tanh", {no_id}));
    static_cast<void>(scene.export_node(left, "Tanh", {no_id}));
    scene.graph.set_result_makers({1, 0});
    scene.graph.finish();
    const auto aligned = stemma::align(
        scene.graph, scene.tree(), scene.captured, {}, scene.graph.shapes, stemma::torch_lexicon(),
        std::vector<stemma::detail::stated_module>{{right, 0.88F, false}, {left, 0.88F, false}});
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(count_sure(aligned) == 2);
}

TEST_CASE("align: what fits its readers better stays where its name says", "[align]") {
    alignment_scene scene;
    const auto layer = scene.add_module();
    scene.capture(layer, "torch.nn.functional.linear", {alignment_scene::tensor{}});
    scene.captured.add_parameter("layer.weight", std::vector<std::int64_t>{8, 8});
    const auto linear = scene.last(no_id);
    scene.capture(0, "torch.Tensor.__getitem__", {linear});
    const auto w = scene.graph.parameter("layer.weight", {8, 8});
    const auto product = scene.export_node(layer, "Gemm", {no_id}, {w});
    const auto reshaped = scene.export_node(layer, "Reshape", {product});
    static_cast<void>(scene.export_node(0, "Gather", {reshaped}));
    scene.graph.finish();
    const auto module_of_reshaped = [&](const std::vector<stemma::detail::stated_module>& stated) {
        return stemma::align(scene.graph, scene.tree(), scene.captured, {}, scene.graph.shapes,
                             stemma::torch_lexicon(), stated)
            .of[reshaped]
            .module;
    };
    CHECK(module_of_reshaped({}) == 0);
    CHECK(module_of_reshaped({{}, {layer, 0.88F, false}, {}}) == layer);
}

TEST_CASE("align: a Reshape that a Gemm requires belongs to the Gemm", "[align]") {
    alignment_scene scene;
    const auto norm = scene.add_module();
    const auto layer = scene.add_module();
    scene.capture(norm, "torch.nn.functional.layer_norm", {alignment_scene::tensor{}});
    scene.capture(layer, "torch.nn.functional.linear", {scene.last(no_id)});
    scene.captured.add_parameter("layer.weight", std::vector<std::int64_t>{8, 8});
    const auto w = scene.graph.parameter("layer.weight", {8, 8});
    const auto normalized = scene.export_node(norm, "LayerNormalization", {no_id});
    const auto flattened = scene.export_node(layer, "Reshape", {normalized});
    const auto product = scene.export_node(layer, "Gemm", {flattened}, {w});
    static_cast<void>(scene.export_node(layer, "Reshape", {product}));
    scene.graph.finish();
    const auto aligned = stemma::align(scene.graph, scene.tree(), scene.captured, {},
                                       scene.graph.shapes, stemma::torch_lexicon(), {});
    CHECK(aligned.of[flattened].module == layer);
}

TEST_CASE("align: what only another operation reads does not belong to one that this does not read",
          "[align]") {
    alignment_scene scene;
    const auto a = scene.add_module();
    const auto b = scene.add_module();
    const auto* attention = "torch.nn.functional.multi_head_attention_forward";
    const auto memory = scene.relu({}, 0);
    scene.capture(a, attention, {memory});
    const auto tanh = scene.captured.size();
    scene.capture(0, "torch.tanh", {{tanh - 1, no_id}});
    scene.capture(b, attention, {{tanh, no_id}, memory});
    const auto weight = [&] {
        return scene.graph.parameter("w" + std::to_string(scene.graph.parameter_count()), {8, 8});
    };
    const auto query = scene.export_node(a, "MatMul", {memory.node}, {weight()});
    const auto softmax = scene.export_node(a, "Softmax", {query});
    const auto mixed = scene.export_node(a, "MatMul", {softmax, memory.node});
    const auto key = scene.export_node(b, "MatMul", {memory.node}, {weight()}); // moved here
    const auto target = scene.export_node(0, "Tanh", {mixed});
    const auto other = scene.export_node(b, "MatMul", {target}, {weight()});
    const auto scores = scene.export_node(b, "MatMul", {other, key});
    static_cast<void>(scene.export_node(b, "Softmax", {scores}));
    CHECK(count_wrong(scene, align_scene(scene)) == 0);
}

TEST_CASE("align: what was computed before a Transpose that an optimizer removed stays where it is",
          "[align]") {
    alignment_scene scene;
    const auto norm = scene.add_module();
    const auto head = scene.add_module();
    const auto x = scene.linear({}, head);
    auto y = scene.add(scene.relu(x, 0), x, 0);
    scene.capture(0, "torch.Tensor.transpose", {y});
    y = scene.last(y.node); // removed
    scene.capture(norm, "torch.nn.functional.layer_norm", {y});
    scene.captured.add_parameter("norm.weight", std::vector<std::int64_t>{8});
    const auto weight = scene.graph.parameter("norm.weight", {8});
    const auto mean = scene.export_node(norm, "ReduceMean", {y.node});
    const auto centred = scene.export_node(norm, "Sub", {y.node, mean});
    const auto square = scene.export_node(norm, "Pow", {centred});
    const auto variance = scene.export_node(norm, "ReduceMean", {square});
    const auto safe = scene.export_node(norm, "Add", {variance});
    const auto root = scene.export_node(norm, "Sqrt", {safe});
    const auto divided = scene.export_node(norm, "Div", {centred, root});
    y = scene.last(scene.export_node(norm, "Mul", {divided}, {weight}));
    scene.capture(0, "torch.Tensor.transpose", {y});
    y = scene.last(scene.export_node(0, "Transpose", {y.node}));
    static_cast<void>(scene.linear(y, head));
    CHECK(count_wrong(scene, align_scene(scene)) == 0);
}

TEST_CASE("align: what fits its operation badly is in doubt if its name says otherwise") {
    alignment_scene scene;
    const auto layer = scene.add_module();
    scene.capture(layer, "torch.nn.functional.embedding", {alignment_scene::tensor{}});
    scene.captured.add_parameter("layer.weight", std::vector<std::int64_t>{8, 8});
    const auto w = scene.graph.parameter("layer.weight", {8, 8});
    const auto squeezed = scene.export_node(0, "Squeeze", {no_id});
    static_cast<void>(scene.export_node(layer, "Gather", {squeezed}, {w}));
    scene.graph.finish();
    const auto sureness = [&](id module) {
        const auto aligned =
            stemma::align(scene.graph, scene.tree(), scene.captured, {}, scene.graph.shapes,
                          stemma::torch_lexicon(),
                          std::vector<stemma::detail::stated_module>{{module, 0.88F, false}, {}});
        CHECK(aligned.of[squeezed].module == layer);
        return aligned.of[squeezed].confidence;
    };
    CHECK(sureness(layer) >= 0.5F);
    CHECK(sureness(0) < 0.5F);
}

TEST_CASE("align: having nothing to align is not an error", "[align]") {
    alignment_scene empty;
    CHECK(align_scene(empty).of.empty());
    auto scene = line_of_blocks(1);
    scene.captured = {};
    const auto aligned = align_scene(scene);
    CHECK(count_sure(aligned) == 0);
    CHECK(std::all_of(aligned.of.begin(), aligned.of.end(),
                      [](const auto& attribution) { return attribution.module == no_id; }));
}

TEST_CASE("align: an unsorted graph is sorted first", "[align]") {
    alignment_scene scene;
    const auto a = scene.add_module();
    const auto b = scene.add_module();
    const auto c = scene.add_module();
    // Exported backwards: the last operator has number 0.
    const auto tanh = scene.graph.add("Tanh", {1});
    const auto exp = scene.graph.add("Exp", {2});
    const auto relu = scene.graph.add("Relu", {no_id});
    scene.truth = {c, b, a};
    scene.capture(a, "aten.relu.default", {alignment_scene::tensor{}});
    scene.capture(b, "aten.exp.default", {scene.last(relu)});
    scene.capture(c, "aten.tanh.default", {scene.last(exp)});
    CHECK(count_wrong(scene, align_scene(scene)) == 0);
    CHECK(tanh == 0);
}

TEST_CASE("align: branches reordered by an optimizer are found by data flow", "[align]") {
    alignment_scene scene;
    struct branch {
        id module;
        std::vector<std::string> steps;
        id end;
    };
    std::vector<branch> branches{
        {scene.add_module(), {"relu", "tanh", "relu"}, no_id},
        {scene.add_module(), {"exp", "sin", "relu", "tanh", "relu"}, no_id}};
    std::vector<id> results;
    for (const auto& [module, steps, end] : branches) {
        alignment_scene::tensor x;
        for (const auto& step : steps) {
            scene.capture(module, "aten." + step + ".default", {x});
            x.operation = scene.captured.size() - 1;
        }
        results.push_back(x.operation);
    }
    scene.captured.add({0, 0, true, false}, "aten.cat.default");
    for (auto source : results) {
        scene.captured.add_source(source);
    }
    for (auto it = branches.rbegin(); it != branches.rend(); ++it) {
        id from = no_id;
        for (auto type : it->steps) {
            type[0] = static_cast<char>(type[0] - 'a' + 'A');
            from = scene.export_node(it->module, type, {from});
        }
        it->end = from;
    }
    scene.export_node(0, "Concat", {branches[0].end, branches[1].end});
    const auto aligned = align_scene(scene);
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(aligned.flows == aligned.links);
}

TEST_CASE("align: results in exchanged order are told apart by their order in the model",
          "[align]") {
    // Two heads that differ only in their last weight, which an optimizer wrote in reverse.
    alignment_scene scene;
    const std::vector<id> heads{scene.add_module(), scene.add_module()};
    for (const auto head : heads) {
        scene.capture(head, "torch.nn.functional.linear", {alignment_scene::tensor{}});
        scene.captured.add_parameter("first", std::vector<std::int64_t>{8, 8});
        scene.capture(head, "torch.nn.functional.linear", {scene.last(no_id)});
        scene.captured.add_parameter("last",
                                     std::vector<std::int64_t>{head == heads[0] ? 2 : 4, 8});
        scene.captured.add_parameter("bias", std::vector<std::int64_t>{head == heads[0] ? 2 : 4});
    }
    std::vector<id> results(heads.size());
    for (const std::size_t k : {1U, 0U}) {
        const auto first = scene.graph.parameter("w", {8, 8});
        const auto last = scene.graph.parameter("w", {k == 0 ? 2 : 4, 8});
        const auto product = scene.export_node(heads[k], "MatMul", {no_id}, {first});
        results[k] = scene.export_node(heads[k], "MatMul", {product}, {last});
    }
    scene.graph.set_result_makers(results);
    const auto found = align_scene(scene);
    CHECK(count_wrong(scene, found) == 0);
    CHECK(found.agreed == found.reads);
}

TEST_CASE("align: equal branches in exchanged order are told apart by their reader", "[align]") {
    const bool first_is_read_first = GENERATE(true, false);
    alignment_scene scene;
    const std::vector<id> modules{scene.add_module(), scene.add_module(), scene.add_module()};
    std::vector<id> results;
    for (auto module : modules) {
        scene.capture(module, "aten.relu.default", {alignment_scene::tensor{}});
        scene.capture(module, "aten.tanh.default", {scene.last(no_id)});
        results.push_back(scene.captured.size() - 1);
    }
    std::vector<id> ends(modules.size());
    for (const std::size_t k : {2U, 0U, 1U}) {
        const auto relu = scene.export_node(modules[k], "Relu", {no_id});
        ends[k] = scene.export_node(modules[k], "Tanh", {relu});
    }
    if (!first_is_read_first) {
        std::reverse(results.begin(), results.end());
        std::reverse(ends.begin(), ends.end());
    }
    scene.captured.add({0, 0, true, false}, "aten.cat.default");
    for (auto source : results) {
        scene.captured.add_source(source);
    }
    scene.export_node(0, "Concat", {ends[0], ends[1], ends[2]});
    CHECK(count_wrong(scene, align_scene(scene)) == 0);
}

TEST_CASE("align: attention without names is told apart by what reads what", "[align]") {
    alignment_scene scene;
    alignment_scene::tensor x;
    for (int layer = 0; layer < 3; ++layer) {
        const auto self = scene.add_module();
        const auto query = scene.add_module(self);
        const auto key = scene.add_module(self);
        const auto value = scene.add_module(self);
        const auto out = scene.add_module(self);
        // Captured in the order of the program.
        auto& captured = scene.captured;
        const auto run = [&](id module, const char* name, std::vector<id> sources) {
            captured.add({module, 0, true, true}, name);
            for (const auto source : sources) {
                captured.add_source(source);
            }
            return captured.size() - 1;
        };
        const std::vector<std::int64_t> square{8, 8};
        const auto layer_of = [&](id module, std::vector<id> sources) {
            const auto product = run(module, "torch.nn.functional.linear", std::move(sources));
            captured.add_parameter("w" + std::to_string(module), square);
            return product;
        };
        const auto input = x.operation == no_id ? std::vector<id>{} : std::vector<id>{x.operation};
        const auto mixed = layer_of(query, input);
        const auto k = layer_of(key, input);
        const auto k_heads =
            run(self, "torch.Tensor.permute", {run(self, "torch.Tensor.view", {k})});
        const auto v = layer_of(value, input);
        run(self, "torch.Tensor.size", {v});
        const auto v_heads =
            run(self, "torch.Tensor.permute", {run(self, "torch.Tensor.view", {v})});
        const auto q_heads =
            run(self, "torch.Tensor.permute", {run(self, "torch.Tensor.view", {mixed})});
        const auto scores = run(self, "torch.matmul", {q_heads, k_heads});
        const auto softmax = run(self, "torch.nn.functional.softmax", {scores});
        const auto context = run(self, "torch.matmul", {softmax, v_heads});
        const auto joined = run(self, "torch.Tensor.view", {context});
        x.operation = layer_of(out, {joined});
        // Written by an optimizer: keys first, values where they are read.
        const auto weights = [&] {
            return scene.graph.parameter("p" + std::to_string(scene.graph.parameter_count()),
                                         square);
        };
        const auto heads = [&](id module) {
            const auto product = scene.export_node(module, "MatMul", {x.node}, {weights()});
            const auto shaped = scene.export_node(self, "Reshape", {product});
            return scene.export_node(self, "Transpose", {shaped});
        };
        const auto keys = heads(key);
        const auto queries = heads(query);
        const auto product = scene.export_node(self, "MatMul", {queries, keys});
        const auto shares = scene.export_node(self, "Softmax", {product});
        const auto values = heads(value);
        const auto mean = scene.export_node(self, "MatMul", {shares, values});
        const auto whole = scene.export_node(self, "Reshape", {mean});
        x.node = scene.export_node(out, "MatMul", {whole}, {weights()});
    }
    const auto aligned = align_scene(scene);
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(count_sure(aligned) == scene.graph.size());
}

TEST_CASE("align: the branch that ran may be any, and has the operators that fit", "[align]") {
    alignment_scene scene;
    const auto gate = scene.add_module();
    const auto other = scene.add_module();
    const auto x = scene.linear({}, 0);
    scene.capture(gate, "aten.relu.default", {x});
    scene.capture(gate, "aten.exp.default", {scene.last(no_id)});
    const auto y = scene.last(no_id);
    // else: Relu, Sin, Cos; then: Relu, Exp
    const auto begin = scene.export_node(gate, "Relu", {x.node});
    const auto sin = scene.export_node(gate, "Sin", {begin});
    const auto cos = scene.export_node(gate, "Cos", {sin});
    const auto relu = scene.export_node(gate, "Relu", {x.node});
    const auto exp = scene.export_node(gate, "Exp", {relu});
    const auto owner = scene.export_node(gate, "If", {cos, exp});
    for (auto v : {begin, sin, cos}) {
        scene.graph.set_owner(v, owner, 1);
    }
    for (auto v : {relu, exp}) {
        scene.graph.set_owner(v, owner, 2);
    }
    scene.capture(other, "aten.tanh.default", {y});
    static_cast<void>(scene.export_node(other, "Tanh", {owner}));
    const auto aligned = align_scene(scene);
    CHECK(aligned.of[relu].confidence > aligned.of[begin].confidence);
    CHECK(aligned.of[exp].module == gate);
    CHECK(aligned.of[cos].module == gate);
    CHECK(aligned.of[cos].confidence < 0.9F);
    CHECK(aligned.share_inside() == 1);
}

TEST_CASE("align: nothing is claimed about a body that mostly does not fit", "[align]") {
    alignment_scene scene;
    const auto loop = scene.add_module();
    const auto x = scene.linear({}, 0);
    scene.capture(loop, "aten.relu.default", {x});
    const auto y = scene.last(no_id);
    std::vector<id> body{scene.export_node(loop, "Relu", {x.node})};
    for (const char* type : {"Sin", "Cos", "Tan"}) {
        body.push_back(scene.export_node(loop, type, {body.back()}));
    }
    const auto owner = scene.export_node(loop, "Loop", {body.back()});
    for (auto v : body) {
        scene.graph.set_owner(v, owner);
    }
    static_cast<void>(scene.linear({y.operation, owner}, 0));
    const auto aligned = align_scene(scene);
    for (auto v : body) {
        CHECK(aligned.of[v].module == no_id);
    }
    CHECK(aligned.share_inside() < 1);
}

TEST_CASE("align: the order inside a body is found by data flow, too", "[align]") {
    alignment_scene scene;
    const auto loop = scene.add_module();
    const auto x = scene.linear({}, 0);
    auto y = x;
    for (int i = 0; i < 2; ++i) {
        scene.capture(loop, "aten.tanh.default", {y});
        const auto left = scene.last(no_id);
        scene.capture(loop, "aten.exp.default", {y});
        scene.capture(loop, "aten.sub.Tensor", {left, scene.last(no_id)});
        y = scene.last(no_id);
    }
    const auto exp = scene.export_node(loop, "Exp", {no_id});
    const auto tanh = scene.export_node(loop, "Tanh", {no_id});
    const auto difference = scene.export_node(loop, "Sub", {tanh, exp});
    const auto owner = scene.export_node(loop, "Loop", {difference});
    for (auto v : {exp, tanh, difference}) {
        scene.graph.set_owner(v, owner);
    }
    static_cast<void>(scene.linear({y.operation, owner}, 0));
    const auto aligned = align_scene(scene);
    for (auto v : {exp, tanh, difference}) {
        CHECK(aligned.of[v].module == loop);
    }
    CHECK(aligned.share_inside() == 1);
}

namespace {

/// Knows one operator, under another name.
struct tiny_lexicon {
    using policy_category = stemma::lexicon_category;
    [[nodiscard]] stemma::correspondence correspond(std::string_view captured,
                                                    std::string_view type) const {
        return captured == "mine" && type == "Yours" ? stemma::correspondence::head
                                                     : stemma::correspondence::none;
    }
    [[nodiscard]] stemma::trail trail_of(std::string_view) const { return stemma::trail::always; }
};

} // namespace

TEST_CASE("align: aligns a plain Boost graph without parameters", "[align]") {
    struct step {
        std::string type;
    };
    using graph_type = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, step>;
    stemma::captured_operations captured;
    graph_type graph;
    const auto add = [&](id module, const char* name, const char* type) {
        captured.add({module, 0}, name);
        const auto v = boost::add_vertex(step{type}, graph);
        if (v > 0) {
            captured.add_source(static_cast<id>(v) - 1);
            boost::add_edge(v - 1, v, graph);
        } else {
            captured.add_input();
        }
    };
    for (id module = 1; module <= 3; ++module) {
        add(module, "torch.conv2d", "Conv");
        add(module, "torch.relu", "Relu");
    }
    const auto type = boost::make_function_property_map<std::size_t>(
        [&](std::size_t v) -> std::string_view { return graph[v].type; });
    const stemma::mapped_operators ops(graph, type, type);
    const auto aligned =
        stemma::align(ops, stemma::tree_index(std::vector<id>{no_id, 0, 0, 0}), captured);
    REQUIRE(aligned.of.size() == 6);
    CHECK(aligned.placed == 6);
    for (id v = 0; v < 6; ++v) {
        CHECK(aligned.of[v].module == v / 2 + 1);
    }
}

TEST_CASE("align: the lexicon can be replaced", "[align]") {
    alignment_scene scene;
    const auto a = scene.add_module();
    const auto b = scene.add_module();
    scene.capture(a, "mine", {alignment_scene::tensor{}});
    const auto x = scene.last(scene.export_node(a, "Yours", {no_id}));
    scene.capture(b, "mine", {x});
    static_cast<void>(scene.export_node(b, "Yours", {x.node}));
    scene.graph.finish();
    const auto aligned = stemma::align(scene.graph, scene.tree(), scene.captured, {},
                                       scene.graph.shapes, tiny_lexicon{});
    CHECK(count_wrong(scene, aligned) == 0);
    CHECK(aligned.quality() == 1);
}

using stemma::captured_operations;
using stemma::id;

namespace {

id run(captured_operations& captured, std::string_view name, const std::vector<id>& sources) {
    captured.add({static_cast<id>(name.size()), 0, true, false}, name);
    for (const auto source : sources) {
        captured.add_source(source);
    }
    return captured.size() - 1;
}

std::vector<id> order_of(const captured_operations& captured) {
    return stemma::detail::reading_order(captured).find().number;
}

} // namespace

TEST_CASE("reading_order: what the first source needs comes before what the second one needs") {
    captured_operations captured;
    const auto stem = run(captured, "stem", {});
    const auto value = run(captured, "value", {stem});
    const auto key = run(captured, "key", {stem});
    const auto query = run(captured, "query", {stem});
    const auto scores = run(captured, "scores", {query, key});
    const auto mean = run(captured, "mean", {scores, value});
    CHECK(order_of(captured) == std::vector<id>{stem, query, key, scores, value, mean});
}

TEST_CASE("reading_order: operands come in the order in which exporters write them") {
    captured_operations captured;
    const auto scores = run(captured, "scores", {});
    const auto mask = run(captured, "mask", {});
    const auto masked = run(captured, "torch.Tensor.masked_fill", {scores, mask});
    CHECK(order_of(captured) == std::vector<id>{mask, scores, masked});
}

TEST_CASE("reading_order: an operation that only looks at a tensor follows it") {
    captured_operations captured;
    const auto value = run(captured, "value", {});
    const auto size = run(captured, "size", {value});
    const auto query = run(captured, "query", {});
    const auto product = run(captured, "product", {query, value});
    CHECK(order_of(captured) == std::vector<id>{query, value, size, product});
}

TEST_CASE("reading_order: results are in the order in which they were computed") {
    captured_operations captured;
    const auto stem = run(captured, "stem", {});
    const auto box = run(captured, "box", {run(captured, "box head", {stem})});
    const auto label = run(captured, "label", {run(captured, "label head", {stem})});
    CHECK(order_of(captured) == std::vector<id>{stem, box - 1, box, label - 1, label});
}

TEST_CASE(
    "reading_order: known results come first, in their order; what leads to none comes last") {
    captured_operations captured;
    const auto stem = run(captured, "stem", {});
    const auto state = run(captured, "state", {});
    const auto unused = run(captured, "unused", {state, stem});
    const auto box = run(captured, "box", {run(captured, "box head", {stem})});
    const auto label = run(captured, "label", {run(captured, "label head", {stem})});
    captured.add_result(label);
    captured.add_result(box);
    const auto order = stemma::detail::reading_order(captured).find();
    CHECK(order.number == std::vector<id>{stem, label - 1, label, box - 1, box, state, unused});
    const auto results = order.operations.results();
    CHECK(std::vector<id>(results.begin(), results.end()) == std::vector<id>{2, 4});
}

TEST_CASE("reading_order: every operation keeps all that is known about it") {
    captured_operations captured;
    const auto late = run(captured, "late", {});
    captured.add_name("aten.late.default");
    captured.add_parameter("late.weight", std::vector<std::int64_t>{2, 3});
    const auto early = run(captured, "early", {});
    run(captured, "sum", {early, late});
    captured.add_fault("cut short");
    const auto order = stemma::detail::reading_order(captured).find();
    REQUIRE(order.number == std::vector<id>{early, late, 2});
    const auto& moved = order.operations;
    CHECK(moved[1].module == captured[late].module);
    REQUIRE(moved.names_of(1).size() == 2);
    CHECK(moved.names()[moved.names_of(1)[1]] == "aten.late.default");
    REQUIRE(moved.parameters_of(1).size() == 1);
    CHECK(moved.parameter_names()[moved.parameters_of(1)[0].name] == "late.weight");
    CHECK(moved.parameters_of(1)[0].shape == std::vector<std::int64_t>{2, 3});
    CHECK(std::vector<id>(moved.sources_of(2).begin(), moved.sources_of(2).end()) ==
          std::vector<id>{0, 1});
    CHECK(moved.faults().size() == 1);
}

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

} // namespace test::align_align
