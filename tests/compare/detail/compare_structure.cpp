// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/compare_structure.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::compare_detail_compare_structure {

namespace {

using test::node;

/// Returns: what differs and the node, or "".
std::string difference_of(const std::string& a, const std::string& b) {
    const stemma::wire_model first(a);
    const stemma::wire_model second(b);
    const auto difference = stemma::detail::compare_structure(first, second).difference;
    // Whether there is a difference does not depend on which model comes first.
    const auto back = stemma::detail::compare_structure(second, first).difference;
    CHECK(difference.has_value() == back.has_value());
    if (!difference) {
        return "";
    }
    const auto at = difference->first != stemma::no_id ? difference->first : difference->second;
    return (at == stemma::no_id ? "" : "#" + std::to_string(at) + " ") + difference->text;
}

std::string graph_of(const std::vector<test::message>& nodes, const test::names& inputs = {"x"},
                     const test::names& outputs = {"y"}, const test::names& weights = {}) {
    return test::model(test::graph(nodes, inputs, outputs, weights)).bytes();
}

/// Returns: the operators and the paths of graphs, in order.
std::vector<std::string> order_of(const test::message& built) {
    const test::built_model model(built);
    const stemma::detail::canonical_order order(model);
    std::vector<std::string> texts;
    for (auto v : order.nodes) {
        texts.emplace_back(model.op_type(v));
    }
    for (auto g : order.graphs) {
        texts.push_back(model.graph_path(g));
    }
    return texts;
}

} // namespace

TEST_CASE("compare_structure: a model is equal to itself, tagged or not") {
    for (const auto* fixture : {"bert_micro", "control_flow", "shared_twice", "mlp"}) {
        const auto bytes = test::read_bytes(test::fixture(std::string(fixture) + "/model.onnx"));
        CHECK(difference_of(bytes, bytes).empty());
        const stemma::carrier_set everything{true, true, true, true, true};
        CHECK(difference_of(bytes, test::tag(bytes, everything)).empty());
    }
}

TEST_CASE("compare_structure: names of nodes and values do not count") {
    for (const auto* fixture : {"bert_micro", "control_flow", "two_tower"}) {
        const auto folder = std::string(fixture) + "/";
        CHECK(difference_of(test::read_bytes(test::fixture(folder + "model.onnx")),
                            test::read_bytes(test::fixture(folder + "unnamed.onnx")))
                  .empty());
        CHECK(difference_of(test::read_bytes(test::fixture(folder + "unnamed.onnx")),
                            test::read_bytes(test::fixture(folder + "anonymous.onnx")))
                  .empty());
    }
}

TEST_CASE("compare_structure: reports every kind of difference at its place") {
    using test::node;
    const auto base = graph_of({node("Relu", {"x"}, {"h"}), node("Add", {"h", "w"}, {"y"})}, {"x"},
                               {"y"}, {"w", "v"});
    const auto check = [&](const std::string& other, const std::string& expected) {
        CHECK(difference_of(base, other) == expected);
    };
    check(graph_of({node("Relu", {"x"}, {"g"}), node("Add", {"g", "w"}, {"z"})}, {"x"}, {"z"},
                   {"v", "w"}),
          "");
    check(graph_of({node("Tanh", {"x"}, {"h"}), node("Add", {"h", "w"}, {"y"})}, {"x"}, {"y"},
                   {"w", "v"}),
          "#0 is Relu, the other one Tanh");
    check(graph_of({node("Relu", {"x"}, {"h"}, "", "own"), node("Add", {"h", "w"}, {"y"})}, {"x"},
                   {"y"}, {"w", "v"}),
          "#0 is Relu, the other one own::Relu");
    check(graph_of({node("Relu", {"x"}, {"h"}), node("Add", {"h", "v"}, {"y"})}, {"x"}, {"y"},
                   {"w", "v"}),
          "#1 reads initializer 'w' at input 1, the other one initializer 'v'");
    check(graph_of({node("Relu", {"x"}, {"h"}), node("Add", {"x", "w"}, {"y"})}, {"x"}, {"y"},
                   {"w", "v"}),
          "#1 reads value 'h' at input 0, the other one input 'x'");
    check(
        graph_of({node("Relu", {"x"}, {"h"}), node("Add", {"h"}, {"y"})}, {"x"}, {"y"}, {"w", "v"}),
        "#1 reads initializer 'w' at input 1, the other one nothing");
    check(graph_of({node("Relu", {"x"}, {"h"})}, {"x"}, {"h"}, {"w", "v"}),
          "#1 goes on where the other one ends");
    check(graph_of({node("Relu", {"x"}, {"h"}), node("Add", {"h", "w"}, {"y"})}, {"x"}, {"h"},
                   {"w", "v"}),
          "has different outputs");
    check(graph_of({node("Relu", {"x"}, {"h"}), node("Add", {"h", "w"}, {"y"})}, {"x", "z"}, {"y"},
                   {"w", "v"}),
          "has 1 inputs, the other one 2");
}

TEST_CASE("compare_structure: attributes count, in any order, and bodies are compared") {
    const auto with = [](const std::vector<test::message>& attributes) {
        return graph_of({test::owner_node("Op", {"x"}, {"y"}, attributes)});
    };
    const auto a = test::text_attribute("a", "1");
    const auto b = test::text_attribute("b", "1");
    CHECK(difference_of(with({a, b}), with({b, a})).empty());
    CHECK(difference_of(with({a}), with({a, b})) == "#0 lacks attribute 'b' of the other one");
    CHECK(difference_of(with({a, b}), with({b})) ==
          "#0 has attribute 'a', which the other one lacks");
    CHECK(difference_of(with({a}), with({test::text_attribute("a", "2")})) ==
          "#0 differs in attribute 'a'");
    const auto body = [](const char* op, const char* output) {
        return test::graph_attribute("body",
                                     test::graph({test::node(op, {"x"}, {"i"})}, {}, {output}));
    };
    CHECK(difference_of(with({body("Relu", "i")}), with({body("Relu", "i")})).empty());
    CHECK(difference_of(with({body("Relu", "i")}), with({body("Tanh", "i")})) ==
          "#0 is Relu, the other one Tanh");
    CHECK_FALSE(difference_of(with({body("Relu", "i")}), with({body("Relu", "x")})).empty());
}

TEST_CASE("compare_structure: bodies and functions are compared in any order, and paired") {
    const auto body = [](const char* name, const char* op) {
        return test::graph_attribute(name, test::graph({test::node(op, {"x"}, {"i"})}, {}, {"i"}));
    };
    const auto empty = [](const char* name, const char* output) {
        return test::graph_attribute(name, test::graph({}, {}, {output}));
    };
    const auto with = [](const std::vector<test::message>& attributes,
                         const std::vector<std::string>& functions = {}) {
        auto model = test::model(test::graph(
            {test::node("Abs", {"x"}, {"a"}), test::owner_node("If", {"a"}, {"y"}, attributes)},
            {"x"}, {"y"}));
        for (const auto& name : functions) {
            model.inner(25, test::function("own", name, {"p"}, {"q"},
                                           {test::node("In" + name, {"p"}, {"q"})}));
        }
        return model.bytes();
    };
    const auto relu = body("then_branch", "Relu");
    const auto tanh = body("else_branch", "Tanh");
    CHECK(difference_of(with({relu, tanh}), with({tanh, relu})).empty());
    CHECK(difference_of(with({relu, tanh}), with({body("else_branch", "Relu"), relu})) ==
          "#2 is Tanh, the other one Relu");
    CHECK(difference_of(with({relu}, {"F", "G"}), with({relu}, {"G", "F"})).empty());
    CHECK_FALSE(difference_of(with({relu}, {"F", "G"}), with({relu}, {"G", "H"})).empty());
    const auto first = empty("then_branch", "x");
    const auto second = empty("else_branch", "a");
    CHECK(difference_of(with({first, second}), with({second, first})).empty());
    CHECK_FALSE(difference_of(with({first, second}),
                              with({empty("then_branch", "a"), empty("else_branch", "x")}))
                    .empty());

    const auto bytes = with({relu, tanh});
    const auto other = with({tanh, relu});
    const stemma::wire_model a(bytes);
    const stemma::wire_model b(other);
    for (stemma::id node = 0;
         const auto partner : stemma::detail::compare_structure(a, b).partners) {
        CHECK(a.op_type(node) == b.op_type(partner));
        ++node;
    }
}

TEST_CASE("compare_structure: initializers of bodies correspond by name") {
    const auto with = [](const test::message& body) {
        return graph_of({test::owner_node("If", {"c"}, {"y"},
                                          {test::graph_attribute("then_branch", body),
                                           test::graph_attribute("else_branch", body)})},
                        {"c", "x"});
    };
    const auto adds = [&](const char* first, const char* second) {
        return with(test::graph(
            {test::node("Add", {"x", first}, {"h"}), test::node("Mul", {"h", second}, {"r"})}, {},
            {"r"}, {"w", "v"}));
    };
    CHECK(difference_of(adds("w", "v"), adds("w", "v")).empty());
    CHECK(difference_of(adds("w", "v"), adds("v", "w")) ==
          "#2 reads initializer 'w' at input 1, the other one initializer 'v'");
    const auto gives = [&](const char* name) {
        return with(test::graph({}, {}, {name}, {"w", "v"}));
    };
    CHECK(difference_of(gives("w"), gives("w")).empty());
    CHECK_FALSE(difference_of(gives("w"), gives("v")).empty());
}

TEST_CASE("compare_structure: what inner bodies read of outer ones corresponds as there") {
    const auto with = [](const test::names& read, const test::names& given) {
        const auto inner = test::graph({test::node("Sub", read, {"r"})}, {}, {"r"});
        const auto outer = test::graph(
            {test::owner_node("If", {"c"}, {"o"}, {test::graph_attribute("then_branch", inner)})},
            given, {"o"}, {"w", "v"});
        return graph_of(
            {test::owner_node("Scan", {"x"}, {"y"}, {test::graph_attribute("body", outer)})},
            {"x", "c"});
    };
    CHECK(difference_of(with({"w", "v"}, {}), with({"w", "v"}, {})).empty());
    CHECK_FALSE(difference_of(with({"w", "v"}, {}), with({"v", "w"}, {})).empty());
    CHECK(difference_of(with({"p", "q"}, {"p", "q"}), with({"q", "p"}, {"q", "p"})).empty());
    CHECK_FALSE(difference_of(with({"p", "q"}, {"p", "q"}), with({"p", "q"}, {"q", "p"})).empty());
    CHECK_FALSE(difference_of(with({"p"}, {"p", "q"}), with({"p"}, {"p"})).empty());
}

TEST_CASE(
    "compare_structure: names of tensors in attributes and how they are stored do not count") {
    const auto with = [](const test::message& attribute) {
        return graph_of({test::owner_node("Op", {"x"}, {"y"}, {attribute})});
    };
    const auto value = [&](const test::message& tensor) {
        return with(test::message().text(1, "value").inner(5, tensor).number(20, 4));
    };
    const std::string one("\0\0\x80\x3f", 4);
    const std::string two("\0\0\0\x40", 4);
    const auto plain = value(test::tensor("a", {1}, one));
    CHECK(difference_of(plain, value(test::tensor("b", {1}, one))).empty());
    CHECK(difference_of(plain, value(test::message().number(1, 1).number(2, 1).fixed32(4, one)))
              .empty());
    CHECK(difference_of(plain, value(test::tensor("a", {1}, two))) ==
          "#0 differs in attribute 'value'");
    CHECK_FALSE(difference_of(plain, value(test::tensor("a", {}, one))).empty());
    const auto loose =
        with(test::message().text(1, "axes").number(8, 1).number(8, 0).number(20, 7));
    CHECK(
        difference_of(loose, with(test::message().text(1, "axes").packed(8, {1, 0}).number(20, 7)))
            .empty());
    CHECK_FALSE(
        difference_of(loose, with(test::message().text(1, "axes").packed(8, {0, 1}).number(20, 7)))
            .empty());
}

TEST_CASE("canonical_order: bodies come before their owner by attribute, functions by name") {
    const auto body = [](const std::string& name, const std::string& op) {
        return test::graph_attribute(
            name, test::graph({node(op, {"x"}, {op}), node("End", {op}, {name})}, {}, {name}));
    };
    const auto order_with = [](const std::vector<test::message>& attributes,
                               const std::vector<std::string>& functions) {
        auto built = test::model(test::graph(
            {node("First", {"x"}, {"a"}), test::owner_node("If", {"a"}, {"y"}, attributes)}, {"x"},
            {"y"}));
        for (const auto& name : functions) {
            built.inner(
                25, test::function("own", name, {"p"}, {"q"}, {node("In" + name, {"p"}, {"q"})}));
        }
        return order_of(built);
    };
    const auto then_branch = body("then_branch", "Relu");
    const auto else_branch = body("else_branch", "Tanh");
    const auto order = order_with({then_branch, else_branch}, {"G", "F"});
    CHECK(order == std::vector<std::string>{"First", "Tanh", "End", "Relu", "End", "If", "InF",
                                            "InG", "1/else_branch", "1/then_branch", "", "@own::F",
                                            "@own::G"});
    CHECK(order_with({else_branch, then_branch}, {"F", "G"}) == order);
}

} // namespace test::compare_detail_compare_structure
