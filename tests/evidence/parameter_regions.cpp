// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/parameter_regions.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"
#include "../operator_scene.hpp"

#include <stemma/evidence/parameter_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::evidence_parameter_regions {

using stemma::parameter_regions;
using texts = std::vector<std::string>;

namespace {

/// Two linear layers in a block, with unnamed weights, their sum, and a normalization after it;
/// operator names say nothing.
std::string nameless_block() {
    using test::node;
    const auto op = [&](const char* type, const test::names& in, const char* out) {
        return node(type, in, {out}, out);
    };
    auto graph = test::graph(
        {op("MatMul", {"x", "lost_1"}, "m1"), op("Add", {"m1", "block.fc1.bias"}, "a1"),
         op("MatMul", {"x", "lost_2"}, "m2"), op("Add", {"m2", "block.fc2.bias"}, "a2"),
         op("Mul", {"a1", "a2"}, "join"), op("Pow", {"join", "two"}, "square"),
         op("Sub", {"join", "square"}, "centred"), op("Mul", {"centred", "norm.weight"}, "scaled")},
        {"x"}, {"scaled"}, {"block.fc1.bias", "block.fc2.bias", "two", "norm.weight"});
    graph.inner(5, test::tensor("lost_1", {4, 4}));
    graph.inner(5, test::tensor("lost_2", {4, 4}));
    return test::model(graph).bytes();
}

/// A model with nodes named after their results, whose parameters are matrices.
std::string bare_model(const std::vector<test::message>& nodes, const test::names& results,
                       const test::names& parameters) {
    auto graph = test::graph(nodes, {"x"}, results);
    for (const auto& name : parameters) {
        graph.inner(5, test::tensor(name, {4, 4}));
    }
    return test::model(graph).bytes();
}

test::message bare(const char* type, const test::names& in, const char* out) {
    return test::node(type, in, {out}, out);
}

} // namespace

TEST_CASE("parameter_regions: what quantizers insert does not change that metadata are enough") {
    const auto fc1 = test::dynamo({"", "block", "block.fc1", "m1"},
                                  {"app.Net", "app.Block", "torch.nn.Linear", "aten.linear"});
    const auto own = test::dynamo({"", "block", "a1"}, {"app.Net", "app.Block", "aten.relu"});
    const auto has_claims = [&](const char* conversion) {
        auto graph = test::graph({bare(conversion, {"lost", "scale", "zero"}, "weight"),
                                  bare(conversion, {"x", "scale", "zero"}, "input"),
                                  test::described(bare("MatMul", {"input", "weight"}, "m1"), fc1),
                                  test::described(bare("Add", {"m1", "block.fc1.bias"}, "b1"), fc1),
                                  test::described(bare("Relu", {"b1"}, "a1"), own)},
                                 {"x"}, {"a1"}, {"scale", "zero", "block.fc1.bias"});
        graph.inner(5, test::tensor("lost", {4, 4}));
        test::evidence_scene scene(graph);
        return !scene.paths<parameter_regions>("weight").empty();
    };
    CHECK_FALSE(has_claims("DequantizeLinear"));
    CHECK(has_claims("Dequantize"));
}

TEST_CASE("parameter_regions: a multiplication by an unnamed weight goes with its bias") {
    test::evidence_scene scene(nameless_block());
    CHECK(scene.paths<parameter_regions>("m1") == texts{"block.fc1"});
    CHECK(scene.paths<parameter_regions>("m2") == texts{"block.fc2"});
    for (const auto& one : scene.claims<parameter_regions>("m1")) {
        CHECK_FALSE(one.exact);
        CHECK(one.confidence < 0.9F);
    }
}

TEST_CASE("parameter_regions: a module that is never called bounds a region, and owns none") {
    stemma::module_tree_builder builder;
    builder.set_calls(builder.at_path("block"), 1);
    builder.set_calls(builder.at_path("block.fc1"), 0);
    builder.set_calls(builder.at_path("block.fc2"), 0);
    builder.set_calls(builder.at_path("norm"), 1);
    test::evidence_scene scene(nameless_block(), builder.build());
    for (const char* name : {"m1", "m2", "join"}) {
        for (const auto& path : scene.paths<parameter_regions>(name)) {
            CHECK(path == "block");
        }
    }
}

TEST_CASE("parameter_regions: a constant may be in a module that is never called") {
    // Two modules of an uncalled list; each works with one constant and one shape.
    const auto bytes = bare_model(
        {bare("Constant", {}, "shared"), bare("Constant", {}, "between"),
         bare("Shape", {"x"}, "shape"), bare("Constant", {}, "alone"),
         bare("MatMul", {"x", "m.h.0.a.weight"}, "m1"), bare("Where", {"m1", "shared"}, "r1"),
         bare("Reshape", {"r1", "shape"}, "s1"), bare("MatMul", {"s1", "m.h.0.b.weight"}, "m2"),
         bare("Mul", {"m2", "between"}, "across"),
         bare("MatMul", {"across", "m.h.1.a.weight"}, "m3"), bare("Where", {"m3", "shared"}, "r2"),
         bare("Reshape", {"r2", "shape"}, "s2"), bare("Mul", {"s2", "alone"}, "last"),
         bare("MatMul", {"last", "m.h.1.b.weight"}, "y")},
        {"y"}, {"m.h.0.a.weight", "m.h.0.b.weight", "m.h.1.a.weight", "m.h.1.b.weight"});
    stemma::module_tree_builder builder;
    for (const char* path : {"m", "m.h.0", "m.h.0.a", "m.h.0.b", "m.h.1", "m.h.1.a", "m.h.1.b"}) {
        builder.set_calls(builder.at_path(path), 1);
    }
    builder.set_calls(builder.at_path("m.h"), 0);
    test::evidence_scene scene(bytes, builder.build());
    const auto paths = [&](const char* name) { return scene.paths<parameter_regions>(name); };
    CHECK(paths("shared") == texts{"m.h"});
    CHECK(paths("alone") == texts{"m.h.1"});
    CHECK(paths("across") == texts{"m"});
    CHECK(paths("between") == texts{"m"}); // with its only reader
    CHECK(paths("shape") == texts{"m"});   // some module has to compute it
}

TEST_CASE("parameter_regions: a join of two modules' results belongs to their common caller") {
    test::evidence_scene scene(nameless_block());
    CHECK(scene.paths<parameter_regions>("join") == texts{"block"});
}

TEST_CASE("parameter_regions: after the last parameters, all modules before count") {
    // Two heads of two layers each, whose results are processed at the end.
    using test::node;
    const auto op = [&](const char* type, const test::names& in, const char* out) {
        return node(type, in, {out}, out);
    };
    test::evidence_scene scene(test::graph(
        {op("Add", {"x", "heads.a.fc1.bias"}, "a1"), op("Add", {"a1", "heads.a.fc2.bias"}, "a2"),
         op("Add", {"x", "heads.b.fc1.bias"}, "b1"), op("Add", {"b1", "heads.b.fc2.bias"}, "b2"),
         op("Mul", {"a1", "a2"}, "both"), op("Mul", {"both", "b2"}, "join"),
         op("Relu", {"join"}, "last")},
        {"x"}, {"last"},
        {"heads.a.fc1.bias", "heads.a.fc2.bias", "heads.b.fc1.bias", "heads.b.fc2.bias"}));
    CHECK(scene.paths<parameter_regions>("both") == texts{"heads.a"});
    CHECK(scene.paths<parameter_regions>("join") == texts{"heads"});
    CHECK(scene.paths<parameter_regions>("last") == texts{"heads"});
}

TEST_CASE("parameter_regions: a constant without an owner is no evidence about its readers") {
    auto graph = test::graph({bare("MatMul", {"x", "a.fc1.weight"}, "m1"),
                              bare("Reshape", {"m1", "shape"}, "r"),
                              bare("MatMul", {"r", "a.fc2.weight"}, "m2")},
                             {"x"}, {"m2"}, {"a.fc1.weight", "a.fc2.weight"});
    graph.inner(5, test::tensor("shape", {2}));
    test::evidence_scene scene(graph);
    CHECK(scene.paths<parameter_regions>("r") == texts{"a"});
}

TEST_CASE("parameter_regions: an operator between two owners belongs to their common caller") {
    test::evidence_scene scene(bare_model(
        {bare("MatMul", {"x", "b.0.fc1.weight"}, "m1"), bare("Relu", {"m1"}, "inside"),
         bare("MatMul", {"inside", "b.0.fc2.weight"}, "m2"), bare("Relu", {"m2"}, "across"),
         bare("MatMul", {"across", "b.1.fc1.weight"}, "m3")},
        {"m3"}, {"b.0.fc1.weight", "b.0.fc2.weight", "b.1.fc1.weight"}));
    CHECK(scene.paths<parameter_regions>("inside") == texts{"b.0"});
    // A list computes nothing.
    CHECK(scene.paths<parameter_regions>("across") == texts{"/"});
}

TEST_CASE("parameter_regions: a sequence has the members missing from its numbers") {
    const auto nodes =
        bare_model({bare("MatMul", {"x", "net.0.weight"}, "a"), bare("Relu", {"a"}, "act"),
                    bare("MatMul", {"act", "net.2.weight"}, "b"), bare("Softmax", {"b"}, "last")},
                   {"last"}, {"net.0.weight", "net.2.weight"});
    test::evidence_scene scene(nodes);
    CHECK(scene.paths<parameter_regions>("act") == texts{"net.1"});
    CHECK(scene.modules().size() == 5);
    // A capture knows what exists.
    test::evidence_scene captured(nodes, test::tree_of({"net.0", "net.2"}));
    const auto missing = parameter_regions::find_missing_members(captured.context());
    REQUIRE(missing.size() == 1);
    CHECK(captured.modules().path(missing.front().first) == "net");
    CHECK(missing.front().second == 1);
    for (const auto& path : captured.paths<parameter_regions>("act")) {
        CHECK(path == "/");
    }
}

TEST_CASE("parameter_regions: what leads from an input of the model to a sequence may begin it") {
    const std::vector<test::message> net{
        bare("Flatten", {"x"}, "flat"), bare("MatMul", {"flat", "net.1.weight"}, "a"),
        bare("Relu", {"a"}, "act"), bare("MatMul", {"act", "net.3.weight"}, "b")};
    const test::names parameters{"net.1.weight", "net.3.weight"};
    // Others read the input, too: the step is the sequence's.
    auto forked = net;
    forked.push_back(bare("Neg", {"x"}, "other"));
    test::evidence_scene several(bare_model(forked, {"b", "other"}, parameters));
    CHECK(several.paths<parameter_regions>("flat") == texts{"net.0"});
    // Otherwise, it may be the caller's.
    test::evidence_scene single(bare_model(net, {"b"}, parameters));
    CHECK(single.paths<parameter_regions>("flat") == texts{"/"});
    // Nor is a step that reads two inputs.
    auto two = forked;
    two.front() = bare("Concat", {"x", "z"}, "flat");
    auto graph = test::graph(two, {"x", "z"}, {"b", "other"}, parameters);
    test::evidence_scene both(graph);
    CHECK(both.paths<parameter_regions>("flat") == texts{"/"});
}

TEST_CASE("parameter_regions: a model that is a sequence does nothing else") {
    test::evidence_scene scene(
        bare_model({bare("Flatten", {"x"}, "flat"), bare("MatMul", {"flat", "1.weight"}, "a"),
                    bare("Relu", {"a"}, "act"), bare("MatMul", {"act", "3.weight"}, "b"),
                    bare("Sigmoid", {"b"}, "y")},
                   {"y"}, {"1.weight", "3.weight"}));
    CHECK(scene.paths<parameter_regions>("flat") == texts{"0"});
    CHECK(scene.paths<parameter_regions>("act") == texts{"2"});
    CHECK(scene.paths<parameter_regions>("y") == texts{"4"});
    test::evidence_scene complete(
        bare_model({bare("MatMul", {"x", "0.weight"}, "a"), bare("MatMul", {"a", "1.weight"}, "b"),
                    bare("Sigmoid", {"b"}, "y")},
                   {"y"}, {"0.weight", "1.weight"}));
    CHECK(complete.paths<parameter_regions>("y") == texts{"2"});
}

TEST_CASE("parameter_regions: torch's attention does its projection's work") {
    test::evidence_scene scene(bare_model(
        {bare("MatMul", {"x", "b.norm.weight"}, "n"), bare("Transpose", {"n"}, "turned"),
         bare("MatMul", {"turned", "b.attn.in_proj_weight"}, "p"), bare("Softmax", {"p"}, "scores"),
         bare("MatMul", {"scores", "b.attn.out_proj.weight"}, "o"),
         bare("Transpose", {"o"}, "back"), bare("MatMul", {"back", "b.fc.weight"}, "y")},
        {"y"},
        {"b.norm.weight", "b.attn.in_proj_weight", "b.attn.out_proj.weight", "b.fc.weight"}));
    CHECK(scene.paths<stemma::parameter_names>("o") == texts{"b.attn"});
    for (const char* name : {"turned", "scores", "back"}) {
        CHECK(scene.paths<parameter_regions>(name) == texts{"b.attn"});
    }
}

TEST_CASE("parameter_regions: what comes before all parameters serves all its first readers") {
    test::evidence_scene scene(bare_model(
        {bare("Reshape", {"x", "shape"}, "flat"), bare("Neg", {"x"}, "mask"),
         bare("MatMul", {"flat", "m.embed.words.weight"}, "e"),
         bare("MatMul", {"e", "m.enc.q.weight"}, "q"), bare("Add", {"q", "mask"}, "masked"),
         bare("MatMul", {"masked", "m.enc.v.weight"}, "v"),
         bare("MatMul", {"v", "head.weight"}, "y")},
        {"y"},
        {"shape", "m.embed.words.weight", "m.enc.q.weight", "m.enc.v.weight", "head.weight"}));
    CHECK(scene.paths<parameter_regions>("flat") == texts{"m"});
    CHECK(scene.paths<parameter_regions>("mask") == texts{"m"});
}

TEST_CASE("parameter_regions: an unnamed weight belongs to an unknown module") {
    test::evidence_scene scene(bare_model({bare("MatMul", {"x", "lost"}, "m1"),
                                           bare("MatMul", {"m1", "head.weight"}, "m2"),
                                           bare("MatMul", {"m2", "gone"}, "m3")},
                                          {"m3"}, {"lost", "head.weight", "gone"}));
    CHECK(scene.paths<parameter_regions>("m1") == texts{"/"});
    CHECK(scene.paths<parameter_regions>("m3") == texts{"/"});
}

TEST_CASE("parameter_regions: a skip connection ends in the parent of what it skips") {
    test::evidence_scene scene(bare_model(
        {bare("MatMul", {"x", "b.0.fc1.weight"}, "a"), bare("MatMul", {"a", "b.0.fc2.weight"}, "b"),
         bare("Add", {"b", "x"}, "sum_0"), bare("MatMul", {"sum_0", "b.1.fc1.weight"}, "c"),
         bare("MatMul", {"c", "b.1.fc2.weight"}, "d"), bare("Add", {"d", "sum_0"}, "sum_1"),
         bare("MatMul", {"sum_1", "head.weight"}, "y")},
        {"y"},
        {"b.0.fc1.weight", "b.0.fc2.weight", "b.1.fc1.weight", "b.1.fc2.weight", "head.weight"}));
    CHECK(scene.paths<parameter_regions>("sum_1") == texts{"b.1"});
}

TEST_CASE("parameter_regions: what rearranges a sum may belong to the next module") {
    test::evidence_scene scene(bare_model(
        {bare("Conv", {"x", "net.a.l.weight"}, "l"), bare("Conv", {"x", "net.a.r.weight"}, "r"),
         bare("Add", {"l", "r"}, "sum"), bare("Reshape", {"sum", "shape"}, "flat"),
         bare("Conv", {"flat", "net.b.fc.weight"}, "y")},
        {"y"}, {"net.a.l.weight", "net.a.r.weight", "net.b.fc.weight"}));
    CHECK(scene.paths<parameter_regions>("sum") == texts{"net.a"});
    CHECK(scene.paths<parameter_regions>("flat") == texts{"net"});
}

TEST_CASE("parameter_regions: a gate is in the module whose steps lead to it") {
    test::evidence_scene scene(bare_model(
        {bare("Conv", {"x", "b.0.conv.weight"}, "c"), bare("Relu", {"c"}, "r"),
         bare("Conv", {"r", "b.0.se.fc1.weight"}, "f"), bare("Relu", {"f"}, "g"),
         bare("Conv", {"g", "b.0.se.fc2.weight"}, "h"), bare("Sigmoid", {"h"}, "s"),
         bare("Mul", {"s", "r"}, "gated"), bare("Conv", {"gated", "b.0.last.weight"}, "y")},
        {"y"}, {"b.0.conv.weight", "b.0.se.fc1.weight", "b.0.se.fc2.weight", "b.0.last.weight"}));
    CHECK(scene.paths<parameter_regions>("gated") == texts{"b.0.se"});
}

TEST_CASE("parameter_regions: a Reshape into groups belongs to the normalization") {
    test::evidence_scene scene(bare_model(
        {bare("Conv", {"x", "b.conv.weight"}, "c"), bare("Reshape", {"c", "shape"}, "groups"),
         bare("InstanceNormalization", {"groups", "ones", "zeros"}, "n"),
         bare("Reshape", {"n", "shape"}, "whole"), bare("Mul", {"whole", "b.norm.weight"}, "m"),
         bare("Add", {"m", "b.norm.bias"}, "y")},
        {"y"}, {"b.conv.weight", "b.norm.weight", "b.norm.bias", "shape", "ones", "zeros"}));
    for (const auto* name : {"groups", "n", "whole"}) {
        CHECK(scene.paths<parameter_regions>(name) == texts{"b.norm"});
    }
}

TEST_CASE("parameter_regions: values that have met do not meet again") {
    test::evidence_scene scene(bare_model(
        {bare("MatMul", {"x", "enc.a.weight"}, "a"), bare("MatMul", {"x", "enc.b.weight"}, "b"),
         bare("Concat", {"a", "b"}, "met"), bare("Relu", {"met"}, "r"), bare("Tanh", {"met"}, "t"),
         bare("Mul", {"r", "t"}, "later"), bare("MatMul", {"later", "dec.weight"}, "y")},
        {"y"}, {"enc.a.weight", "enc.b.weight", "dec.weight"}));
    CHECK(scene.paths<parameter_regions>("met") == texts{"enc"});
    CHECK(scene.paths<parameter_regions>("later") == texts{"/"});
}

TEST_CASE(
    "parameter_regions: shapes serve their readers, not the owners of parameters read there") {
    test::evidence_scene scene(
        bare_model({bare("Shape", {"x"}, "shape"), bare("Range", {"shape"}, "positions"),
                    bare("Gather", {"m.embed.weight", "positions"}, "e"),
                    bare("MatMul", {"e", "m.fc.weight"}, "y")},
                   {"y"}, {"m.embed.weight", "m.fc.weight"}));
    CHECK(scene.paths<parameter_regions>("positions") == texts{"m"});
    CHECK(scene.paths<parameter_regions>("shape") == texts{"m"});
}

TEST_CASE("parameter_regions: rearranging the result of a join stays with it") {
    test::evidence_scene scene(bare_model(
        {bare("MatMul", {"x", "at.self.q.weight"}, "q"),
         bare("MatMul", {"x", "at.self.k.weight"}, "k"), bare("MatMul", {"q", "k"}, "scores"),
         bare("Transpose", {"scores"}, "turned"), bare("Relu", {"turned"}, "used"),
         bare("MatMul", {"used", "at.out.weight"}, "y")},
        {"y"}, {"at.self.q.weight", "at.self.k.weight", "at.out.weight"}));
    CHECK(scene.paths<parameter_regions>("scores") == texts{"at.self"});
    CHECK(scene.paths<parameter_regions>("turned") == texts{"at.self"});
    CHECK(scene.paths<parameter_regions>("used") == texts{"at"});
}

TEST_CASE("parameter_regions: readers of named parameters are left to those") {
    test::evidence_scene scene(nameless_block());
    CHECK(scene.claims<parameter_regions>("a1").empty());
    CHECK(scene.claims<parameter_regions>("scaled").empty());
}

TEST_CASE("parameter_regions: nothing is guessed if operators have scopes") {
    // The names end in values, so only those with a scope that ends in the operator's type count.
    test::evidence_scene scene(test::graph({test::node("Relu", {"x"}, {"y"}, "/block/Relu"),
                                            test::node("Neg", {"y"}, {"z"}, "nameless")},
                                           {"x"}, {"z"}, {"block.fc.weight"}));
    CHECK(scene.claims<parameter_regions>("nameless").empty());
}

} // namespace test::evidence_parameter_regions
