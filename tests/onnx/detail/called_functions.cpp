// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/called_functions.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <set>
#include <string>
#include <vector>

namespace test::onnx_detail_called_functions {

TEST_CASE("called_functions: finds those that nodes, their bodies and other functions call") {
    const auto call = [](const std::string& name) {
        return test::node(name, {"x"}, {name}, name, "local");
    };
    const auto function = [&](const std::string& name, const std::vector<test::message>& nodes) {
        return test::function("local", name, {"x"}, {"y"}, nodes);
    };
    const auto body = test::graph({call("InBody")}, {}, {"InBody"});
    const test::built_model model(
        test::model(
            test::graph({call("A"), call("Alone"),
                         test::owner_node("If", {"c"}, {"r"},
                                          {test::graph_attribute("then_branch", body)}, "if")}))
            .inner(25, function("A", {call("B"), test::node("Relu", {"x"}, {"y"}, "relu")}))
            .inner(25, function("B", {call("A")})) // in a cycle
            .inner(25, function("Alone", {}))
            .inner(25, function("InBody", {})));
    const stemma::graph_contents contents(model);
    const auto called = [&](const std::string& name) {
        std::set<std::string> names;
        std::set<std::string> visited;
        const std::vector<stemma::id> nodes{test::node_called(model, name)};
        for (auto f :
             stemma::detail::called_functions(model, contents, nodes, [&](stemma::id node) {
                 visited.emplace(model.name(node));
             })) {
            names.emplace(model.text(model.functions()[f].name));
        }
        CHECK(visited.count(name) == 1);
        CHECK(visited.count("relu") == names.count("A"));
        return names;
    };
    CHECK(called("A") == std::set<std::string>{"A", "B"});
    CHECK(called("Alone") == std::set<std::string>{"Alone"});
    CHECK(called("if") == std::set<std::string>{"InBody"});
}

TEST_CASE("uncalled_functions: finds those that only call each other") {
    const auto calling = [](const std::string& name, const std::string& callee) {
        return test::function("local", name, {"x"}, {"y"},
                              {test::node(callee, {"x"}, {"y"}, "", "local")});
    };
    const test::built_model model(
        test::model(test::graph({test::node("A", {"x"}, {"y"}, "", "local")}, {"x"}, {"y"}))
            .inner(25, calling("A", "B"))
            .inner(25, calling("B", "Outside"))
            .inner(25, calling("C", "D"))
            .inner(25, calling("D", "B")));
    const auto uncalled = stemma::detail::uncalled_functions(model, stemma::graph_contents(model));
    std::set<std::string> names;
    for (auto g : uncalled) {
        names.emplace(model.text(model.functions()[model.graph(g).function].name));
    }
    CHECK(names == std::set<std::string>{"C", "D"});
    CHECK(uncalled.size() == 2);
}

} // namespace test::onnx_detail_called_functions
