// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/flat_graph.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::onnx_detail_flat_graph {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::wire_model;

/// Every edge as `producer > reader`, with `:slot` if it has an input slot.
std::multiset<std::string> edges_of(const wire_model& model) {
    const auto graph = stemma::detail::flat_graph(model);
    std::multiset<std::string> texts;
    for (auto [it, last] = edges(graph); it != last; ++it) {
        const auto slot = get(stemma::detail::in_port, graph, *it);
        texts.insert(std::string(model.name(source(*it, graph))) + " > " +
                     std::string(model.name(target(*it, graph))) +
                     (slot == no_id ? "" : ":" + std::to_string(slot)));
    }
    return texts;
}

/// Whether values of one graph are visible in another: the same or an enclosing one.
bool is_seen_from(const wire_model& model, id made_in, id g) {
    while (g != made_in && model.graph(g).kind == stemma::graph_kind::body) {
        g = model.graph_of(model.graph(g).owner);
    }
    return g == made_in;
}

using edge_texts = std::multiset<std::string>;

std::string model_of(const std::vector<test::message>& nodes) {
    return test::model(test::graph(nodes, {"x", "n", "c"}, {}, {"w"})).bytes();
}

/// A node of type `op` with one body, fed by nodes `p0`, `p1`, ...
std::string around(const char* op, std::size_t inputs, const test::message& body) {
    std::vector<test::message> nodes;
    test::names fed;
    for (std::size_t i = 0; i < inputs; ++i) {
        fed.push_back("i" + std::to_string(i));
        nodes.push_back(test::node("Relu", {"x"}, {fed.back()}, "p" + std::to_string(i)));
    }
    nodes.push_back(test::owner_node(op, fed, {"y"}, {test::graph_attribute("body", body)}, "op"));
    return model_of(nodes);
}

} // namespace

TEST_CASE("flat_graph: an edge leads from a producer to every slot that reads it") {
    const test::built_model model(model_of({test::node("Split", {"x"}, {"a", "b"}, "split"),
                                            test::node("Add", {"b", "b"}, {"s"}, "add"),
                                            test::node("Sum", {"a", "", "w", "s"}, {"t"}, "sum")}));
    CHECK(edges_of(model) ==
          edge_texts{"split > add:0", "split > add:1", "split > sum:0", "add > sum:3"});
    const auto graph = stemma::detail::flat_graph(model);
    for (auto [it, last] = edges(graph); it != last; ++it) {
        const auto value = get(stemma::value_index, graph, *it);
        const auto out = get(stemma::detail::out_port, graph, *it);
        CHECK(model.producer(value) == source(*it, graph));
        CHECK(value == model.first_output(source(*it, graph)) + out);
    }
}

TEST_CASE("flat_graph: a captured value leads into a body, a body's result to its owner") {
    const auto branch = [](const char* name) {
        return test::graph({test::node("Relu", {"a"}, {"r"}, name)}, {}, {"r"});
    };
    const auto bytes =
        model_of({test::node("Neg", {"x"}, {"a"}, "neg"),
                  test::owner_node("If", {"a"}, {"y"},
                                   {test::graph_attribute("then_branch", branch("then")),
                                    test::graph_attribute("else_branch", branch("else"))},
                                   "if"),
                  test::node("Abs", {"y"}, {"z"}, "abs")});
    CHECK(edges_of(wire_model(bytes)) == edge_texts{"neg > then:0", "neg > else:0", "neg > if:0",
                                                    "then > if", "else > if", "if > abs:0"});
}

TEST_CASE("flat_graph: a captured value that is a body's result leads to the owner") {
    const auto body = test::graph({}, {}, {"a", "w", "gone"});
    const auto bytes = model_of(
        {test::node("Neg", {"x"}, {"a"}, "neg"),
         test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}, "if")});
    CHECK(edges_of(wire_model(bytes)) == edge_texts{"neg > if"});
}

TEST_CASE("flat_graph: Loop passes its inputs on after the iteration number") {
    const auto body = test::graph({test::node("A", {"iteration"}, {}, "a"),
                                   test::node("B", {"condition"}, {}, "b"),
                                   test::node("C", {"state"}, {"next"}, "c")},
                                  {"iteration", "condition", "state"}, {"condition", "next"});
    CHECK(edges_of(wire_model(around("Loop", 3, body))) ==
          edge_texts{"p0 > op:0", "p1 > op:1", "p2 > op:2", "p1 > b:0", "p2 > c:0", "c > op",
                     "p1 > op"});
}

TEST_CASE("flat_graph: Scan passes its inputs on in place, that of opset 8 after the lengths") {
    const auto body = test::graph(
        {test::node("A", {"state"}, {"next"}, "a"), test::node("B", {"item"}, {"r"}, "b")},
        {"state", "item"}, {"next", "r"});
    CHECK(edges_of(wire_model(around("Scan", 2, body))) ==
          edge_texts{"p0 > op:0", "p1 > op:1", "p0 > a:0", "p1 > b:0", "a > op", "b > op"});
    CHECK(edges_of(wire_model(around("Scan", 3, body))) ==
          edge_texts{"p0 > op:0", "p1 > op:1", "p2 > op:2", "p1 > a:0", "p2 > b:0", "a > op",
                     "b > op"});
}

TEST_CASE("flat_graph: SequenceMap passes its inputs on in place") {
    const auto body = test::graph({test::node("A", {"item"}, {"r"}, "a")}, {"item", "more"}, {"r"});
    CHECK(edges_of(wire_model(around("SequenceMap", 2, body))) ==
          edge_texts{"p0 > op:0", "p1 > op:1", "p0 > a:0", "a > op"});
}

TEST_CASE("flat_graph: unmatched formal inputs have no producer") {
    const auto body = test::graph({test::node("A", {"f", "g"}, {"r"}, "a")}, {"f", "g"}, {"r"});
    CHECK(edges_of(wire_model(around("Any", 5, body))) ==
          edge_texts{"p0 > op:0", "p1 > op:1", "p2 > op:2", "p3 > op:3", "p4 > op:4", "a > op"});
    CHECK(edges_of(wire_model(around("Loop", 1, body))) == edge_texts{"p0 > op:0", "a > op"});
}

TEST_CASE("flat_graph: nested formal inputs have the outermost one's producer") {
    const auto inner =
        test::graph({test::node("A", {"inner state"}, {"r"}, "a")}, {"inner state"}, {"r"});
    const auto outer =
        test::graph({test::owner_node("Scan", {"outer state"}, {"r"},
                                      {test::graph_attribute("body", inner)}, "scan")},
                    {"outer state"}, {"r"});
    CHECK(edges_of(wire_model(around("Scan", 1, outer))) ==
          edge_texts{"p0 > op:0", "p0 > scan:0", "p0 > a:0", "a > scan", "scan > op"});
}

TEST_CASE("flat_graph: nothing leads from an owner into its body") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const test::built_model model(test::random_model(seed, false).bytes());
        const auto graph = stemma::detail::flat_graph(model);
        REQUIRE(graph.vertex_count() == model.node_count());
        for (auto [it, last] = edges(graph); it != last; ++it) {
            const auto producer = source(*it, graph);
            CHECK(producer == model.producer(get(stemma::value_index, graph, *it)));
            const auto reader = target(*it, graph);
            if (get(stemma::detail::in_port, graph, *it) != no_id) {
                CHECK(is_seen_from(model, model.graph_of(producer), model.graph_of(reader)));
                continue;
            }
            bool is_result_of_a_body = false;
            for (id g = 1; g < model.graph_count(); ++g) {
                is_result_of_a_body |= model.graph(g).owner == reader &&
                                       is_seen_from(model, model.graph_of(producer), g);
            }
            CHECK(is_result_of_a_body);
        }
    }
}

TEST_CASE("flat_graph: nothing leads from a call into its function, or out of it") {
    auto message = test::model(test::graph({test::node("Neg", {"x"}, {"a"}, "neg"),
                                            test::node("F", {"a"}, {"b"}, "call", "d"),
                                            test::node("Abs", {"b"}, {"c"}, "abs")},
                                           {"x"}));
    message.inner(25, test::function("d", "F", {"in"}, {"out"},
                                     {test::node("Relu", {"in"}, {"t"}, "f0"),
                                      test::node("Tanh", {"t"}, {"out"}, "f1")}));
    CHECK(edges_of(wire_model(message.bytes())) ==
          edge_texts{"neg > call:0", "call > abs:0", "f0 > f1:0"});
}

TEST_CASE("nested_graph: a body is contracted into its owner") {
    const auto inner = test::graph({test::node("Abs", {"a"}, {"r"}, "deep")}, {}, {"r"});
    const auto body = test::graph(
        {test::owner_node("If", {"c"}, {"t"}, {test::graph_attribute("then_branch", inner)}, "if"),
         test::node("Add", {"t", "b"}, {"u"}, "add")},
        {}, {"u", "b"});
    const test::built_model model(model_of(
        {test::node("Neg", {"x"}, {"a"}, "neg"), test::node("Exp", {"a"}, {"b"}, "exp"),
         test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}, "top"),
         test::node("Tanh", {"y"}, {"z"}, "tanh")}));
    const auto edges_in = [&](id g) {
        const auto view = stemma::detail::nested_graph(model, g);
        edge_texts edges_told;
        for (auto [it, last] = edges(view.graph); it != last; ++it) {
            const auto slot = get(stemma::detail::in_port, view.graph, *it);
            edges_told.insert(std::string(model.name(view.nodes[source(*it, view.graph)])) + " > " +
                              std::string(model.name(view.nodes[target(*it, view.graph)])) +
                              (slot == no_id ? "" : ":" + std::to_string(slot)));
        }
        return edges_told;
    };
    CHECK(edges_in(0) ==
          edge_texts{"neg > exp:0", "neg > top", "exp > top", "exp > top", "top > tanh:0"});
    CHECK(edges_in(test::graph_at(model, "2/then_branch")) == edge_texts{"if > add:0"});

    const auto deep = test::node_called(model, "deep");
    CHECK(stemma::detail::enclosing_node(model, 0, deep) == test::node_called(model, "top"));
    CHECK(stemma::detail::enclosing_node(model, model.graph_of(deep), deep) == deep);
    CHECK(stemma::detail::enclosing_node(model, model.graph_of(deep),
                                         test::node_called(model, "neg")) == no_id);
}

TEST_CASE("flat_graph: fixtures have the number of edges in their summaries") {
    // Distinct pairs of producer and reader, as counted by the fixtures' generators.
    const std::vector<std::pair<const char*, std::size_t>> expected{
        {"bert_micro", 322}, {"two_tower", 129}, {"quirks", 47}, {"mlp", 2}, {"unet_tiny", 30}};
    for (const auto& [name, count] : expected) {
        const test::built_model model(
            test::read_bytes(test::fixture(std::string(name) + "/model.onnx")));
        const auto graph = stemma::detail::flat_graph(model);
        std::set<std::pair<id, id>> pairs;
        for (auto [it, last] = edges(graph); it != last; ++it) {
            pairs.emplace(source(*it, graph), target(*it, graph));
        }
        CAPTURE(name);
        CHECK(pairs.size() == count);
    }
}

} // namespace test::onnx_detail_flat_graph
