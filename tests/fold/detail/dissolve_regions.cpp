// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/dissolve_regions.hpp>

#include "../../catch.hpp"

#include <vector>

namespace test::fold_detail_dissolve_regions {

namespace {

using stemma::no_id;
using stemma::detail::fold_item;

constexpr fold_item op(stemma::id vertex) {
    return {vertex, false};
}
constexpr fold_item inside(stemma::id region) {
    return {region, true};
}

/// 0 holds 1 and 4, 1 holds 2 and 3.
stemma::detail::fold_regions_result nested() {
    stemma::detail::fold_regions_result folded;
    folded.regions = {
        {0, 0, 0, 1, no_id, 5, 0, {op(0), inside(1), op(5), inside(4)}},
        {1, 0, 0, 1, 0, 4, 0, {op(1), inside(2), inside(3)}},
        {2, 0, 0, 2, 1, 3, 0, {op(2)}},
        {2, 0, 1, 2, 1, 4, 0, {op(1), op(3)}},
        {3, 0, 0, 1, 0, 5, 0, {op(4)}},
    };
    stemma::detail::count_operators(folded.regions);
    return folded;
}

} // namespace

TEST_CASE("count_operators: includes nested regions") {
    const auto folded = nested();
    CHECK(folded.regions[0].operators == 7);
    CHECK(folded.regions[1].operators == 4);
    CHECK(folded.regions[3].operators == 2);
}

TEST_CASE("dissolve_regions: items replace the region; numbers and parents are updated") {
    auto folded = nested();
    stemma::detail::dissolve_regions(folded,
                                     {true, true, false, false, false}); // the first one stays
    const auto& regions = folded.regions;
    REQUIRE(regions.size() == 4);
    CHECK(regions[0].items ==
          std::vector<fold_item>{op(0), op(1), inside(1), inside(2), op(5), inside(3)});
    CHECK(regions[0].end == 4);
    for (stemma::id r = 1; r < 4; ++r) {
        CHECK(regions[r].parent == 0);
        CHECK(regions[r].end == r + 1);
    }
    CHECK(regions[3].module == 3);
    CHECK(regions[0].operators == 7);
    REQUIRE(folded.left.size() == 1);
    CHECK(folded.left[0].module == 1);
    CHECK(folded.left[0].operators == 1);
}

TEST_CASE("dissolve_regions: duplicates are removed; nested regions dissolve, too") {
    auto folded = nested();
    stemma::detail::dissolve_regions(folded, {false, true, true, true, false});
    REQUIRE(folded.regions.size() == 2);
    CHECK(folded.regions[0].items ==
          std::vector<fold_item>{op(0), op(1), op(2), op(3), op(5), inside(1)});
    CHECK(folded.regions[0].operators == 6);
    CHECK(folded.regions[1].parent == 0);
    CHECK(folded.left.size() == 3);

    auto same = nested();
    stemma::detail::dissolve_regions(same, std::vector<bool>(5, false));
    CHECK(same.regions.size() == 5);
    CHECK(same.left.empty());
}

} // namespace test::fold_detail_dissolve_regions
