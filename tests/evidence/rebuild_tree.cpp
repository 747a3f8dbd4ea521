// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/rebuild_tree.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../model_with_metadata.hpp"
#include "../operator_scene.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace test::evidence_rebuild_tree {

using stemma::id;
using stemma::rebuild_tree;
using texts = std::vector<std::string>;

namespace {

texts paths_of(const stemma::module_tree& tree) {
    texts paths;
    for (id m = 0; m < tree.size(); ++m) {
        paths.push_back(tree.path(m));
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

} // namespace

TEST_CASE("rebuild_tree: combines modules of scopes and of parameters") {
    test::operator_scene ops;
    const auto fc = ops.add({}, "/enc/fc/MatMul", "MatMul");
    ops.read_parameter(fc, "enc.fc.weight");
    ops.read_parameter(ops.add({fc}), "dec.norm.bias");
    ops.read_parameter(ops.add({fc}), "onnx::MatMul_7");
    const auto rebuilt = rebuild_tree(ops, "net");
    CHECK(paths_of(rebuilt.modules) == texts{"", "dec", "dec.norm", "enc", "enc.fc"});
    CHECK(rebuilt.modules.name(0) == "net");
}

TEST_CASE("rebuild_tree: modules are in the order of use, whatever the names of operators end in") {
    const test::built_model model(
        test::model(test::graph({test::node("Conv", {"x"}, {"a"}, "net/conv_1/BiasAdd"),
                                 test::node("Relu", {"a"}, {"b"}, "net/act/Relu"),
                                 test::node("Conv", {"b"}, {"c"}, "net/conv_2/BiasAdd"),
                                 test::node("Add", {"a", "c"}, {"y"}, "net/sum/Add")},
                                {"x"}, {"y"})));
    const auto tree =
        stemma::rebuild_tree(stemma::onnx_operators<stemma::wire_model>(model)).modules;
    texts names;
    for (id m = 2; m < tree.size(); ++m) {
        names.emplace_back(tree.name(m));
    }
    CHECK(names == texts{"conv_1", "act", "conv_2", "sum"});
}

TEST_CASE("rebuild_tree: just the root for a model without evidence") {
    test::operator_scene ops;
    ops.add({ops.add()}, "n1");
    CHECK(paths_of(rebuild_tree(ops).modules) == texts{""});
    CHECK(paths_of(rebuild_tree(test::operator_scene()).modules) == texts{""});
}

TEST_CASE("rebuild_tree: its facts are those a context would compute") {
    test::operator_scene ops;
    std::vector<id> all;
    const auto add = [&](const char* name, const char* type, const char* parameter = nullptr) {
        all.push_back(ops.add(all.empty() ? all : std::vector<id>{all.back()}, name, type));
        if (parameter != nullptr) {
            ops.read_parameter(all.back(), parameter);
        }
    };
    add("/layer.0/fc/MatMul", "MatMul", "layer.0.fc.weight");
    add("/layer.0/fc/Add", "Add", "layer.0.fc.bias");
    add("/layer.1/fc/MatMul", "MatMul", "layer.1.fc.weight");
    add("/act/Mul", "Mul");
    add("/act_1/Mul", "Mul");
    add("/Add", "Add", "scale");
    using context = stemma::evidence_context<test::operator_scene, stemma::module_tree>;
    auto rebuilt = rebuild_tree(ops);
    const auto tree = rebuilt.modules;
    context taught(ops, tree, std::move(rebuilt.facts));
    context fresh(ops, tree);
    const auto ask = [&](context& facts, const auto& source) {
        std::vector<std::pair<id, id>> claims;
        const auto prepared = source.prepare(facts);
        for (auto v : all) {
            prepared.for_each_claim(
                v, [&](const stemma::claim& one) { claims.emplace_back(one.module, one.call); });
        }
        return claims;
    };
    CHECK(ask(taught, stemma::scope_names{}) == ask(fresh, stemma::scope_names{}));
    CHECK(ask(taught, stemma::parameter_names{}) == ask(fresh, stemma::parameter_names{}));
    CHECK(ask(taught, stemma::scope_names{}).size() == all.size());
}

TEST_CASE("rebuild_tree: the tree does not depend on the names of other operators") {
    test::operator_scene ops;
    ops.add({}, "/a/b/Add", "Add");
    const auto before = paths_of(rebuild_tree(ops).modules);
    ops.add({}, "Add_12", "Add");
    ops.add({}, "", "Add");
    CHECK(paths_of(rebuild_tree(ops).modules) == before);
}

TEST_CASE("rebuild_tree: classes come from the metadata of exporters") {
    const auto bytes = test::chain_of(
        {test::dynamo({"", "blocks.0", "relu"}, {"app.Net", "app.Block", "aten.relu.default"})});
    const stemma::wire_model model(bytes, "model");
    const stemma::onnx_operators ops(model);
    const auto tree = rebuild_tree(ops).modules;
    CHECK(tree.class_name(0) == "Net");
    CHECK(tree.qualified_class(test::module_at(tree, "blocks.0")) == "app.Block");
}

TEST_CASE("rebuild_tree: a parameter folded from several stands for their common ancestor") {
    const auto folded = test::value_info("c").inner(
        4, test::entry("pkg.onnxscript.optimizer.folded_from", "['enc.a.weight', 'enc.b.weight']"));
    auto graph = test::graph({test::node("Add", {"x", "c"}, {"y"}, "n")}, {"x"}, {"y"}, {"c"});
    graph.inner(13, folded);
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes, "model");
    const stemma::onnx_operators ops(model);
    const auto rebuilt = rebuild_tree(ops);
    CHECK(paths_of(rebuilt.modules) == texts{"", "enc", "enc.a", "enc.b"});
    REQUIRE(rebuilt.facts.known->owners->of(0).size() == 1);
    CHECK(rebuilt.modules.path(rebuilt.facts.known->owners->of(0)[0]) == "enc");
}

TEST_CASE("rebuild_tree: readers of dequantized parameters share a module that owns these") {
    std::vector<test::message> nodes;
    for (const auto* part : {"proj.fc.weight", "proj.fc.bias"}) {
        const std::string name(part);
        nodes.push_back(test::node("DequantizeLinear", {name + "_quantized", name + "_scale"},
                                   {name + "_DequantizeLinear_Output"},
                                   name + "_DequantizeLinear"));
    }
    for (const std::string tower : {"q", "k"}) {
        nodes.push_back(test::node("Gemm",
                                   {tower, "proj.fc.weight_DequantizeLinear_Output",
                                    "proj.fc.bias_DequantizeLinear_Output"},
                                   {tower + "_made"}, "/" + tower + "_tower/proj/fc/Gemm"));
    }
    auto graph = test::graph(nodes, {"q", "k"}, {"q_made", "k_made"},
                             {"proj.fc.weight_scale", "proj.fc.bias_scale"});
    graph
        .inner(5,
               test::message().packed(1, {4, 4}).number(2, 3).text(8, "proj.fc.weight_quantized"))
        .inner(5, test::message().packed(1, {4}).number(2, 6).text(8, "proj.fc.bias_quantized"));
    const auto bytes = test::model(graph).bytes();
    const test::tagged_model tagged(bytes);
    for (id node = 0; node < 4; ++node) {
        CHECK(tagged.modules.path(tagged.found.attributions[node].module) == "proj.fc");
    }
    CHECK(paths_of(tagged.modules) == texts{"", "k_tower", "proj", "proj.fc", "q_tower"});
}

} // namespace test::evidence_rebuild_tree
