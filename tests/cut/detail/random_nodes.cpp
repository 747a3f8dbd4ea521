// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/random_nodes.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::cut_detail_random_nodes {

namespace {

bool is_random(const test::message& model, const std::string& name) {
    const test::built_model opened(model);
    return stemma::detail::find_random_nodes(opened)[test::node_called(opened, name)];
}

/// A Dropout whose third input is an initializer of one byte.
test::message dropout(const std::string& training) {
    auto graph = test::graph({test::node("Dropout", {"x", "", "t"}, {"y"}, "drop"),
                              test::node("Dropout", {"x"}, {"z"}, "plain"),
                              test::node("Dropout", {"x", "", "flag"}, {"q"}, "asked"),
                              test::node("Relu", {"x"}, {"r"}, "relu"),
                              test::node("Bernoulli", {"x"}, {"b"}, "random")},
                             {"x", "flag"}, {"y"});
    return test::model(graph.inner(5, test::message().number(2, 9).text(8, "t").text(9, training)));
}

} // namespace

TEST_CASE("find_random_nodes: a Dropout that may be training, and random operators",
          "[onnx][random_nodes]") {
    CHECK(is_random(dropout(std::string("\1", 1)), "drop"));
    CHECK_FALSE(is_random(dropout(std::string("\0", 1)), "drop"));
    CHECK_FALSE(is_random(dropout("\1"), "plain"));
    CHECK(is_random(dropout("\1"), "asked")); // who knows what the input will be
    CHECK_FALSE(is_random(dropout("\1"), "relu"));
    CHECK(is_random(dropout("\1"), "random"));
}

} // namespace test::cut_detail_random_nodes
