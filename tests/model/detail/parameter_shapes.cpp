// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/parameter_shapes.hpp>

#include "../../catch.hpp"

#include <range/v3/algorithm/equal.hpp>

#include <cstdint>
#include <vector>

namespace test::model_detail_parameter_shapes {

TEST_CASE("parameter_shapes: shapes come back by number", "[parameter_shapes]") {
    const std::vector<std::vector<std::int64_t>> expected{{2, 3}, {}, {7}, {1, 1, 4}};
    stemma::detail::parameter_shapes shapes;
    CHECK_FALSE(shapes.knows(0));
    for (const auto& shape : expected) {
        shapes.add(shape);
    }
    for (stemma::id p = 0; p < expected.size(); ++p) {
        REQUIRE(shapes.knows(p));
        CHECK(ranges::equal(shapes.of(p), expected[p]));
    }
    CHECK_FALSE(shapes.knows(4));
}

} // namespace test::model_detail_parameter_shapes
