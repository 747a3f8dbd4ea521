// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/order_stretch.hpp>

#include "../../catch.hpp"
#include "../../vertex_set_scene.hpp"

namespace test::cut_detail_order_stretch {

namespace {

using stemma::id;

} // namespace

TEST_CASE("order_stretch: ranges from the first member to the last", "[algorithm][order_stretch]") {
    test::for_random_vertex_sets([](const test::vertex_set_scene& s) {
        const auto stretch = s.stretch();
        const auto expected = s.members.empty() ? 0U : s.members.back() - s.members.front() + 1;
        CHECK(stretch.vertices().size() == expected);
        for (id v = 0; v < s.dag.order.size(); ++v) {
            const bool within =
                !s.members.empty() && v >= s.members.front() && v <= s.members.back();
            CHECK((stretch.place(v) < stretch.vertices().size()) == within);
            if (within) {
                CHECK(stretch.vertices()[stretch.place(v)] == v);
            }
        }
    });
}

} // namespace test::cut_detail_order_stretch
