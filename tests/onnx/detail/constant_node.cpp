// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/constant_node.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>

namespace test::onnx_detail_constant_node {

TEST_CASE("is_constant_node: a Constant of the standard domain, however that is spelled") {
    auto graph = test::graph();
    for (const auto* domain : {"", "ai.onnx", "com.example"}) {
        graph.inner(1, test::node("Constant", {}, {}, "c").text(7, domain));
    }
    graph.inner(1, test::node("Identity", {}, {}, "i"));
    const test::built_model model(test::model(graph));
    CHECK(stemma::detail::is_constant_node(model, 0));
    CHECK(stemma::detail::is_constant_node(model, 1));
    CHECK_FALSE(stemma::detail::is_constant_node(model, 2));
    CHECK_FALSE(stemma::detail::is_constant_node(model, 3));
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        CHECK(stemma::detail::is_constant_operator(model, model.operator_id(node)) ==
              stemma::detail::is_constant_node(model, node));
    }
}

} // namespace test::onnx_detail_constant_node
