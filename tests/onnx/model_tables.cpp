// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/model_tables.hpp>

#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../random_model.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_model_tables {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::value_kind;
using stemma::wire_model;
using test::graph_at;
using test::node_called;
using test::value_called;

std::string model_of(const std::vector<test::message>& nodes, const test::names& inputs = {},
                     const test::names& outputs = {}, const test::names& initializers = {}) {
    return test::model(test::graph(nodes, inputs, outputs, initializers)).bytes();
}

/// What a name means inside a graph: its own value, else what it means in the graph around it.
/// Slow, and written from the rules of ONNX alone.
id meaning(const stemma::onnx_model& model, id g, std::string_view name) {
    for (;;) {
        const auto here = value_called(model, name, g);
        if (here != no_id && model.kind(here) != value_kind::undefined) {
            return here;
        }
        if (model.graph(g).kind != stemma::graph_kind::body) {
            return no_id;
        }
        g = model.graph_of(model.graph(g).owner);
    }
}

} // namespace

TEST_CASE("model_tables: results come first, in the order of nodes", "[onnx][model_tables]") {
    const auto bytes =
        model_of({test::node("Split", {"x"}, {"a", "b"}), test::node("Add", {"a", "w"}, {"c"})},
                 {"x"}, {"c"}, {"w"});
    const wire_model model(bytes);
    REQUIRE(model.value_count() == 5);
    CHECK(model.first_output(0) == 0);
    CHECK(model.first_output(1) == 2);
    for (id value = 0; value < 3; ++value) {
        CHECK(model.kind(value) == value_kind::result);
        CHECK(model.producer(value) == (value < 2 ? 0 : 1));
    }
    CHECK(model.kind(value_called(model, "x")) == value_kind::input);
    CHECK(model.kind(value_called(model, "w")) == value_kind::initializer);
    CHECK(model.producer(value_called(model, "w")) == no_id);
    CHECK(model.redefined().empty());
}

TEST_CASE("model_tables: an initializer that is also an input is one value",
          "[onnx][model_tables]") {
    const auto bytes =
        model_of({test::node("Add", {"x", "w"}, {"y"})}, {"x", "w"}, {"y"}, {"w", "v"});
    const wire_model model(bytes);
    const auto w = value_called(model, "w");
    CHECK(model.kind(w) == value_kind::initializer);
    CHECK(model.inputs(0)[1] == w);
    CHECK(model.graph(0).inputs == std::vector<id>{value_called(model, "x"), w});
    CHECK(model.graph(0).initializers == std::vector<id>{w, value_called(model, "v")});
    CHECK(model.redefined().empty());
    CHECK(model.value_count() == 4);
}

TEST_CASE("model_tables: a body reads the values of the graphs around it", "[onnx][model_tables]") {
    const auto inner = test::graph({test::node("Add", {"w", "b1"}, {"b2"}, "inner")}, {}, {"b2"});
    const auto outer =
        test::graph({test::node("Relu", {"x"}, {"b1"}, "outer"),
                     test::owner_node("If", {"c"}, {"b3"},
                                      {test::graph_attribute("then_branch", inner)}, "nested")},
                    {}, {"b3"});
    const auto bytes =
        model_of({test::owner_node("If", {"c"}, {"y"},
                                   {test::graph_attribute("then_branch", outer)}, "top")},
                 {"x", "c"}, {"y"}, {"w"});
    const wire_model model(bytes);
    const auto node = node_called(model, "inner");
    CHECK(model.inputs(node)[0] == value_called(model, "w"));
    CHECK(model.inputs(node)[1] == model.first_output(node_called(model, "outer")));
    CHECK(model.inputs(node_called(model, "nested"))[0] == value_called(model, "c"));
    CHECK(model.graph_of(node) == graph_at(model, "0/then_branch/1/then_branch"));
    CHECK(model.owner(node) == node_called(model, "nested"));
    CHECK(model.owner(node_called(model, "nested")) == node_called(model, "top"));
    CHECK(model.owner(node_called(model, "top")) == no_id);
}

TEST_CASE("model_tables: a body may read what the graph around it defines later",
          "[onnx][model_tables]") {
    const auto body = test::graph({test::node("Relu", {"late"}, {"b"}, "inside")}, {}, {"b"});
    const auto bytes = model_of(
        {test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}),
         test::node("Tanh", {"x"}, {"late"}, "later")},
        {"x", "c"}, {"y"});
    const wire_model model(bytes);
    CHECK(model.inputs(node_called(model, "inside"))[0] ==
          model.first_output(node_called(model, "later")));
}

TEST_CASE("model_tables: a body's own value hides one of the same name around it",
          "[onnx][model_tables]") {
    const auto branch = [](const char* name, const test::names& formals,
                           const test::names& initializers) {
        return test::graph({test::node("Relu", {"v"}, {"b"}, name)}, formals, {"b"}, initializers);
    };
    auto made = test::graph({test::node("Tanh", {"x"}, {"v"}, "maker"),
                             test::node("Relu", {"v"}, {"b"}, "reads own result")},
                            {}, {"b"});
    const auto bytes =
        model_of({test::node("Sigmoid", {"x"}, {"v"}, "outside"),
                  test::owner_node(
                      "Switch", {"c"}, {"y"},
                      {test::graphs_attribute(
                          "cases", {branch("captures", {}, {}), branch("reads formal", {"v"}, {}),
                                    branch("reads own weight", {}, {"v"}), made})})},
                 {"x", "c"}, {"y"});
    const wire_model model(bytes);
    const auto read_by = [&](const char* name) {
        return model.inputs(node_called(model, name))[0];
    };
    CHECK(read_by("captures") == model.first_output(node_called(model, "outside")));
    CHECK(model.kind(read_by("reads formal")) == value_kind::formal);
    CHECK(model.graph_of_value(read_by("reads formal")) == graph_at(model, "1/cases[1]"));
    CHECK(model.kind(read_by("reads own weight")) == value_kind::initializer);
    CHECK(model.graph_of_value(read_by("reads own weight")) == graph_at(model, "1/cases[2]"));
    CHECK(read_by("reads own result") == model.first_output(node_called(model, "maker")));
    CHECK(model.redefined().empty());
}

TEST_CASE("model_tables: bodies do not see each other's values", "[onnx][model_tables]") {
    const auto first = test::graph({test::node("Relu", {"x"}, {"t"})}, {}, {"t"}, {"k"});
    const auto second = test::graph({test::node("Add", {"t", "k"}, {"e"}, "stranger")}, {}, {"e"});
    const auto bytes = model_of({test::owner_node("If", {"c"}, {"y"},
                                                  {test::graph_attribute("then_branch", first),
                                                   test::graph_attribute("else_branch", second)})},
                                {"x", "c"}, {"y"});
    const wire_model model(bytes);
    for (auto value : model.inputs(node_called(model, "stranger"))) {
        CHECK(model.kind(value) == value_kind::undefined);
    }
}

TEST_CASE("model_tables: a function sees nothing of the model around it", "[onnx][model_tables]") {
    const auto body = test::graph({test::node("Add", {"a", "w"}, {"t"}, "deep")}, {}, {"t"});
    auto model_message = test::model(
        test::graph({test::node("f", {"x"}, {"y"}, "call", "local")}, {"x"}, {"y"}, {"w"}));
    model_message.inner(
        25, test::function("local", "f", {"a"}, {"b"},
                           {test::owner_node("If", {"a"}, {"b"},
                                             {test::graph_attribute("then_branch", body)}, "if"),
                            test::node("Relu", {"w"}, {"c"}, "reads w")}));
    const auto bytes = model_message.bytes();
    const wire_model model(bytes);
    const auto function = graph_at(model, "@local::f");
    REQUIRE(function != no_id);
    const auto deep = node_called(model, "deep");
    CHECK(model.inputs(deep)[0] == model.graph(function).inputs[0]);
    CHECK(model.kind(model.inputs(deep)[0]) == value_kind::formal);
    const auto ghost = model.inputs(deep)[1];
    CHECK(model.kind(ghost) == value_kind::undefined);
    CHECK(model.graph_of_value(ghost) == function);
    CHECK(model.inputs(node_called(model, "reads w"))[0] == ghost);
    CHECK(model.kind(value_called(model, "w")) == value_kind::initializer);
}

TEST_CASE("model_tables: nodes of bodies come before the node that holds them",
          "[onnx][model_tables]") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto bytes = test::random_model(seed, true).bytes();
        const wire_model model(bytes);
        std::vector<id> seen(model.graph_count());
        for (id node = 0; node < model.node_count(); ++node) {
            CHECK((model.owner(node) == no_id || model.owner(node) > node));
            CHECK(model.position(node) == seen[model.graph_of(node)]++);
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            CHECK(model.graph(g).node_count == seen[g]);
        }
    }
}

TEST_CASE("model_tables: every name means what ONNX says, in random models and all fixtures",
          "[onnx][model_tables]") {
    const auto check = [](const std::string& bytes) {
        const wire_model model(bytes);
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto value : model.inputs(node)) {
                if (value != no_id) {
                    const auto expected =
                        meaning(model, model.graph_of(node), model.value_name(value));
                    REQUIRE((expected == value ||
                             (expected == no_id && model.kind(value) == value_kind::undefined)));
                }
            }
        }
    };
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        check(test::random_model(seed, false).bytes());
    }
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        const auto bytes = test::read_bytes(path);
        if (wire_model(bytes).node_count() < 500) {
            check(bytes);
        }
    }
}

TEST_CASE("model_tables: calls find the function of the same domain, name and overload",
          "[onnx][model_tables]") {
    const auto call = [](const char* type, const char* domain, const char* overload) {
        auto made = test::node(type, {"x"}, {}, {}, domain);
        return *overload == '\0' ? made : made.text(8, overload);
    };
    auto message =
        test::model(test::graph({call("f", "d", ""), call("f", "d", "o"), call("f", "", ""),
                                 call("g", "d", ""), call("f", "d", "p"), call("f", "d", "")}));
    for (const auto* overload : {"o", "", ""}) {
        message.inner(25, test::function("d", "f", {"a"}, {}, {}, overload));
    }
    const auto bytes = message.bytes();
    const wire_model model(bytes);
    CHECK(model.callee(0) == 1); // of two equal functions the first
    CHECK(model.callee(1) == 0);
    CHECK(model.callee(2) == no_id);
    CHECK(model.callee(3) == no_id);
    CHECK(model.callee(4) == no_id);
    CHECK(model.callee(5) == 1);
    CHECK(model.operator_id(0) == model.operator_id(5));
    CHECK(model.operator_id(0) != model.operator_id(1));
    CHECK(model.operator_id(0) != model.operator_id(2));
}

TEST_CASE("model_tables: what is defined twice is reported, and the first counts",
          "[onnx][model_tables]") {
    const auto bytes = model_of({test::node("Relu", {"x"}, {"y"}), test::node("Tanh", {"x"}, {"y"}),
                                 test::node("Neg", {"y"}, {"w"})},
                                {"x", "y"}, {}, {"w", "w"});
    const wire_model model(bytes);
    CHECK(model.inputs(2)[0] == model.first_output(0));
    CHECK(model.redefined().size() == 4); // y again, w twice more, y as an input
    for (auto value : model.redefined()) {
        CHECK(value != model.first_output(0));
        CHECK(value != model.first_output(2));
    }
}

} // namespace test::onnx_model_tables
