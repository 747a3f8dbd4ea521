// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/onnx_operators.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/model/operator_view.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::onnx_onnx_operators {

namespace {

using stemma::id;
using stemma::no_id;
using test::node;
using operators = stemma::onnx_operators<stemma::wire_model>;
using entries = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> parameters_of(const operators& ops, id v) {
    std::vector<std::string> names;
    ops.for_each_parameter(v, [&](id p) { names.emplace_back(ops.parameter_name(p)); });
    return names;
}

entries metadata_of(const operators& ops, id v) {
    entries metadata;
    ops.for_each_metadata(v, [&](std::string_view key, std::string_view value) {
        metadata.emplace_back(key, value);
    });
    return metadata;
}

} // namespace

TEST_CASE("onnx_operators: is an operator view") {
    STATIC_REQUIRE(stemma::operator_view<operators>);
    STATIC_REQUIRE(stemma::operator_view<stemma::onnx_operators<>>);
}

TEST_CASE("onnx_operators: knows which parameters are uniform") {
    STATIC_REQUIRE(stemma::valued_parameters<operators>);
    STATIC_REQUIRE_FALSE(stemma::valued_parameters<stemma::onnx_operators<>>);
    auto graph = test::graph({node("Add", {"zeros", "mixed"}, {"y"})}, {}, {"y"});
    graph.inner(5, test::tensor("zeros").text(9, std::string(24, '\0')));
    graph.inner(5, test::tensor("mixed").text(9, std::string(20, '\0') + "abcd"));
    const test::built_model model(test::model(graph));
    const operators ops(model);
    std::vector<bool> marked{true, true};
    ops.keep_uniform(marked);
    CHECK(marked == std::vector<bool>{ops.parameter_name(0) == "zeros", //
                                      ops.parameter_name(1) == "zeros"});
    marked.assign(2, false);
    ops.keep_uniform(marked);
    CHECK(marked == std::vector<bool>{false, false});
}

TEST_CASE("onnx_operators: knows which parameters must be weights") {
    STATIC_REQUIRE(stemma::sized_parameters<operators>);
    STATIC_REQUIRE_FALSE(stemma::sized_parameters<stemma::onnx_operators<>>);
    auto graph =
        test::graph({node("Identity", {"w"}, {"tied"}), node("MatMul", {"x", "tied"}, {"y"}),
                     node("Reshape", {"y", "shape"}, {"z"})},
                    {"x"}, {"z"});
    graph.inner(5, test::tensor("w", {4, 4}));
    graph.inner(5, test::tensor("shape", {2}));
    const test::built_model model(test::model(graph));
    const operators ops(model);
    std::vector<bool> marked(ops.parameter_count(), true);
    ops.keep_matrices(marked);
    for (stemma::id p = 0; p < marked.size(); ++p) {
        CHECK(marked[p] == (ops.parameter_name(p) != "shape"));
    }
}

TEST_CASE("onnx_operators: an Identity of an initializer is also a parameter") {
    const test::built_model model(
        {node("Identity", {"w"}, {"tied"}), node("Identity", {"x"}, {"i"}),
         node("Add", {"w", "tied"}, {"y"}), node("Add", {"i", "w"}, {"z"}),
         node("Identity", {"w"}, {"q"}, "", "other")},
        {"x"}, {"y", "z"}, {"w"});
    const operators ops(model);
    CHECK(ops.parameter_count() == 2);
    CHECK(parameters_of(ops, 0).empty()); // it only passes one on
    CHECK(parameters_of(ops, 1).empty());
    CHECK(parameters_of(ops, 2) == std::vector<std::string>{"w", "tied"});
    CHECK(parameters_of(ops, 3) == std::vector<std::string>{"w"});
    CHECK(parameters_of(ops, 4) == std::vector<std::string>{"w"});
    CHECK(ops.reads_data(1));
    CHECK_FALSE(ops.reads_data(2));
    CHECK(ops.result_name(2) == "y");
}

TEST_CASE("onnx_operators: the standard domain may be spelled out") {
    const test::built_model model({node("Identity", {"w"}, {"tied"}, "", "ai.onnx"),
                                   node("Shape", {"x"}, {"s"}, "", "ai.onnx"),
                                   node("Add", {"s", "tied"}, {"y"})},
                                  {"x"}, {"y"}, {"w"});
    const operators ops(model);
    CHECK(model.domain(0).empty());
    CHECK(parameters_of(ops, 2) == std::vector<std::string>{"tied"});
    CHECK(ops.hides_data(1));
}

TEST_CASE("onnx_operators: metadata are as before the file was tagged") {
    const auto bytes = test::model(test::graph({node("MatMul", {"x", "w"}, {"y"}, "/a/MatMul")
                                                    .inner(9, test::entry("namespace", "theirs"))
                                                    .inner(9, test::entry("k", "v"))},
                                               {"x"}, {"y"}, {"w"}))
                           .bytes();
    const stemma::wire_model untagged(bytes);
    auto before = metadata_of(operators(untagged), 0);
    CHECK(before == entries{{"namespace", "theirs"}, {"k", "v"}});
    for (unsigned set = 0; set < test::carrier_sets; ++set) {
        CAPTURE(set);
        const test::built_model model(test::tag(bytes, test::carriers_of(set)));
        CHECK(metadata_of(operators(model), 0) == before);
    }
}

TEST_CASE("onnx_operators: knows what hides data, and what reads a condition") {
    const auto body = test::graph({node("Relu", {"x"}, {"b"})}, {}, {"b"});
    const test::built_model model(
        {node("Shape", {"x"}, {"s"}), node("Not", {"s"}, {"c"}),
         test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)})},
        {"x"}, {"y"});
    const operators ops(model);
    CHECK(ops.hides_data(0));
    CHECK_FALSE(ops.hides_data(1));
    std::size_t conditions = 0;
    for (auto [it, last] = edges(ops.graph()); it != last; ++it) {
        conditions += ops.reads_condition(*it) ? 1U : 0U;
    }
    CHECK(conditions == 1);
    const auto inner = 2U; // nodes of bodies precede their owner
    CHECK(ops.op_type(inner) == "Relu");
    CHECK(ops.owner(inner) == 3);
    CHECK(ops.body(inner) != no_id);
    CHECK(ops.body(0) == no_id);
}

TEST_CASE("onnx_operators: arguments of calls are formals inside the function") {
    auto message =
        test::model(test::graph({node("f", {"x", "w", ""}, {"y"}, "", "d")}, {"x"}, {"y"}, {"w"}));
    message.inner(
        25, test::function("d", "f", {"p", "q", "r"}, {"o"}, {node("Add", {"q", "p"}, {"o"})}));
    const test::built_model model(message);
    const operators ops(model);
    REQUIRE(ops.function_count() == 1);
    CHECK(ops.function_domain(0) == "d");
    CHECK(ops.function_name(0) == "f");
    for (id v = 0; v < 2; ++v) {
        std::vector<id> formals;
        std::vector<bool> parameters;
        ops.for_each_argument(v, [&](const stemma::operator_argument& argument) {
            formals.push_back(argument.formal);
            parameters.push_back(argument.parameter != no_id);
        });
        if (ops.callee(v) == 0) {
            CHECK(ops.enclosing_function(v) == no_id);
            CHECK(parameters == std::vector<bool>{false, true, false});
        } else {
            CHECK(ops.enclosing_function(v) == 0);
            CHECK(formals == std::vector<id>{1, 0});
        }
    }
}

TEST_CASE("onnx_operators: knows what makes the results, in their order") {
    const auto graph = test::graph({node("Relu", {"x"}, {"a"}), node("Tanh", {"x"}, {"b"})}, {"x"},
                                   {"b", "x", "a"});
    const test::built_model model(test::model(graph));
    CHECK(operators(model).result_makers() == std::vector<id>{1, 0});
}

} // namespace test::onnx_onnx_operators
