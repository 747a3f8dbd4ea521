// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/name_binder.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_name_binder {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::value_kind;
using stemma::wire_model;
using test::graph_at;
using test::node_called;
using test::value_called;

/// The value of the main graph that a name denotes: of several constants the last one, with nodes
/// before initializers; else the first.
id last_constant(const stemma::onnx_model& model, std::string_view name) {
    id last = no_id;
    for (id value = 0; value < model.value_count(); ++value) {
        if (model.graph_of_value(value) != 0 || model.value_name(value) != name ||
            model.kind(value) == value_kind::undefined) {
            continue;
        }
        const auto producer = model.producer(value);
        const bool is_constant = producer != no_id && model.op_type(producer) == "Constant";
        if (!is_constant && !model.is_initializer(value)) {
            return value_called(model, name, 0);
        }
        last = is_constant || last == no_id || model.is_initializer(last) ? value : last;
    }
    return last == no_id ? value_called(model, name, 0) : last;
}

/// What a name denotes in a graph: its own value, else that in the enclosing graph. Slow, and
/// written from the rules of ONNX alone.
id meaning(const stemma::onnx_model& model, id g, std::string_view name) {
    for (;;) {
        const auto here = g == 0 ? last_constant(model, name) : value_called(model, name, g);
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

TEST_CASE("name_binder: a body reads the values of enclosing graphs") {
    const auto inner = test::graph({test::node("Add", {"w", "b1"}, {"b2"}, "inner")}, {}, {"b2"});
    const auto outer =
        test::graph({test::node("Relu", {"x"}, {"b1"}, "outer"),
                     test::owner_node("If", {"c"}, {"b3"},
                                      {test::graph_attribute("then_branch", inner)}, "nested")},
                    {}, {"b3"});
    const test::built_model model(
        {test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", outer)},
                          "top")},
        {"x", "c"}, {"y"}, {"w"});
    const auto node = node_called(model, "inner");
    CHECK(model.inputs(node)[0] == value_called(model, "w"));
    CHECK(model.inputs(node)[1] == model.first_output(node_called(model, "outer")));
    CHECK(model.inputs(node_called(model, "nested"))[0] == value_called(model, "c"));
    CHECK(model.graph_of(node) == graph_at(model, "0/then_branch/1/then_branch"));
    CHECK(model.owner(node) == node_called(model, "nested"));
    CHECK(model.owner(node_called(model, "nested")) == node_called(model, "top"));
    CHECK(model.owner(node_called(model, "top")) == no_id);
}

TEST_CASE("name_binder: a body may read what the enclosing graph defines later") {
    const auto body = test::graph({test::node("Relu", {"late"}, {"b"}, "inside")}, {}, {"b"});
    const test::built_model model(
        {test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}),
         test::node("Tanh", {"x"}, {"late"}, "later")},
        {"x", "c"}, {"y"});
    CHECK(model.inputs(node_called(model, "inside"))[0] ==
          model.first_output(node_called(model, "later")));
}

TEST_CASE("name_binder: a body's own value hides an outer one with the same name") {
    const auto branch = [](const char* name, const test::names& formals,
                           const test::names& initializers) {
        return test::graph({test::node("Relu", {"v"}, {"b"}, name)}, formals, {"b"}, initializers);
    };
    auto body = test::graph({test::node("Tanh", {"x"}, {"v"}, "maker"),
                             test::node("Relu", {"v"}, {"b"}, "reads own result")},
                            {}, {"b"});
    const test::built_model model(
        {test::node("Sigmoid", {"x"}, {"v"}, "outside"),
         test::owner_node(
             "Switch", {"c"}, {"y"},
             {test::graphs_attribute("cases",
                                     {branch("captures", {}, {}), branch("reads formal", {"v"}, {}),
                                      branch("reads own weight", {}, {"v"}), body})})},
        {"x", "c"}, {"y"});
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

TEST_CASE("name_binder: bodies do not see each other's values") {
    const auto first = test::graph({test::node("Relu", {"x"}, {"t"})}, {}, {"t"}, {"k"});
    const auto second = test::graph({test::node("Add", {"t", "k"}, {"e"}, "stranger")}, {}, {"e"});
    const test::built_model model(
        {test::owner_node("If", {"c"}, {"y"},
                          {test::graph_attribute("then_branch", first),
                           test::graph_attribute("else_branch", second)})},
        {"x", "c"}, {"y"});
    for (auto value : model.inputs(node_called(model, "stranger"))) {
        CHECK(model.kind(value) == value_kind::undefined);
    }
}

TEST_CASE("name_binder: a function sees nothing of the model") {
    const auto body = test::graph({test::node("Add", {"a", "w"}, {"t"}, "deep")}, {}, {"t"});
    auto model_message = test::model(
        test::graph({test::node("f", {"x"}, {"y"}, "call", "local")}, {"x"}, {"y"}, {"w"}));
    model_message.inner(
        25, test::function("local", "f", {"a"}, {"b"},
                           {test::owner_node("If", {"a"}, {"b"},
                                             {test::graph_attribute("then_branch", body)}, "if"),
                            test::node("Relu", {"w"}, {"c"}, "reads w")}));
    const test::built_model model(model_message);
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

TEST_CASE("name_binder: binds names by ONNX's rules, in random models and all fixtures") {
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

TEST_CASE("name_binder: duplicate definitions are reported, and the first counts") {
    const test::built_model model({test::node("Relu", {"x"}, {"y"}),
                                   test::node("Tanh", {"x"}, {"y"}),
                                   test::node("Neg", {"y"}, {"w"})},
                                  {"x", "y"}, {}, {"w", "w"});
    CHECK(model.inputs(2)[0] == model.first_output(0));
    CHECK(model.redefined().size() == 4); // y again, w twice more, y as an input
    for (auto value : model.redefined()) {
        CHECK(value != model.first_output(0));
        CHECK(value != model.first_output(2));
    }
}

TEST_CASE("name_binder: the last of constants with one name counts, even for earlier readers") {
    const auto constant = [](const char* name) { return test::node("Constant", {}, {"v"}, name); };
    const test::built_model model({constant("a"), test::node("Neg", {"v"}, {"y"}), constant("b"),
                                   test::node("Neg", {"v"}, {"z"})},
                                  {"x"}, {"y", "v"}, {"v", "w", "w"});
    CHECK(model.inputs(1)[0] == model.first_output(2));
    CHECK(model.inputs(3)[0] == model.first_output(2));
    CHECK(model.graph(0).outputs[1] == model.first_output(2));
    const test::built_model read({test::node("Neg", {"w"}, {"y"})}, {"x"}, {"y"}, {"w", "w"});
    CHECK(read.inputs(0)[0] == read.graph(0).initializers[1]);
    // No runtime accepts these.
    const test::built_model other(
        {constant("a"), test::node("Relu", {"x"}, {"v"}), test::node("Neg", {"v"}, {"y"})}, {"x"},
        {"y"}, {});
    CHECK(other.inputs(2)[0] == other.first_output(0));
}

} // namespace test::onnx_detail_name_binder
