// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/canonical_order.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::compare_detail_canonical_order {

namespace {

using test::node;

/// Returns: the operators and the paths of graphs, in order.
std::vector<std::string> order_of(const test::message& built) {
    const auto bytes = built.bytes();
    const stemma::wire_model model(bytes);
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

} // namespace test::compare_detail_canonical_order
