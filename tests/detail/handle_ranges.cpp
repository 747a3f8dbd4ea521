// SPDX-License-Identifier: Apache-2.0
#include <stemma/detail/handle_ranges.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/handles.hpp>
#include <stemma/stemma.hpp>

#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/algorithm/max_element.hpp>
#include <range/v3/range/concepts.hpp>

#include <functional>
#include <iterator>

namespace test::detail_handle_ranges {

TEST_CASE("handle_range, handle_list: random-access views of known size") {
    STATIC_REQUIRE(ranges::random_access_range<stemma::detail::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::sized_range<stemma::detail::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::view_<stemma::detail::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::random_access_range<stemma::detail::handle_list<stemma::value_ref>>);
    STATIC_REQUIRE(ranges::sized_range<stemma::detail::handle_list<stemma::value_ref>>);
    STATIC_REQUIRE(ranges::view_<stemma::detail::handle_list<stemma::value_ref>>);
    STATIC_REQUIRE(
        std::random_access_iterator<stemma::detail::handle_range<stemma::node_ref>::iterator>);
    STATIC_REQUIRE(
        std::random_access_iterator<stemma::detail::handle_list<stemma::node_ref>::iterator>);
}

TEST_CASE("handles outlive the range that an algorithm takes them from") {
    STATIC_REQUIRE(ranges::borrowed_range<stemma::detail::handle_range<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::borrowed_range<stemma::detail::handle_list<stemma::node_ref>>);
    STATIC_REQUIRE(ranges::borrowed_range<stemma::detail::handle_walk<stemma::module_ref>>);
    const auto model = stemma::open(test::fixture("bert_micro/model.onnx"));
    const auto softmax = ranges::find_if(model.nodes(), stemma::op_is("Softmax"));
    REQUIRE(softmax != model.nodes().end());
    CHECK((*softmax).op_type() == "Softmax");
    const auto heaviest = ranges::max_element(model.root().parameters(), std::less(),
                                              [](const auto& p) { return p.elements(); });
    CHECK((*heaviest).elements() > 0);
    const auto encoder = ranges::find_if(model.root().children(),
                                         [](const auto& m) { return m.name() == "encoder"; });
    CHECK((*encoder).path() == "encoder");
    const auto nodes = model.nodes();
    CHECK(nodes.begin()[2] == nodes[2]);
    CHECK(*(2 + nodes.begin()) == *(nodes.end() - (nodes.end() - nodes.begin() - 2)));
    CHECK(nodes.begin() < nodes.end());
}

TEST_CASE("handle_walk: a forward view, also for the standard library's algorithms") {
    STATIC_REQUIRE(ranges::forward_range<stemma::detail::handle_walk<stemma::module_ref>>);
    STATIC_REQUIRE(ranges::view_<stemma::detail::handle_walk<stemma::module_ref>>);
    STATIC_REQUIRE(
        std::forward_iterator<stemma::detail::handle_walk<stemma::module_ref>::iterator>);
}

} // namespace test::detail_handle_ranges
