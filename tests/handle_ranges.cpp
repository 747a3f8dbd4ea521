// SPDX-License-Identifier: Apache-2.0
#include <stemma/handle_ranges.hpp>

#include "catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/handles.hpp>

#include <range/v3/range/concepts.hpp>

namespace test::handle_ranges {

using stemma::id;

TEST_CASE("handle_range, handle_list: random-access views of known size") {
    STATIC_REQUIRE(ranges::random_access_range<stemma::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::sized_range<stemma::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::view_<stemma::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::random_access_range<stemma::handle_list<stemma::value_ref>>);
    STATIC_REQUIRE(ranges::sized_range<stemma::handle_list<stemma::value_ref>>);
    STATIC_REQUIRE(ranges::view_<stemma::handle_list<stemma::value_ref>>);
}

TEST_CASE("handle_walk: a forward view, also for the standard library's algorithms") {
    STATIC_REQUIRE(ranges::forward_range<stemma::handle_walk<stemma::module_ref>>);
    STATIC_REQUIRE(ranges::view_<stemma::handle_walk<stemma::module_ref>>);
    STATIC_REQUIRE(std::forward_iterator<stemma::handle_walk<stemma::module_ref>::iterator>);
}

} // namespace test::handle_ranges
