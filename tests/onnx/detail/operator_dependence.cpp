// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/operator_dependence.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::onnx_detail_operator_dependence {

namespace {

using stemma::dependence;
using stemma::id;
using test::message;
using test::node;

std::vector<dependence> of(const std::vector<message>& nodes) {
    const test::built_model model(nodes, {"x"}, {}, {"w"});
    return stemma::detail::find_dependence(model, stemma::detail::find_random_operators(model));
}

} // namespace

TEST_CASE("is_random_operator: recognizes the standard ones") {
    CHECK(stemma::detail::is_random_operator("", "RandomNormal"));
    CHECK(stemma::detail::is_random_operator("", "Bernoulli"));
    CHECK_FALSE(stemma::detail::is_random_operator("", "Relu"));
    CHECK_FALSE(stemma::detail::is_random_operator("other", "RandomNormal"));
}

TEST_CASE("find_dependence: the strongest dependence of a node's inputs counts") {
    const auto dependences = of({node("Constant", {}, {"c"}), node("Neg", {"c"}, {"nc"}),
                                 node("Add", {"c", "w"}, {"cw"}), node("Relu", {"x"}, {"r"}),
                                 node("Shape", {"r"}, {"s"}), node("Mul", {"s", "cw"}, {"t"}),
                                 node("Add", {"t", "r"}, {"y"}), node("Shape", {"w"}, {"ws"}),
                                 node("Relu", {"ghost"}, {"g"}), node("RandomNormal", {}, {"n"}),
                                 node("RandomNormalLike", {"w"}, {"m"})});
    REQUIRE(dependences.size() == 11);
    CHECK(dependences[0] == dependence::constant);
    CHECK(dependences[1] == dependence::weight);
    CHECK(dependences[2] == dependence::weight);
    CHECK(dependences[3] == dependence::data);
    CHECK(dependences[4] == dependence::shape);
    CHECK(dependences[5] == dependence::shape);
    CHECK(dependences[6] == dependence::data);
    CHECK(dependences[7] <= dependence::weight);
    CHECK(dependences[8] == dependence::data);
    CHECK(dependences[9] == dependence::data);
    CHECK(dependences[10] == dependence::data);
}

TEST_CASE("find_dependence: an owner depends on what its bodies capture") {
    const auto branch = [](const char* captured) {
        return test::graph_attribute("then_branch",
                                     test::graph({node("Relu", {captured}, {"b"})}, {}, {"b"}));
    };
    const auto dependences =
        of({node("Constant", {}, {"c"}), test::owner_node("If", {"c"}, {"y"}, {branch("w")}),
            test::owner_node("If", {"c"}, {"z"}, {branch("x")})});
    REQUIRE(dependences.size() == 5);
    // Nodes of bodies precede their owner.
    CHECK(dependences[2] == dependence::weight);
    CHECK(dependences[4] == dependence::data);
}

TEST_CASE("find_dependence: an owner depends on what its bodies call or generate") {
    const auto owner = [](const message& inside) {
        const auto body = test::graph_attribute("then_branch", test::graph({inside}, {}, {"b"}));
        const auto outer = test::graph_attribute(
            "then_branch", test::graph({test::owner_node("If", {"w"}, {"i"}, {body})}, {}, {"i"}));
        const test::built_model model(
            test::model(
                test::graph({test::owner_node("If", {"w"}, {"y"}, {outer})}, {"x"}, {"y"}, {"w"}))
                .inner(25, test::function("d", "Draw", {"a"}, {"b"},
                                          {node("RandomNormalLike", {"a"}, {"b"})})));
        const auto dependences =
            stemma::detail::find_dependence(model, stemma::detail::find_random_operators(model));
        return dependences.at(model.producer(model.graph(0).outputs.at(0)));
    };
    CHECK(owner(node("Draw", {"w"}, {"b"}, "", "d")) == dependence::data);
    CHECK(owner(node("Source", {}, {"b"}, "", "own")) == dependence::data);
    CHECK(owner(node("RandomNormalLike", {"w"}, {"b"})) == dependence::data);
    CHECK(owner(node("Constant", {}, {"b"})) == dependence::weight);
    CHECK(owner(node("Neg", {"w"}, {"b"})) == dependence::weight);
}

TEST_CASE("find_dependence: readers of data depend on data, in every fixture") {
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        const stemma::mapped_file file(path);
        const stemma::wire_model model(file.bytes(), path);
        const auto dependences =
            stemma::detail::find_dependence(model, stemma::detail::find_random_operators(model));
        bool holds = true;
        for (id node = 0; node < model.node_count(); ++node) {
            for (auto value : model.inputs(node)) {
                const auto producer = value == stemma::no_id ? value : model.producer(value);
                const bool hides = model.op_type(node) == "Shape" || model.op_type(node) == "Size";
                holds = holds && (producer == stemma::no_id || hides ||
                                  dependences[node] >= dependences[producer]);
            }
        }
        CHECK(holds);
    }
}

} // namespace test::onnx_detail_operator_dependence
