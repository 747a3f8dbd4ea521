// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_constants.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <stemma/onnx/detail/constant_node.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::fold_detail_fold_constants {

namespace {

using stemma::id;
using stemma::no_id;

test::message constant(const char* output, const char* value) {
    return test::node("Constant", {}, {output})
        .inner(5, test::text_attribute("value_string", value));
}

/// Two layers that multiply and add a Constant each; what these are is said by value.
test::fold_scene scaled(const std::vector<std::string>& values, const test::names& read,
                        const test::names& outputs = {"y"}) {
    std::vector<test::message> nodes;
    std::vector<stemma::attribution> where;
    for (std::size_t i = 0; i < values.size(); ++i) {
        nodes.push_back(constant(("c" + std::to_string(i)).c_str(), values[i].c_str()));
        where.push_back({0, no_id, 1, stemma::provenance::scope, false});
    }
    const test::names flow{"x", "a", "b", "c", "y"};
    for (std::size_t i = 0; i < 4; ++i) {
        nodes.push_back(test::node(i % 2 == 0 ? "Mul" : "Add", {flow[i], read[i]}, {flow[i + 1]}));
        where.push_back({i < 2 ? 2U : 4U, no_id, 1, stemma::provenance::scope, false});
    }
    return {test::model(test::graph(nodes, {"x"}, outputs)).bytes(), test::layers(2), where};
}

std::size_t count_constants(const std::string& file, bool inside) {
    const stemma::wire_model model(file, "file");
    std::size_t count = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        count +=
            stemma::detail::is_constant_node(model, node) && (model.graph_of(node) != 0) == inside
                ? 1U
                : 0U;
    }
    return count;
}

} // namespace

TEST_CASE("graph_results: outputs, and what else is needed outside") {
    const test::built_model model(
        test::model(test::graph({test::node("Op", {"x"}, {"a", "b", "c"})}, {"x"}, {"c"})));
    const auto output = model.first_output(0);
    const stemma::detail::graph_results outputs(model, 0);
    CHECK(outputs.values() == std::vector<id>{output + 2});
    CHECK_FALSE(outputs.contains(output));
    CHECK_FALSE(outputs.contains(no_id));
    const std::vector<id> exposed{output};
    CHECK(stemma::detail::graph_results(model, 0, exposed).values() ==
          std::vector<id>{output, output + 2});
    CHECK(stemma::detail::graph_results().values().empty());
}

TEST_CASE("spread_constants: a Constant is copied once into every function that reads it") {
    auto scene = scaled({"1", "2"}, {"c0", "c1", "c0", "c1"});
    const auto plan = scene.plan();
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].calls == 2);
    CHECK(plan.inputs[1].size() == 1); // x, and no constant
    CHECK(plan.regions[1].operators == 4);
    const auto folded = scene.fold();
    CHECK(count_constants(folded, false) == 0);
    CHECK(count_constants(folded, true) == 2);
    CHECK(test::unfold(folded) == scene.bytes);

    auto same = scaled({"1"}, {"c0", "c0", "c0", "c0"});
    CHECK(same.plan().regions[1].operators == 3);
    CHECK(test::unfold(same.fold()) == same.bytes);
}

TEST_CASE("spread_constants: unread Constants and outputs of the graph stay") {
    auto scene = scaled({"1", "2", "3"}, {"c0", "c1", "c0", "c1"}, {"y", "c1"});
    const auto plan = scene.plan();
    CHECK(plan.inputs[1].size() == 2); // x and c1
    const auto folded = scene.fold();
    CHECK(count_constants(folded, false) == 2);
    CHECK(test::unfold(folded) == scene.bytes);
}

TEST_CASE(
    "find_idle_regions: a region without outputs, or without its constants, is not a function") {
    // Layer 0 has constants that layer 1 reads, and an unread one.
    const std::vector<test::message> nodes{constant("a", "1"),
                                           constant("b", "2"),
                                           test::node("Neg", {"x"}, {"unread"}),
                                           test::node("Exp", {"unread"}, {"unread_too"}),
                                           test::node("Add", {"x", "a"}, {"m"}),
                                           test::node("Add", {"m", "b"}, {"y"})};
    std::vector<stemma::attribution> where;
    for (const id m : {2U, 2U, 2U, 2U, 4U, 4U}) {
        where.push_back({m, no_id, 1, stemma::provenance::scope, false});
    }
    test::fold_scene scene{test::model(test::graph(nodes, {"x"}, {"y"})).bytes(), test::layers(2),
                           where};
    const auto plan = scene.plan();
    REQUIRE(plan.regions.size() == 2);
    CHECK(plan.regions[1].module == 4);
    CHECK(plan.regions[1].operators == 4);
    CHECK(plan.inputs[1].size() == 1);
    REQUIRE(plan.left.size() == 1);
    CHECK(plan.left[0].operators == 2);
    CHECK(test::unfold(scene.fold()) == scene.bytes);
}

TEST_CASE(
    "find_varying_constants: bodies that differ in constants share, which become attributes") {
    const std::vector<std::string> values{"1", "2", "1", "3"};
    const test::names read{"c0", "c1", "c2", "c3"};
    auto apart = scaled(values, read);
    CHECK(apart.plan().functions.size() == 2);

    auto scene = scaled(values, read);
    scene.options.vary_constants = true;
    const auto plan = scene.plan();
    REQUIRE(plan.functions.size() == 1);
    CHECK(plan.functions[0].attributes == 1); // the first one of each is equal
    CHECK(plan.functions[0].slots == std::vector<id>{no_id, 0});
    const auto folded = scene.fold();
    CHECK(count_constants(folded, false) == 0);
    CHECK(count_constants(folded, true) == 2);
    CHECK(test::unfold(folded) == scene.bytes);
    const stemma::wire_model model(folded, "folded");
    REQUIRE(model.functions().size() == 1);
}

TEST_CASE("find_varying_constants: functions pass attributes on to their callees") {
    std::vector<test::message> nodes;
    std::vector<stemma::attribution> where;
    std::string flowing = "x";
    for (std::size_t i = 0; i < 4; ++i) {
        const auto number = std::to_string(i);
        const auto layer = static_cast<id>(2 + 2 * i);
        nodes.push_back(constant(("s" + number).c_str(), number.c_str()));
        nodes.push_back(test::node("Mul", {flowing, "s" + number}, {"m" + number}));
        nodes.push_back(constant(("t" + number).c_str(), i < 3 ? "7" : "8"));
        nodes.push_back(test::node("Add", {"m" + number, "t" + number}, {"a" + number}));
        nodes.push_back(constant(("u" + number).c_str(), "9"));
        flowing = i == 3 ? "y" : "o" + number;
        nodes.push_back(test::node("Sub", {"a" + number, "u" + number}, {flowing}));
        for (id k = 0; k < 6; ++k) {
            where.push_back(
                {k < 4 ? layer + 1 : layer, no_id, 1, stemma::provenance::scope, false});
        }
    }
    test::fold_scene scene{test::model(test::graph(nodes, {"x"}, {"y"})).bytes(), test::layers(4),
                           where};
    scene.options.vary_constants = true;
    const auto plan = scene.plan();
    REQUIRE(plan.functions.size() == 2);
    CHECK(plan.functions[0].attributes == 2);
    CHECK(plan.functions[1].attributes == 2);
    CHECK(plan.functions[1].slots == std::vector<id>{0, 1, no_id});
    CHECK(test::unfold(scene.fold()) == scene.bytes);
}

} // namespace test::fold_detail_fold_constants
