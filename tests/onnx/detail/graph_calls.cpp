// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/graph_calls.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::onnx_detail_graph_calls {

namespace {

using stemma::id;
using stemma::no_id;
using texts = std::set<std::string>;

struct scene {
    explicit scene(std::string file) : bytes(std::move(file)), model(bytes), calls(model) {}

    /// Names of nodes with what each passes to a value.
    [[nodiscard]] texts into(std::string_view name, std::string_view graph = "") const {
        texts lines;
        calls.for_each_way_in(value(name, graph), [&](id node, id given) {
            lines.insert(std::string(model.name(node)) + " gives " +
                         (given == no_id ? "nothing" : std::string(model.value_name(given))));
        });
        return lines;
    }

    /// Names of nodes that take a value out of its graph.
    [[nodiscard]] texts out_of(std::string_view name, std::string_view graph = "") const {
        texts lines;
        calls.for_each_way_out(value(name, graph),
                               [&](id node) { lines.emplace(model.name(node)); });
        return lines;
    }

    [[nodiscard]] id value(std::string_view name, std::string_view graph) const {
        return test::value_called(model, name, test::graph_at(model, graph));
    }

    std::string bytes;
    stemma::wire_model model;
    stemma::detail::graph_calls calls;
};

/// Function F is called by `first` and `second`, the latter inside function G, which `g` calls.
scene calling() {
    const auto call = [](const char* function, const test::names& inputs, const char* output,
                         const char* name) {
        return test::node(function, inputs, {output}, name, "d");
    };
    return scene(
        test::model(test::graph({call("F", {"x", "w"}, "a", "first"), call("G", {"a"}, "b", "g")},
                                {"x"}, {"b"}, {"w"}))
            .inner(25, test::function("d", "F", {"in", "more"}, {"out"},
                                      {test::node("Add", {"in", "more"}, {"out"})}))
            .inner(25, test::function(
                           "d", "G", {"in"}, {"out"},
                           {test::node("Neg", {"in"}, {"t"}), call("F", {"t"}, "out", "second")}))
            .inner(25, test::function("d", "Uncalled", {"in"}, {"out"},
                                      {test::node("Neg", {"in"}, {"out"})}))
            .bytes());
}

} // namespace

TEST_CASE("graph_calls: what calls pass to functions, and take out of them") {
    const auto s = calling();
    CHECK(s.into("in", "@d::F") == texts{"first gives x", "second gives t"});
    CHECK(s.into("more", "@d::F") == texts{"first gives w", "second gives nothing"});
    CHECK(s.into("in", "@d::G") == texts{"g gives a"});
    CHECK(s.out_of("out", "@d::F") == texts{"first", "second"});
    CHECK(s.out_of("out", "@d::G") == texts{"g"});
    CHECK(s.out_of("t", "@d::G").empty());
    CHECK(s.into("in", "@d::Uncalled").empty());
    CHECK(s.out_of("out", "@d::Uncalled").empty());
}

TEST_CASE("graph_calls: values are passed on through any number of calls") {
    const auto call = [](const char* function, const test::names& inputs, const char* output) {
        return test::node(function, inputs, {output}, "", "d");
    };
    const scene s(
        test::model(test::graph({call("Outer", {"x", "w"}, "a"), call("Outer", {"w", "w"}, "b")},
                                {"x"}, {"b"}, {"w"}))
            .inner(25, test::function("d", "Inner", {"data", "weight", "rest"}, {"out"},
                                      {test::node("Add", {"data", "weight"}, {"out"})}))
            .inner(25, test::function("d", "Outer", {"data", "weight"}, {"out"},
                                      {call("Inner", {"data", "weight"}, "out")}))
            .bytes());
    std::vector<bool> constant(s.model.value_count());
    constant[s.value("w", "")] = true;
    s.calls.add_passed_on(constant);
    texts lines;
    for (id value = 0; value < s.model.value_count(); ++value) {
        if (constant[value]) {
            lines.insert(s.model.graph_path(s.model.graph_of_value(value)) + " " +
                         std::string(s.model.value_name(value)));
        }
    }
    CHECK(lines == texts{" w", "@d::Inner rest", "@d::Inner weight", "@d::Outer weight"});
}

TEST_CASE("graph_calls: nothing is passed to the main graph") {
    const auto s = calling();
    CHECK(s.into("x").empty());
    CHECK(s.into("w").empty());
    CHECK(s.into("a").empty());
    CHECK(s.out_of("b").empty());
    CHECK(s.calls.is_result(s.value("b", "")));
    CHECK_FALSE(s.calls.is_result(s.value("a", "")));
    CHECK_FALSE(s.calls.is_result(s.value("out", "@d::G")));
}

TEST_CASE("graph_calls: an owner passes its inputs to its body, and takes results of it") {
    const auto body = test::graph({test::node("Add", {"state", "x"}, {"next"})},
                                  {"iteration", "going", "state"}, {"going", "next", "x"});
    const scene s(
        test::model(test::graph({test::owner_node("Loop", {"n", "c", "x"}, {"y", "z"},
                                                  {test::graph_attribute("body", body)}, "loop")},
                                {"n", "c", "x"}, {"y", "x"}))
            .bytes());
    CHECK(s.into("iteration", "0/body") == texts{"loop gives nothing"});
    CHECK(s.into("going", "0/body") == texts{"loop gives c"});
    CHECK(s.into("state", "0/body") == texts{"loop gives x"});
    CHECK(s.out_of("next", "0/body") == texts{"loop"});
    CHECK(s.out_of("x") == texts{"loop"});
    CHECK(s.calls.is_result(s.value("x", "")));
}

} // namespace test::onnx_detail_graph_calls
