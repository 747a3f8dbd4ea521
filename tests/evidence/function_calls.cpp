// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/function_calls.hpp>

#include "../catch.hpp"
#include "../evidence_scene.hpp"
#include "../model_with_metadata.hpp"

#include <stemma/model/attribution.hpp>

#include <string>
#include <vector>

namespace test::evidence_function_calls {

using stemma::function_calls;
using texts = std::vector<std::string>;

namespace {

std::string with_functions(const test::message& graph,
                           const std::vector<test::message>& functions) {
    auto model = test::model(graph, 10);
    for (const auto& one : functions) {
        model.inner(25, one);
    }
    return model.bytes();
}

} // namespace

TEST_CASE("function_calls: the body of a shared function belongs to each calling module, with the "
          "parameters that each passes") {
    const auto body = test::function("app", "Block", {"a", "w"}, {"b"},
                                     {test::node("Add", {"a", "w"}, {"c"}, "Add_1"),
                                      test::node("Relu", {"c"}, {"b"}, "Relu_2")});
    test::evidence_scene scene(with_functions(
        test::graph(
            {test::node("Block", {"x", "blocks.0.weight"}, {"y"}, "/blocks.0/Block", "app"),
             test::node("Block", {"y", "blocks.1.weight"}, {"z"}, "/blocks.1/Block", "app")},
            {"x"}, {"z"}, {"blocks.0.weight", "blocks.1.weight"}),
        {body}));
    CHECK(scene.paths<function_calls>("/blocks.0/Block") == texts{"blocks.0"});
    CHECK(scene.paths<function_calls>("/blocks.1/Block") == texts{"blocks.1"});
    CHECK(scene.paths<function_calls>("Add_1") == texts{"blocks.0", "blocks.1"});
    CHECK(scene.paths<function_calls>("Relu_2") == texts{"blocks.0", "blocks.1"});
}

TEST_CASE("function_calls: a call that only passes a parameter on is above its owner") {
    const auto linear = test::function("nn", "Linear", {"a", "w"}, {"b"},
                                       {test::node("MatMul", {"a", "w"}, {"b"}, "product")});
    const auto block = test::function("app", "Block", {"a", "w"}, {"b"},
                                      {test::node("Linear", {"a", "w"}, {"c"}, "call", "nn"),
                                       test::node("Relu", {"c"}, {"b"}, "own")});
    const auto net = test::function("app", "Net", {"a", "w", "v"}, {"b"},
                                    {test::node("Block", {"a", "w"}, {"c"}, "first", "app"),
                                     test::node("Linear", {"c", "v"}, {"b"}, "head", "nn")});
    test::evidence_scene scene(
        with_functions(test::graph({test::node("Net", {"x", "blocks.0.fc.weight", "head.weight"},
                                               {"y"}, "/head/Net", "app")},
                                   {"x"}, {"y"}, {"blocks.0.fc.weight", "head.weight"}),
                       {linear, block, net}));
    CHECK(scene.paths<function_calls>("/head/Net") == texts{"/"});
    CHECK(scene.paths<function_calls>("first") == texts{"blocks.0"});
    CHECK(scene.paths<function_calls>("own") == texts{"blocks.0"});
    CHECK(scene.paths<function_calls>("call") == texts{"blocks.0.fc"});
    CHECK(scene.paths<function_calls>("head") == texts{"head"});
    CHECK(scene.paths<function_calls>("product") == texts{"head", "blocks.0.fc"});
}

TEST_CASE("function_calls: nested functions named after module paths are found by them") {
    const std::string domain = "pkg.app.1.0";
    const auto inner = test::function(domain, "app_FC_block_fc_2", {"a", "w"}, {"b"},
                                      {test::node("MatMul", {"a", "w"}, {"b"}, "inner")});
    const auto outer =
        test::function(domain, "app_Block_block_1", {"a", "w"}, {"b"},
                       {test::node("app_FC_block_fc_2", {"a", "w"}, {"c"}, "call_inner", domain),
                        test::node("Relu", {"c"}, {"b"}, "outer")});
    test::evidence_scene scene(
        with_functions(test::graph({test::node("app_Block_block_1", {"x", "block.fc.weight"}, {"y"},
                                               "call_outer", domain)},
                                   {"x"}, {"y"}, {"block.fc.weight"}),
                       {outer, inner}));
    CHECK(scene.paths<function_calls>("call_outer") == texts{"block"});
    CHECK(scene.paths<function_calls>("call_inner") == texts{"block.fc"});
    CHECK(scene.paths<function_calls>("inner") == texts{"block.fc"});
    CHECK(scene.paths<function_calls>("outer") == texts{"block"});
}

TEST_CASE("function_calls: metadata of a call determine where its body runs, separately for each "
          "overload") {
    const auto twice = [](const std::string& overload) {
        return test::function("lib", "Twice", {"a"}, {"b"},
                              {test::node("Add", {"a", "a"}, {"b"}, "body" + overload)}, overload);
    };
    const auto call = [](const std::string& from, const std::string& to, const std::string& module,
                         const std::string& overload) {
        auto fields = test::node("Twice", {from}, {to}, "call" + overload, "lib");
        fields.text(8, overload);
        return test::described(
            fields, test::dynamo({"", module, "twice"}, {"app.Net", "app.Part", "lib.twice"}));
    };
    test::evidence_scene scene(with_functions(
        test::graph({call("x", "y", "left", "1"), call("y", "z", "right", "2")}, {"x"}, {"z"}),
        {twice("1"), twice("2")}));
    CHECK(scene.paths<function_calls>("body1") == texts{"left"});
    CHECK(scene.paths<function_calls>("body2") == texts{"right"});
    CHECK(scene.paths<function_calls>("call1") == texts{"left"});
}

TEST_CASE("function_calls: an uncalled function is the root's, and recursion terminates") {
    const auto unused =
        test::function("lib", "Unused", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"}, "unused")});
    const auto endless = test::function("lib", "Endless", {"a"}, {"b"},
                                        {test::node("Endless", {"a"}, {"b"}, "again", "lib")});
    test::evidence_scene scene(with_functions(
        test::graph({test::node("Endless", {"x"}, {"y"}, "start", "lib")}, {"x"}, {"y"}),
        {unused, endless}));
    CHECK(scene.paths<function_calls>("unused") == texts{"/"});
    CHECK_FALSE(scene.claims<function_calls>("unused").at(0).exact);
    CHECK(scene.paths<function_calls>("again") == texts{"/"});
}

TEST_CASE("function_calls: nothing is claimed about a call of which only parameters tell") {
    const auto body = test::function("app", "Pooler", {"a", "w"}, {"b"},
                                     {test::node("MatMul", {"a", "w"}, {"c"}, "MatMul_1"),
                                      test::node("Tanh", {"c"}, {"b"}, "Tanh_2")});
    const auto scene_of = [&](const std::string& name) {
        return with_functions(
            test::graph({test::node("Pooler", {"x", "pooler.dense.weight"}, {"y"}, name, "app")},
                        {"x"}, {"y"}, {"pooler.dense.weight"}),
            {body});
    };
    test::evidence_scene unnamed(scene_of("call"));
    CHECK(unnamed.paths<function_calls>("call").empty());
    CHECK(unnamed.paths<function_calls>("MatMul_1") == texts{"pooler.dense"});
    test::evidence_scene named(scene_of("/pooler/Pooler"));
    CHECK(named.paths<function_calls>("/pooler/Pooler") == texts{"pooler"});
}

TEST_CASE("function_calls: nothing is claimed about an unknown call, except in the body of an If, "
          "where it belongs to the owner's module") {
    const auto body = test::function("pkg.torch.__subgraph__", "true_graph_0", {"a"}, {"b"},
                                     {test::node("Relu", {"a"}, {"b"}, "inside")});
    const auto call = test::node("true_graph_0", {"x"}, {"c"}, "call", "pkg.torch.__subgraph__");
    const auto outside =
        test::described(test::node("Relu", {"x"}, {"k"}, "known"),
                        test::dynamo({"", "graph", "relu"}, {"app.Net", "app.Part", "relu"}));
    test::evidence_scene plain(with_functions(test::graph({outside, call}, {"x"}, {"c"}), {body}));
    CHECK(plain.paths<function_calls>("call").empty());
    CHECK(plain.paths<function_calls>("inside") == texts{"/"});
    CHECK(plain.claims<function_calls>("inside").at(0).confidence <= 0.5F);
    const auto owner = test::described(
        test::owner_node("If", {"x"}, {"y"},
                         {test::graph_attribute("then_branch", test::graph({call}, {}, {"c"}))},
                         "owner"),
        test::dynamo({"", "gate", "cond"}, {"app.Net", "app.Gate", "cond"}));
    test::evidence_scene branch(
        with_functions(test::graph({outside, owner}, {"x"}, {"y"}), {body}));
    CHECK(branch.paths<function_calls>("call") == texts{"gate"});
    CHECK(branch.paths<function_calls>("inside") == texts{"gate"});
}

TEST_CASE("function_calls: shared operators belong to each call's module, and if every module is a "
          "function the others are the root's") {
    const std::string torch = "pkg.torch.2.2.0";
    const std::string library = "pkg.onnxscript.torch_lib";
    const auto relu = test::function(library, "aten_relu", {"self"}, {"result"},
                                     {test::node("Relu", {"self"}, {"result"}, "n0")});
    const auto block = [&](const std::string& number) {
        return test::function(torch, "app_Block_blocks_" + number + "_1", {"a", "w"}, {"b"},
                              {test::node("MatMul", {"a", "w"}, {"c"}, "product" + number),
                               test::node("aten_relu", {"c"}, {"b"}, "relu" + number, library)});
    };
    test::evidence_scene scene(with_functions(
        test::graph(
            {test::node("app_Block_blocks_0_1", {"x", "blocks.0.weight"}, {"y"}, "b0", torch),
             test::node("app_Block_blocks_1_1", {"y", "blocks.1.weight"}, {"z"}, "b1", torch),
             test::node("aten_relu", {"z"}, {"v"}, "last", library),
             test::node("Neg", {"v"}, {"u"}, "own")},
            {"x"}, {"u"}, {"blocks.0.weight", "blocks.1.weight"}),
        {relu, block("0"), block("1")}));
    CHECK(scene.paths<function_calls>("relu0") == texts{"blocks.0"});
    CHECK(scene.paths<function_calls>("last") == texts{"/"});
    CHECK(scene.paths<function_calls>("own") == texts{"/"});
    CHECK(scene.paths<function_calls>("n0") == texts{"/", "blocks.0", "blocks.1"});
    const auto calls = function_calls{}.prepare(scene.context());
    const auto module = [&](std::string_view node, stemma::id around) {
        const auto owner = calls.module_of(scene.node(node), around);
        return owner == stemma::no_id ? "-" : std::string(scene.modules().path(owner));
    };
    const auto first = calls.module_of(scene.node("b0"), stemma::no_id);
    CHECK(scene.modules().path(first) == "blocks.0");
    CHECK(module("relu0", first) == "blocks.0");
    CHECK(module("n0", first) == "blocks.0");
    CHECK(module("n0", 0).empty());
    CHECK(module("product1", first) == "-");
}

TEST_CASE("function_calls: a call has the name of the last operator in its body, which is in that "
          "module") {
    const auto body = test::function("app", "Pool", {"a", "w", "v"}, {"d"},
                                     {test::node("MatMul", {"a", "w"}, {"b"}, "product"),
                                      test::node("Add", {"b", "v"}, {"c"}, "own"),
                                      test::node("Tanh", {"c"}, {"d"}, "tanh")});
    test::evidence_scene scene(
        with_functions(test::graph({test::node("Pool", {"x", "pool.dense.weight", "pool.bias"},
                                               {"y"}, "/pool/activation/Pool", "app"),
                                    test::node("Neg", {"y"}, {"z"}, "/Neg")},
                                   {"x"}, {"z"}, {"pool.dense.weight", "pool.bias"}),
                       {body}));
    CHECK(scene.paths<function_calls>("/pool/activation/Pool") == texts{"pool"});
    CHECK(scene.paths<function_calls>("product") == texts{"pool.dense"});
    CHECK(scene.paths<function_calls>("tanh") == texts{"pool.activation"});
}

} // namespace test::evidence_function_calls
