// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/detail/report_names.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <set>
#include <string>
#include <vector>

namespace test::report_detail_report_names {

namespace {

using stemma::id;
using test::node;

std::vector<std::string> node_names(const stemma::wire_model& model) {
    const stemma::detail::report_names names(model);
    std::vector<std::string> all;
    for (id n = 0; n < model.node_count(); ++n) {
        all.push_back(names.node(n));
    }
    return all;
}

} // namespace

TEST_CASE("report_names: unnamed things are called by position", "[report_names]") {
    const test::built_model model(test::model(
        test::graph({node("Relu", {"x"}, {"a"}, "first"), node("Relu", {"a"}, {"b"}),
                     node("Relu", {"b"}, {"c"}, "twice"), node("Relu", {"c"}, {"d"}, "twice"),
                     node("Add", {"d", "w"}, {"e"}, "w"), node("Relu", {"e"}, {"f"}, "#1")},
                    {"x"}, {"f"}, {"w"})));
    CHECK(node_names(model) == std::vector<std::string>{"first", "#1", "#2", "#3", "#4", "#5"});
}

TEST_CASE("report_names: bodies and functions are part of a position", "[report_names]") {
    const auto body = [](const char* result) {
        return test::graph({node("Identity", {"w"}, {result})}, {}, {result}, {"w"});
    };
    const test::built_model model(
        test::model(test::graph({node("Call", {"x"}, {"c"}, "", "local"),
                                 test::owner_node("If", {"c"}, {"y"},
                                                  {test::graph_attribute("then_branch", body("t")),
                                                   test::graph_attribute("else_branch", body("e"))},
                                                  "choice")},
                                {"x"}, {"y"}))
            .inner(25, test::function("local", "Call", {"x"}, {"y"}, {node("Not", {"x"}, {"y"})})));
    const auto names = node_names(model);
    CHECK(std::set<std::string>(names.begin(), names.end()) ==
          std::set<std::string>{"#0", "1/then_branch#0", "1/else_branch#0", "choice",
                                "@local::Call#0"});
    const stemma::detail::report_names all(model);
    std::set<std::string> weights;
    for (id value = 0; value < model.value_count(); ++value) {
        if (model.is_initializer(value)) {
            weights.insert(all.initializer(value));
        }
    }
    CHECK(weights == std::set<std::string>{"1/then_branch##w", "1/else_branch##w"});
}

TEST_CASE("report_names: all names of a model differ", "[report_names]") {
    for (const auto& file : test::model_files()) {
        CAPTURE(file);
        const auto bytes = test::read_bytes(file);
        const stemma::wire_model model(bytes);
        const stemma::detail::report_names names(model);
        std::set<std::string> unique;
        std::size_t count = model.node_count();
        for (id n = 0; n < model.node_count(); ++n) {
            unique.insert(names.node(n));
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                ++count;
                unique.insert(names.initializer(value));
            }
        }
        CHECK(unique.size() == count);
    }
}

TEST_CASE("read_position: a graph and an index, else nothing") {
    using stemma::detail::read_position;
    REQUIRE(read_position("5/body#2"));
    CHECK(read_position("5/body#2")->graph == "5/body");
    CHECK(read_position("5/body#2")->index == 2);
    REQUIRE(read_position("#7"));
    CHECK(read_position("#7")->graph.empty());
    REQUIRE(read_position("#4294967296"));
    CHECK(read_position("#4294967296")->index == stemma::no_id);
    for (const auto* text : {"", "#", "7", "#7x", "#-1", "# 7"}) {
        CHECK_FALSE(read_position(text));
    }
}

} // namespace test::report_detail_report_names
