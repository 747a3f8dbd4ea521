// SPDX-License-Identifier: Apache-2.0
// What is known to mislead readers of names and metadata, each planted in a small model: shapes and
// constants with the scope of another module, ambiguous names, contradictory evidence, and evidence
// that is none.
#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"
#include "../operator_scene.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/tagger.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::evidence_traps {

using stemma::id;
using stemma::no_id;
using stemma::provenance;
using test::node;
using texts = std::vector<std::string>;

namespace {

/// An attributed model: over its own tree, or over a given one.
class attributed {
public:
    explicit attributed(const std::string& bytes)
        : scene_(std::make_unique<test::evidence_scene>(bytes)) {}

    attributed(const std::string& bytes, const stemma::module_tree& modules)
        : scene_(std::make_unique<test::evidence_scene>(bytes, modules)) {}

    [[nodiscard]] const stemma::attribution& of(std::string_view name) const {
        const auto v = scene_->node(name);
        REQUIRE(v != no_id);
        return found_.attributions[v];
    }

    [[nodiscard]] std::string module(std::string_view name) const {
        const auto path = scene_->modules().path(of(name).module);
        return path.empty() ? "/" : std::string(path);
    }

    /// Returns: the modules claimed for a node that sources disagree on.
    [[nodiscard]] std::set<std::string> conflict(std::string_view name) const {
        std::set<std::string> modules;
        for (const auto& one : found_.conflicts.of(scene_->node(name))) {
            modules.insert(scene_->modules().path(one.module));
        }
        return modules;
    }

    [[nodiscard]] std::size_t conflicts() const { return found_.conflicts.size(); }

private:
    std::unique_ptr<test::evidence_scene> scene_;
    stemma::tagging found_ = stemma::tag_operators(scene_->context(), stemma::policies<>{});
};

/// Returns: the module tree with the number of times each module runs.
stemma::module_tree called(const std::vector<std::pair<std::string, id>>& modules) {
    stemma::module_tree_builder builder;
    for (const auto& [path, calls] : modules) {
        builder.set_calls(builder.at_path(path), calls);
    }
    return builder.build();
}

std::string bytes_of(const std::vector<test::message>& nodes, const std::string& result,
                     const std::vector<std::string>& parameters = {}) {
    return test::model(test::graph(nodes, {"x"}, {result}, {parameters.begin(), parameters.end()}),
                       10)
        .bytes();
}

/// An operator with the same name as its result.
test::message op(const char* type, const test::names& inputs, const char* name) {
    return node(type, inputs, {name}, name);
}

} // namespace

TEST_CASE("traps: exactly the planted contradictions are reported, with both claims") {
    // Metadata, names and parameters of every operator agree, except for a few that are moved to a
    // sibling.
    test::random_numbers random(7);
    for (int run = 0; run < 20; ++run) {
        const int layers = 3 + static_cast<int>(random(6));
        std::vector<test::message> nodes;
        std::vector<std::string> parameters;
        std::map<std::string, std::set<std::string>> planted;
        std::map<std::string, std::string> agreed; // what two of the three say
        std::string from = "x";
        for (int i = 0; i < layers; ++i) {
            const auto layer = [&](int k) { return "layers." + std::to_string(k % layers); };
            parameters.push_back(layer(i) + ".fc.weight");
            for (const std::string type : {"MatMul", "Add", "Mul"}) {
                // Which of the three lies.
                const auto lie = random(8);
                const auto claimed = layer(lie == 0 ? i + 1 : i);
                const auto named = layer(lie == 1 ? i + 1 : i);
                const auto weight = layer(lie == 2 ? i + 1 : i) + ".fc.weight";
                const auto name = "/" + named + "/fc/" + type + "_" + std::to_string(nodes.size());
                const auto to = "v" + std::to_string(nodes.size());
                nodes.push_back(test::described(
                    node(type, {from, weight}, {to}, name),
                    test::dynamo({"", claimed, claimed + ".fc", "op"},
                                 {"app.Net", "app.Layer", "app.Linear", "aten.op"})));
                from = to;
                if (lie <= 2) {
                    planted[name] = {layer(i) + ".fc", layer(i + 1) + ".fc"};
                    agreed[name] = layer(i) + ".fc";
                }
            }
        }
        const attributed all(bytes_of(nodes, from, parameters));
        CHECK(all.conflicts() == planted.size());
        for (const auto& [name, claims] : planted) {
            INFO(name);
            CHECK(all.conflict(name) == claims);
            CHECK(all.of(name).conflict);
            CHECK(all.module(name) == agreed[name]);
        }
    }
}

TEST_CASE("traps: a shape or constant computed once for several modules belongs to none of them") {
    const auto in = [](const std::string& module, const test::message& one) {
        return test::described(
            one, test::dynamo({"", module, "op"}, {"app.Net", "app.Layer", "aten.op"}));
    };
    const attributed all(bytes_of(
        {in("a", op("Relu", {"x"}, "first")), in("a", op("Shape", {"first"}, "shape")),
         in("a", op("Constant", {}, "half")), in("a", op("Constant", {}, "own")),
         in("a", op("Reshape", {"first", "shape"}, "a1")), in("a", op("Mul", {"a1", "half"}, "a2")),
         in("a", op("Mul", {"a2", "own"}, "a3")), in("b", op("Reshape", {"a3", "shape"}, "b1")),
         in("b", op("Mul", {"b1", "half"}, "b2"))},
        "b2"));
    for (const auto* name : {"shape", "half"}) {
        CHECK(all.module(name) == "/");
        CHECK(all.of(name).conflict);
        CHECK(all.conflict(name) == std::set<std::string>{"a", ""});
        CHECK(all.of(name).confidence < 0.9F);
    }
    CHECK(all.module("own") == "a");
    CHECK(all.module("first") == "a");
    CHECK(all.conflicts() == 2);
}

TEST_CASE("traps: a level without a module, and operations without modules, claim nothing") {
    const std::string none = "_empty_nn_module_stack_from_metadata_hook";
    const attributed all(bytes_of(
        {test::described(op("Shape", {"x"}, "shape"),
                         test::dynamo({"", none, "sym_size"}, {"app.Net", none, "aten.sym_size"})),
         test::described(op("Reshape", {"x", "shape"}, "r"),
                         test::dynamo({"", "a", "view"}, {"app.Net", "app.A", "aten.view"}))},
        "r"));
    CHECK(all.module("shape") == "a");
    CHECK_FALSE(stemma::is_evidence(all.of("shape").source));
    CHECK(all.of("shape").confidence < 0.9F);
}

TEST_CASE("traps: after a converter wiped the metadata, parameters and names still count") {
    const std::vector<test::message> nodes{
        op("MatMul", {"x", "layers.0.fc.weight"}, "node_matmul"),
        op("Add", {"node_matmul", "layers.0.fc.bias"}, "node_add"),
        op("Mul", {"node_add", "layers.1.weight"}, "node_mul")};
    const attributed all(
        bytes_of(nodes, "node_mul", {"layers.0.fc.weight", "layers.0.fc.bias", "layers.1.weight"}));
    CHECK(all.module("node_matmul") == "layers.0.fc");
    CHECK(all.module("node_add") == "layers.0.fc");
    CHECK(all.module("node_mul") == "layers.1");
    CHECK(all.of("node_mul").source == provenance::parameter);
}

TEST_CASE("traps: `/X/X.N/` is the child of a called Sequential, or a list with the same name "
          "inside; parameters decide") {
    const std::vector<test::message> nodes{
        op("Conv", {"x", "layer.0.weight"}, "/layer/layer.0/Conv"),
        op("Conv", {"/layer/layer.0/Conv", "stage.stage.0.weight"}, "/stage/stage.0/Conv")};
    const auto model =
        bytes_of(nodes, "/stage/stage.0/Conv", {"layer.0.weight", "stage.stage.0.weight"});
    for (const auto& all : {attributed(model), attributed(model, called({{"layer", 1},
                                                                         {"layer.0", 1},
                                                                         {"stage", 1},
                                                                         {"stage.stage", 0},
                                                                         {"stage.stage.0", 1}}))}) {
        CHECK(all.module("/layer/layer.0/Conv") == "layer.0");
        CHECK(all.module("/stage/stage.0/Conv") == "stage.stage.0");
        CHECK(all.conflicts() == 0);
    }
}

TEST_CASE("traps: an instance is the path from its last non-numeric name") {
    const attributed all(
        bytes_of({op("Relu", {"x"}, "/grid.0.1/Relu"), op("Relu", {"/grid.0.1/Relu"}, "/0/Relu")},
                 "/0/Relu"),
        called({{"grid", 0}, {"grid.0", 0}, {"grid.0.1", 1}, {"0", 1}}));
    CHECK(all.module("/grid.0.1/Relu") == "grid.0.1");
    CHECK(all.module("/0/Relu") == "0");
}

TEST_CASE(
    "traps: a further call and a module with that very name share a scope; the weight decides") {
    // `layer` runs twice next to a module called `layer_1`.
    const auto model = bytes_of({op("Gemm", {"x", "layer.weight"}, "/layer/Gemm"),
                                 op("Gemm", {"/layer/Gemm", "layer_1.weight"}, "/layer_1/Gemm"),
                                 op("Gemm", {"/layer_1/Gemm", "layer.weight"}, "/layer_1/Gemm_1")},
                                "/layer_1/Gemm_1", {"layer.weight", "layer_1.weight"});
    for (const auto& all :
         {attributed(model), attributed(model, called({{"layer", 2}, {"layer_1", 1}}))}) {
        CHECK(all.module("/layer/Gemm") == "layer");
        CHECK(all.module("/layer_1/Gemm") == "layer_1");
        CHECK(all.module("/layer_1/Gemm_1") == "layer");
        CHECK(all.of("/layer_1/Gemm_1").call == 1);
    }
}

TEST_CASE("traps: modules with different parents that print alike look like two calls of one") {
    const auto model =
        bytes_of({op("MatMul", {"x", "a.block.0.weight"}, "/block.0/MatMul"),
                  op("MatMul", {"/block.0/MatMul", "b.block.0.weight"}, "/block.0_1/MatMul")},
                 "/block.0_1/MatMul", {"a.block.0.weight", "b.block.0.weight"});
    const auto tree = called(
        {{"a", 0}, {"a.block", 0}, {"a.block.0", 1}, {"b", 0}, {"b.block", 0}, {"b.block.0", 1}});
    for (const auto& all : {attributed(model), attributed(model, tree)}) {
        CHECK(all.module("/block.0/MatMul") == "a.block.0");
        CHECK(all.module("/block.0_1/MatMul") == "b.block.0");
    }
}

TEST_CASE("traps: modules that print alike may be called in another order than defined") {
    const std::vector<std::string> weights{"a.block.0.fc.weight", "b.block.0.fc.weight"};
    const auto model =
        bytes_of({op("Relu", {"x"}, "/block.0/Relu"),
                  op("MatMul", {"/block.0/Relu", weights[1]}, "/block.0/fc/MatMul"),
                  op("Relu", {"/block.0/fc/MatMul"}, "/block.0_1/Relu"),
                  op("MatMul", {"/block.0_1/Relu", weights[0]}, "/block.0/fc_1/MatMul")},
                 "/block.0/fc_1/MatMul", weights);
    const auto tree = called({{"a", 0},
                              {"a.block", 0},
                              {"a.block.0", 1},
                              {"a.block.0.fc", 1},
                              {"b", 0},
                              {"b.block", 0},
                              {"b.block.0", 1},
                              {"b.block.0.fc", 1}});
    for (const auto& all : {attributed(model), attributed(model, tree)}) {
        CHECK(all.module("/block.0/Relu") == "b.block.0");
        CHECK(all.module("/block.0_1/Relu") == "a.block.0");
    }
}

TEST_CASE("traps: a ModuleDict that is never called has no part in a name") {
    const attributed all(
        bytes_of({op("Relu", {"x"}, "/left/Relu"), op("Relu", {"/left/Relu"}, "/left/inner/Relu")},
                 "/left/inner/Relu"),
        called({{"branches", 0}, {"branches.left", 1}, {"branches.left.inner", 1}}));
    CHECK(all.module("/left/Relu") == "branches.left");
    CHECK(all.module("/left/inner/Relu") == "branches.left.inner");
}

TEST_CASE("traps: what a module computes with another's parameter is its own") {
    // Attention uses the weights of a projection that is never called; a method other than forward
    // leaves no scope; the root reads a child's weight.
    const attributed all(
        bytes_of({op("Gemm", {"x", "attn.out_proj.weight"}, "/attn/Gemm"),
                  op("MatMul", {"/attn/Gemm", "by_method.weight"}, "/MatMul"),
                  op("MatMul", {"/MatMul", "tied.weight"}, "/MatMul_1"),
                  op("MatMul", {"/MatMul_1", "tied.weight"}, "/tied/MatMul")},
                 "/tied/MatMul", {"attn.out_proj.weight", "by_method.weight", "tied.weight"}),
        called({{"attn", 1}, {"attn.out_proj", 0}, {"by_method", 0}, {"tied", 1}}));
    CHECK(all.module("/attn/Gemm") == "attn");
    CHECK(all.module("/MatMul") == "/");
    CHECK(all.module("/MatMul_1") == "/");
    CHECK(all.module("/tied/MatMul") == "tied");
    CHECK(all.conflicts() == 0);
}

TEST_CASE("traps: a method that the model calls leaves no level") {
    const auto model = [](const char* last) {
        return bytes_of(
            {op("Conv", {"x", "onnx::Conv_1"}, "/conv/Conv"),
             op("Relu", {"/conv/Conv"}, "/relu/Relu"),
             op("Conv", {"/relu/Relu", "onnx::Conv_2"}, "/layer1/fc/Conv"),
             op("Conv", {"/layer1/fc/Conv", "model.layer2.fc.weight"}, "/layer2/fc/Conv"),
             op("Conv", {"/layer2/fc/Conv", last}, "/head/Conv")},
            "/head/Conv", {"onnx::Conv_1", "onnx::Conv_2", "model.layer2.fc.weight", last});
    };
    const attributed all(model("onnx::Conv_3"));
    CHECK(all.module("/conv/Conv") == "model.conv");
    CHECK(all.module("/relu/Relu") == "model.relu");
    CHECK(all.module("/layer1/fc/Conv") == "model.layer1.fc");
    CHECK(all.module("/layer2/fc/Conv") == "model.layer2.fc");
    CHECK(all.module("/head/Conv") == "model.head");
    const attributed mixed(model("head.weight")); // the model calls its own modules, too
    CHECK(mixed.module("/conv/Conv") == "conv");
    CHECK(mixed.module("/head/Conv") == "head");
}

TEST_CASE("traps: an Identity for a merged weight goes where that is read") {
    const attributed all(
        bytes_of({node("Identity", {"a.norm.weight"}, {"b.norm.weight"}, "Identity_0"),
                  op("Mul", {"x", "a.norm.weight"}, "/a/norm/Mul"),
                  op("Mul", {"/a/norm/Mul", "b.norm.weight"}, "/b/norm/Mul")},
                 "/b/norm/Mul", {"a.norm.weight"}));
    CHECK(all.module("Identity_0") == "b.norm");
    CHECK(all.module("/a/norm/Mul") == "a.norm");
    CHECK(all.module("/b/norm/Mul") == "b.norm");
    CHECK(all.conflicts() == 0);
}

TEST_CASE("traps: index constants have the scope of what was traced next") {
    // Not read in its scope; one that is read above or below its scope may well be right.
    const attributed all(
        bytes_of({op("Relu", {"x"}, "/embed/Relu"), op("Constant", {}, "/embed/Constant"),
                  op("Constant", {}, "/Constant"),
                  op("Gather", {"/embed/Relu", "/embed/Constant"}, "/pool/Gather"),
                  op("Gather", {"/pool/Gather", "/Constant"}, "/pool/Gather_1")},
                 "/pool/Gather_1"));
    CHECK(all.module("/embed/Constant") == "/");
    CHECK(all.conflict("/embed/Constant") == std::set<std::string>{"embed", "pool"});
    CHECK(all.module("/Constant") == "/");
    CHECK(all.conflicts() == 1);
}

TEST_CASE("traps: names from exporter passes and old exporters have no scope, but values may") {
    const attributed all(bytes_of({node("Relu", {"x"}, {"/enc/fc/Relu_output_0"}, "Relu_12"),
                                   node("Neg", {"/enc/fc/Relu_output_0"}, {"y"}, ""),
                                   node("Constant", {}, {"onnx::Mul_7"}, "Constant_60"),
                                   node("Mul", {"y", "onnx::Mul_7"}, {"z"}, "/enc/Mul")},
                                  "z"));
    CHECK(all.module("Relu_12") == "enc.fc");
    CHECK(all.of("Relu_12").source == provenance::scope);
    CHECK(all.module("Constant_60") == "enc");
    CHECK(all.of("Constant_60").source == provenance::consumer);
}

TEST_CASE("traps: a transposed or folded weight loses its name; its bias and its scope stay") {
    const attributed all(bytes_of(
        {op("MatMul", {"x", "onnx::MatMul_310"}, "/enc/query/MatMul"),
         op("Add", {"enc.query.bias", "/enc/query/MatMul"}, "/enc/query/Add"),
         op("Conv", {"/enc/query/Add", "onnx::Conv_194", "onnx::Conv_195"}, "/enc/conv/Conv")},
        "/enc/conv/Conv",
        {"onnx::MatMul_310", "enc.query.bias", "onnx::Conv_194", "onnx::Conv_195"}));
    CHECK(all.module("/enc/query/MatMul") == "enc.query");
    CHECK(all.module("/enc/query/Add") == "enc.query");
    CHECK(all.module("/enc/conv/Conv") == "enc.conv");
    CHECK(all.conflicts() == 0);
}

TEST_CASE("traps: an unreadable name is reported, and the operator falls to the next source") {
    std::string deep;
    for (int i = 0; i < 10'000; ++i) {
        deep += "/m" + std::to_string(i);
    }
    const std::map<std::string, std::string> bad{
        {"levels", deep + "/Relu"}, {"long", "/" + std::string(1U << 20U, 'x') + "/Relu"},
        {"UTF-8", "/enc\xff/Relu"}, {"class", "app.Net::/app/odd.Block::enc/Relu"},
        {"empty", "/enc/.../Relu"}, {"empty ", "/.enc/fc/Relu"},
    };
    for (const auto& [says, name] : bad) {
        INFO(says);
        test::evidence_scene scene(bytes_of(
            {node("Relu", {"x", "dec.fc.weight"}, {"y"}, name), op("Relu", {"y"}, "/dec/Relu")},
            "/dec/Relu", {"dec.fc.weight"}));
        const auto& problems = scene.context().scopes().problems;
        REQUIRE(problems.size() == 1);
        CHECK(problems[0].node == 0);
        CHECK(problems[0].code == "scope.unreadable");
        CHECK(problems[0].text.find(says) != std::string::npos);
        const auto tagged = stemma::tag_operators(scene.context(), stemma::policies<>{});
        CHECK(scene.modules().path(tagged.attributions[0].module) == "dec.fc");
        CHECK(tagged.attributions[0].source == provenance::parameter);
        CHECK(scene.modules().size() == 3); // it adds no module
    }
}

TEST_CASE("traps: parameters with invalid names add no modules") {
    std::string deep;
    for (int i = 0; i < 10'000; ++i) {
        deep += "m.";
    }
    const std::map<std::string, std::string> bad{{"levels", deep + "weight"},
                                                 {"long", std::string(1U << 20U, 'x') + ".weight"},
                                                 {"UTF-8", "enc.\xff.weight"},
                                                 {"empty", "enc..weight"}};
    for (const auto& [says, name] : bad) {
        INFO(says);
        test::evidence_scene scene(bytes_of(
            {op("MatMul", {"x", name}, "/fc/MatMul"), op("MatMul", {"/fc/MatMul", name}, "n")}, "n",
            {name}));
        CHECK(scene.modules().size() == 2);
        for (const unsigned most : {1U, 4U}) {
            const stemma::thread_scope threads({most, 1});
            const auto problems = stemma::detail::find_unreadable_parameters(scene.context().ops());
            REQUIRE(problems.size() == 1);
            CHECK(problems[0].node == 0);
            CHECK(problems[0].code == "parameter.unreadable");
            CHECK(problems[0].text.find(says) != std::string::npos);
        }
        const attributed all(
            bytes_of({op("MatMul", {"x", name}, "/fc/MatMul")}, "/fc/MatMul", {name}));
        CHECK(all.module("/fc/MatMul") == "fc");
    }
    test::evidence_scene good(
        bytes_of({op("MatMul", {"x", "enc.fc.weight"}, "n")}, "n", {"enc.fc.weight"}));
    CHECK(stemma::detail::find_unreadable_parameters(good.context().ops()).empty());
}

TEST_CASE("traps: unreadable metadata leave the operator to its name") {
    const std::vector<test::metadata> bad{
        {{"pkg.torch.onnx.name_scopes", "blocks.0"}},
        {{"pkg.torch.onnx.name_scopes", "['', 'blocks.0, 'op']"}},
        {{"pkg.torch.onnx.name_scopes", "['', 'other', 'op']"},
         {"pkg.torch.onnx.class_hierarchy", "['app.Net', 'op']"}},
        {{"pkg.torch.onnx.name_scopes", "['', 'oth\xff', 'op']"}},
        {{"pkg.torch.onnx.name_scopes", "['', '" + std::string(1U << 20U, 'x') + "', 'op']"}}};
    for (const auto& entries : bad) {
        INFO(entries[0].second.substr(0, 40));
        test::evidence_scene scene(bytes_of(
            {test::described(op("Relu", {"x"}, "/enc/fc/Relu"), entries)}, "/enc/fc/Relu"));
        CHECK(scene.context().hierarchies().problems.size() == 1);
        const auto tagged = stemma::tag_operators(scene.context(), stemma::policies<>{});
        CHECK(scene.modules().path(tagged.attributions[0].module) == "enc.fc");
        CHECK(tagged.attributions[0].source == provenance::scope);
        CHECK(scene.modules().size() == 3);
    }
}

} // namespace test::evidence_traps
