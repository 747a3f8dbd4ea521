// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/related_shapes.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace test::weights_detail_related_shapes {

using extents = std::vector<std::int64_t>;

TEST_CASE("other_extents: those of a part and the whole, in any order of axes",
          "[weights][related_shapes]") {
    using stemma::detail::other_extents;
    CHECK(other_extents(extents{6, 6}, extents{6, 18}) ==
          std::pair<std::uint64_t, std::uint64_t>(6, 18));
    CHECK(other_extents(extents{8, 6}, extents{6, 20}) ==
          std::pair<std::uint64_t, std::uint64_t>(8, 20));
    CHECK(other_extents(extents{4, 6, 6}, extents{6, 6}) ==
          std::pair<std::uint64_t, std::uint64_t>(4, 1));
    CHECK(other_extents(extents{6}, extents{18}) == std::pair<std::uint64_t, std::uint64_t>(6, 18));
    CHECK(other_extents(extents{6}, extents{6, 6}).first == 0);
    CHECK(other_extents(extents{2, 3}, extents{4, 5}).first == 0);
}

TEST_CASE("are_related: tensors with a common extent, or parts of a vector",
          "[weights][related_shapes]") {
    using stemma::detail::are_related;
    CHECK(are_related(extents{5, 6}, extents{6}));
    CHECK(are_related(extents{6}, extents{3}));
    CHECK(are_related(extents{25, 4}, extents{1, 4, 9, 9}));
    CHECK_FALSE(are_related(extents{25, 4}, extents{1, 9, 9}));
    CHECK_FALSE(are_related(extents{6, 8}, extents{4, 4}));
    CHECK_FALSE(are_related(extents{6}, extents{}));
    CHECK_FALSE(are_related(extents{1, 5}, extents{1, 3}));
}

} // namespace test::weights_detail_related_shapes
