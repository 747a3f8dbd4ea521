// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/alike_modules.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../opened_graph.hpp"
#include "../wire_builder.hpp"

#include <stemma/model/module_lookup.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::query_alike_modules {

namespace {

using stemma::id;

stemma::attributed_model open_model(const std::string& fixture) {
    return test::captured_model(fixture,
                                fixture == "resnet18" ? "model.structure.onnx" : "model.onnx");
}

std::vector<std::string> like(const stemma::attributed_model& opened, const std::string& path) {
    stemma::alike_modules alike(opened.model(), opened.modules(), opened.tags().attributions);
    const auto m =
        stemma::find_module(stemma::module_lookup<stemma::module_tree>(opened.modules()), path);
    std::vector<std::string> paths;
    for (auto other : alike.like(m)) {
        paths.push_back(opened.modules().path(other));
    }
    return paths;
}

} // namespace

TEST_CASE("alike_modules: layers of a transformer are alike, including descendants") {
    const auto opened = open_model("bert_micro");
    CHECK(like(opened, "encoder.layer.0") == std::vector<std::string>{"encoder.layer.1"});
    CHECK(like(opened, "encoder.layer.0.attention.self") ==
          std::vector<std::string>{"encoder.layer.1.attention.self"});
    CHECK(like(opened, "encoder").empty());
}

TEST_CASE("alike_modules: attributes and weight shapes distinguish blocks") {
    const auto opened = open_model("resnet18");
    // The first block of a stage halves the picture and doubles the channels.
    CHECK(like(opened, "layer1.0") == std::vector<std::string>{"layer1.1"});
    CHECK(like(opened, "layer2.0").empty());
    CHECK(like(opened, "layer2.1").empty());
}

namespace {

/// Two blocks, the nodes of the second one in another order, and with other weights.
std::string two_blocks(std::uint64_t axis = 1, bool shown = false) {
    using test::node;
    const auto concat = [](const test::names& in, const test::names& out, const char* name,
                           std::uint64_t along) {
        return node("Concat", in, out, name)
            .inner(5, test::message().text(1, "axis").number(3, along).number(20, 2));
    };
    return test::model(test::graph({node("Relu", {"x"}, {"a"}, "/blocks.0/Relu"),
                                    node("MatMul", {"a", "blocks.0.w"}, {"b"}, "/blocks.0/MatMul"),
                                    node("Tanh", {"x"}, {"c"}, "/blocks.0/Tanh"),
                                    concat({"b", "c"}, {"d"}, "/blocks.0/Concat", 1),
                                    node("Tanh", {"d"}, {"e"}, "/blocks.1/Tanh"),
                                    node("Relu", {"d"}, {"f"}, "/blocks.1/Relu"),
                                    node("MatMul", {"f", "blocks.1.w"}, {"g"}, "/blocks.1/MatMul"),
                                    concat({"g", "e"}, {"y"}, "/blocks.1/Concat", axis)},
                                   {"x"}, shown ? test::names{"y", "e"} : test::names{"y"},
                                   {"blocks.0.w", "blocks.1.w"}))
        .bytes();
}

std::vector<std::string> like_block(const std::string& bytes, stemma::alike_modules::likeness how) {
    const auto opened = test::in_memory(bytes);
    stemma::alike_modules alike(opened.model(), opened.modules(), opened.tags().attributions);
    const stemma::module_lookup<stemma::module_tree> lookup(opened.modules());
    std::vector<std::string> paths;
    for (auto other : alike.like(stemma::find_module(lookup, "blocks.0"), how)) {
        paths.push_back(opened.modules().path(other));
    }
    return paths;
}

} // namespace

TEST_CASE("alike_modules: the order of nodes does not count, attributes and results do") {
    using enum stemma::alike_modules::likeness;
    for (const auto how : {function, form}) {
        CHECK(like_block(two_blocks(), how) == std::vector<std::string>{"blocks.1"});
        CHECK(like_block(two_blocks(0), how).empty());
    }
    CHECK(like_block(two_blocks(1, true), function).empty());
    CHECK_FALSE(like_block(two_blocks(1, true), form).empty());
}

TEST_CASE("alike_modules: weight shapes distinguish forms, but not functions") {
    const auto opened = open_model("resnet18");
    stemma::alike_modules alike(opened.model(), opened.modules(), opened.tags().attributions);
    const stemma::module_lookup<stemma::module_tree> lookup(opened.modules());
    const auto narrow = stemma::find_module(lookup, "layer2.1");
    const auto wide = stemma::find_module(lookup, "layer4.1");
    CHECK(alike(narrow, wide, stemma::alike_modules::likeness::function));
    CHECK_FALSE(alike(narrow, wide));
    CHECK(alike.like(narrow, stemma::alike_modules::likeness::function).size() >= 3);
}

TEST_CASE("alike_modules: finds corresponding nodes of two models") {
    const auto first = test::in_memory(two_blocks(), "first");
    const auto second = test::in_memory(two_blocks(), "second");
    stemma::alike_modules a(first.model(), first.modules(), first.tags().attributions);
    stemma::alike_modules b(second.model(), second.modules(), second.tags().attributions);
    const stemma::module_lookup<stemma::module_tree> lookup(first.modules());
    const auto m = stemma::find_module(lookup, "blocks.0");
    const auto n = stemma::find_module(lookup, "blocks.1");
    auto pairs = stemma::alike_modules::match(a, m, b, n);
    REQUIRE(pairs);
    std::sort(pairs->begin(), pairs->end());
    CHECK(*pairs == std::vector<std::pair<id, id>>{{0, 5}, {1, 6}, {2, 4}, {3, 7}});
    CHECK_FALSE(stemma::alike_modules::match(a, m, b, 0));
}

TEST_CASE("alike_modules: is symmetric") {
    const auto opened = open_model("bert_micro");
    stemma::alike_modules alike(opened.model(), opened.modules(), opened.tags().attributions);
    for (id a = 0; a < opened.modules().size(); ++a) {
        CHECK(alike(a, a));
        for (auto b : alike.like(a)) {
            CHECK(alike(b, a));
        }
    }
}

} // namespace test::query_alike_modules
