// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/vertex_set.hpp>

#include "../../catch.hpp"
#include "../../vertex_set_scene.hpp"

namespace test::cut_detail_vertex_set {

namespace {

using stemma::id;

} // namespace

TEST_CASE("vertex_set: vertices apart are neither inside nor outside", "[graph][vertex_set]") {
    stemma::detail::vertex_set set(3);
    set.inside[1] = true;
    set.inside[2] = true;
    set.apart[2] = true;
    CHECK(set.is_outside(0));
    CHECK_FALSE(set.is_inside(0));
    CHECK(set.is_inside(1));
    CHECK_FALSE(set.is_outside(1));
    CHECK_FALSE(set.is_inside(2));
    CHECK_FALSE(set.is_outside(2));
}

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

} // namespace test::cut_detail_vertex_set
