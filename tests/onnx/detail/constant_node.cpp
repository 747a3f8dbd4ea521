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
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        CHECK(stemma::detail::is_constant_node(model, node) == (node < 2));
        CHECK(stemma::detail::is_constant_operator(model, model.operator_id(node)) == (node < 2));
    }
}

} // namespace test::onnx_detail_constant_node
