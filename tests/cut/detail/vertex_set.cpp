// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/vertex_set.hpp>

#include "../../catch.hpp"

namespace test::cut_detail_vertex_set {

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

} // namespace test::cut_detail_vertex_set
