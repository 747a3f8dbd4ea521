// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/late.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

namespace test::onnx_detail_late {

TEST_CASE("late: facts are computed once") {
    struct node_count {
        explicit node_count(const stemma::onnx_model& model) : nodes(model.node_count()) {}
        stemma::id nodes;
    };
    const auto bytes =
        test::model(test::graph({test::node("Neg", {"x"}, {"y"}, "n")}, {"x"}, {"y"})).bytes();
    const stemma::wire_model model(bytes);
    stemma::detail::late<node_count> late;
    const auto& first = late.of(model);
    CHECK(first.nodes == 1);
    CHECK(&late.of(model) == &first);
}

} // namespace test::onnx_detail_late
