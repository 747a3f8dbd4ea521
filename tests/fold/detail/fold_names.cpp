// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_names.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace test::fold_detail_fold_names {

TEST_CASE("common_scope: the prefix up to a slash that nearly all names share") {
    using stemma::detail::common_scope;
    CHECK(common_scope({"/a/b/x", "/a/b/y", "/a/b/c/z"}) == "/a/b");
    CHECK(common_scope({"/a/b/x", "/a/b/y", "/a/b/z", "/a/b/c/z", "Constant_3"}) == "/a/b");
    CHECK(common_scope({"/a/b/x", "/a/c/y"}) == "/a");
    CHECK(common_scope({"/a/bc/x", "/a/b/y"}) == "/a");
    CHECK(common_scope({"n1", "n2"}).empty());
    CHECK(common_scope({}).empty());
}

TEST_CASE("module_scope: that of the module, if it has operators of its own") {
    using stemma::detail::module_scope;
    const std::vector<std::string_view> names{"/e/e.1/block/block.0/Mul", "/e/e.1/Add"};
    CHECK(module_scope("/e/e.1/block", names, "e.1") == "/e/e.1");
    CHECK(module_scope("/e/e.1/block", names, "e") == "/e/e.1/block");
    CHECK(module_scope("/e/e.1", names, "e.1") == "/e/e.1");
    CHECK(module_scope("/e/e.1/block", {"/e/e.1/block/block.0/Mul"}, "e.1") == "/e/e.1/block");
    CHECK(module_scope("e/e.1", {"e/e.1/Mul_node_1", "e/Add_node_2"}, "e") == "e");
    CHECK(module_scope("e/e.1", {"e/e.1/block/Mul_node_1"}, "x") == "e/e.1");
    CHECK(module_scope("", names, "").empty());
}

TEST_CASE("fold_names: shared bodies lose the scope of the first call, each call has its own") {
    auto scene = test::layered_model(3);
    const auto plan = scene.plan();
    const stemma::detail::fold_names names(scene.model, scene.contents, scene.modules, plan);
    const auto layer = plan.function[1];
    CHECK_FALSE(names.keeps(layer));
    CHECK(names.call_scope(1) == "/layer/layer.0");
    CHECK(names.call_scope(3) == "/layer/layer.1");
    CHECK(names.call_scope(2) == "/fc"); // inside of the first
    CHECK(names.scope(4) == "/layer/layer.1/fc");
    CHECK(names.in_body(layer, "/layer/layer.0/Relu") == "/Relu");
    CHECK(names.in_body(layer, "elsewhere") == "elsewhere");
    CHECK(names.in_body(layer, plan.inputs[1][1]) == "fc.weight");
    // In the body of a function every value has a name of its own.
    for (stemma::id f = 0; f < plan.functions.size(); ++f) {
        std::set<std::string_view> unique;
        for (auto value : plan.inputs[plan.functions[f].region]) {
            CHECK(unique.insert(names.in_body(f, value)).second);
        }
    }
}

TEST_CASE("fold_names: a function called once keeps its names") {
    auto scene = test::layered_model(1);
    const auto plan = scene.plan();
    const stemma::detail::fold_names names(scene.model, scene.contents, scene.modules, plan);
    CHECK(names.keeps(plan.function[1]));
    CHECK(names.call_scope(1).empty());
    CHECK(names.in_body(plan.function[1], plan.inputs[1][1]) == "layer.0.fc.weight");
}

TEST_CASE("fold_names: names that differ only in scope stay distinct") {
    std::vector<stemma::attribution> where;
    std::vector<test::message> nodes;
    for (const std::string layer : {"0", "1"}) {
        const auto in = "/" + layer;
        nodes.push_back(
            test::node("Relu", {layer == "0" ? "x" : "/0/b"}, {layer + "~"}, in + "/a"));
        nodes.push_back(test::node("Add", {layer + "~", "/b" + layer}, {in + "/b"}, in + "/b"));
        for (int i = 0; i < 2; ++i) {
            where.push_back({layer == "0" ? 2U : 4U, stemma::no_id, 1, stemma::provenance::scope});
        }
    }
    nodes[1] = test::node("Add", {"0~", "/b"}, {"/0/b"}, "/0/b"); // "/b" is an input's name, too
    nodes[3] = test::node("Add", {"1~", "/b"}, {"y"}, "/1/b");
    test::fold_scene scene{test::model(test::graph(nodes, {"x", "/b"}, {"y"})).bytes(),
                           test::layers(2), where};
    const auto plan = scene.plan();
    REQUIRE(plan.functions.size() == 1);
    const stemma::detail::fold_names names(scene.model, scene.contents, scene.modules, plan);
    std::set<std::string_view> unique;
    for (auto value : plan.inputs[1]) {
        CHECK(unique.insert(names.in_body(0, value)).second);
    }
    CHECK(unique.insert(names.in_body(0, plan.outputs[1][0])).second);
    CHECK(test::unfold(scene.fold()) == scene.bytes);
}

} // namespace test::fold_detail_fold_names
