// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/nesting.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::model_detail_nesting {

using stemma::id;
using stemma::detail::operators_in_bodies;

namespace {

/// Operators without known owners.
struct flat_view {
    using graph_type = test::operator_scene::graph_type;
    const graph_type* all;
    [[nodiscard]] const graph_type& graph() const { return *all; }
};

} // namespace

TEST_CASE("operators_in_bodies: outer ones come before inner ones, whatever their indices") {
    test::operator_scene ops;
    for (int i = 0; i < 5; ++i) {
        ops.add();
    }
    // 4 owns 2 and 3, 2 owns 0.
    ops.at(0).owner = 2;
    ops.at(2).owner = 4;
    ops.at(3).owner = 4;
    const auto inner = operators_in_bodies(ops);
    REQUIRE(inner.size() == 3);
    std::vector<id> order;
    for (const auto& op : inner) {
        CHECK(op.owner == ops.at(op.v).owner);
        order.push_back(op.v);
    }
    CHECK(order == std::vector<id>{2, 3, 0});
    CHECK(inner[0].depth == 1);
    CHECK(inner[2].depth == 2);
}

TEST_CASE("operators_in_bodies: none without bodies, or if the view knows none") {
    test::operator_scene ops;
    ops.add();
    CHECK(operators_in_bodies(ops).empty());
    ops.at(ops.add()).owner = 0;
    CHECK(operators_in_bodies(flat_view{&ops.graph()}).empty());
    CHECK(operators_in_bodies(ops).size() == 1);
}

} // namespace test::model_detail_nesting
