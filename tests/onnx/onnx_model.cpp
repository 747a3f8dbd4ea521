// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/onnx_model.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <set>
#include <string>
#include <vector>

namespace test::onnx_onnx_model {

namespace {

using stemma::graph_kind;
using stemma::id;
using stemma::no_id;

} // namespace

TEST_CASE("onnx_model: every graph has a path") {
    const auto leaf = test::graph({test::node("Relu", {"x"}, {"y"})});
    const auto nested =
        test::graph({test::node("Tanh", {"x"}, {"z"}),
                     test::owner_node("If", {"x"}, {"y"},
                                      {test::graph_attribute("then_branch", leaf),
                                       test::graphs_attribute("others", {leaf, leaf})})});
    auto message = test::model(test::graph(
        {test::node("Neg", {"x"}, {"n"}),
         test::owner_node("Loop", {"x"}, {"y"}, {test::graph_attribute("body", nested)}),
         test::owner_node("Any", {"x"}, {"k"}, {test::graphs_attribute("g", {leaf})})}));
    message.inner(25, test::function("my.domain", "F", {}, {}, {test::node("Relu", {}, {})}));
    message.inner(
        25,
        test::function(
            "my.domain", "F", {}, {},
            {test::owner_node("If", {}, {}, {test::graph_attribute("then_branch", leaf)})}, "2"));
    message.inner(25, test::function("", "G", {}, {}, {}));
    const test::built_model model(message);
    std::set<std::string> paths;
    for (id g = 0; g < model.graph_count(); ++g) {
        paths.insert(model.graph_path(g));
    }
    CHECK(paths == std::set<std::string>{"", "1/body", "1/body/1/then_branch", "1/body/1/others[0]",
                                         "1/body/1/others[1]", "2/g[0]", "@my.domain::F",
                                         "@my.domain::F:2", "@my.domain::F:2/0/then_branch",
                                         "@::G"});
    for (id g = 0; g < model.graph_count(); ++g) {
        const auto path = model.graph_path(g);
        for (std::size_t limit = 0; limit <= path.size(); ++limit) {
            const auto cut = model.graph_path(g, limit);
            CAPTURE(path, limit, cut);
            CHECK((cut == path) == (limit == path.size()));
            CHECK((cut == path || cut.starts_with("\xe2\x80\xa6")));
            const auto rest = cut == path ? cut : cut.substr(3);
            CHECK(path.ends_with(rest));
            CHECK((rest.empty() || rest == path || rest.front() == '/'));
            CHECK(rest.size() <= limit + 1);
        }
    }
    CHECK(model.graph_path(2, 13) == "\xe2\x80\xa6/1/then_branch");
}

TEST_CASE("onnx_model: graphs know their kind, owner and function") {
    const auto leaf = test::graph({test::node("Relu", {"x"}, {"y"}, "leaf")});
    auto message = test::model(test::graph({test::owner_node(
        "If", {"x"}, {"y"}, {test::graphs_attribute("b", {leaf, leaf})}, "owner")}));
    message.inner(25, test::function("d", "F", {"a"}, {"b"}, {test::node("Relu", {"a"}, {"b"})}));
    const test::built_model model(message);
    REQUIRE(model.graph_count() == 4);
    CHECK(model.graph(0).kind == graph_kind::main);
    CHECK(model.graph(0).owner == no_id);
    const auto owner = test::node_called(model, "owner");
    for (id k = 0; k < 2; ++k) {
        const auto& body = model.graph(1 + k);
        CHECK(body.kind == graph_kind::body);
        CHECK(body.owner == owner);
        CHECK(body.listed);
        CHECK(body.attribute_index == k);
        CHECK(model.text(body.attribute) == "b");
    }
    CHECK(model.graph(3).kind == graph_kind::function);
    CHECK(model.graph(3).function == 0);
    REQUIRE(model.functions().size() == 1);
    CHECK(model.functions()[0].graph == 3);
    CHECK(model.text(model.functions()[0].domain) == "d");
    CHECK(model.graph(3).inputs.size() == 1);
    CHECK(model.graph(3).outputs.size() == 1);
}

TEST_CASE("onnx_model: a body comes after the graph that contains it") {
    for (const auto& path : test::model_files()) {
        const test::built_model model(test::read_bytes(path));
        CAPTURE(path);
        for (id g = 1; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                CHECK(model.graph_of(model.graph(g).owner) < g);
            }
        }
    }
}

TEST_CASE("onnx_model: inputs and outputs are by slot") {
    const test::built_model model({test::node("A", {}, {}),
                                   test::node("B", {"x", "", "y"}, {"p", "", "q"}),
                                   test::node("C", {"q"}, {})},
                                  {"x", "y"});
    CHECK(model.inputs(0).empty());
    CHECK(model.output_count(0) == 0);
    REQUIRE(model.inputs(1).size() == 3);
    CHECK(model.inputs(1)[1] == no_id);
    REQUIRE(model.output_count(1) == 3);
    CHECK(model.value_name(model.first_output(1) + 1).empty());
    CHECK(model.outputs(0).empty());
    CHECK(std::vector<id>(model.outputs(1).begin(), model.outputs(1).end()) ==
          std::vector<id>{model.first_output(1), model.first_output(1) + 1,
                          model.first_output(1) + 2});
    CHECK(model.inputs(2)[0] == model.first_output(1) + 2);
    CHECK(model.output_count(2) == 0);
}

TEST_CASE("onnx_model: equal nodes share operators") {
    const test::built_model model(
        test::model(test::graph({test::node("A", {}, {}), test::node("A", {}, {}),
                                 test::node("A", {}, {}, "n", "d"), test::node("B", {}, {})})));
    CHECK(model.operator_count() == 3);
    CHECK(model.operator_id(0) == model.operator_id(1));
    CHECK(model.operator_type(model.operator_id(3)) == "B");
    CHECK(model.operator_domain(model.operator_id(2)) == "d");
    CHECK(model.operator_callee(model.operator_id(2)) == no_id);
}

} // namespace test::onnx_onnx_model
