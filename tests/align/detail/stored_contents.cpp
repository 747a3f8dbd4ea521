// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/stored_contents.hpp>

#include "../../catch.hpp"

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/id.hpp>

namespace test::align_detail_stored_contents {

using stemma::comparable_graph;
using stemma::no_id;
using stemma::detail::stored_contents;

TEST_CASE("stored_contents: the first value with some contents stands for all that share them") {
    comparable_graph graph;
    graph.add_value(comparable_graph::value_role::given, "x");
    const auto single = graph.add_value(comparable_graph::value_role::stored, "a", {.exact = 11});
    const auto first = graph.add_value(comparable_graph::value_role::stored, "b", {.exact = 12});
    graph.add_value(comparable_graph::value_role::stored, "c", {.exact = 12});
    const stored_contents contents(graph);
    CHECK(contents.find(11) == single);
    CHECK(contents.find(12) == first);
    CHECK(contents.find(13) == no_id);
    CHECK(contents.is_unique(11));
    CHECK_FALSE(contents.is_unique(12));
}

TEST_CASE("stored_contents: unknown contents are those of no value") {
    comparable_graph graph;
    graph.add_value(comparable_graph::value_role::stored, "a");
    graph.add_value(comparable_graph::value_role::stored, "b");
    CHECK(stored_contents(graph).find(0) == no_id);
}

TEST_CASE("stored_contents: reordered or scaled contents count if one value has them") {
    comparable_graph graph;
    const auto a = graph.add_value(comparable_graph::value_role::stored, "a",
                                   {.exact = 1, .loose = 5, .scaled = 7});
    const auto b = graph.add_value(comparable_graph::value_role::stored, "b",
                                   {.exact = 2, .loose = 6, .scaled = 8});
    graph.add_value(comparable_graph::value_role::stored, "c",
                    {.exact = 3, .loose = 5, .scaled = 8});
    const stored_contents contents(graph);
    CHECK(contents.find_loose(6) == b);
    CHECK(contents.find_loose(5) == no_id);
    CHECK(contents.find_loose(7) == no_id);
    CHECK(contents.find_scaled(7) == a);
    CHECK(contents.find_scaled(8) == no_id);
}

} // namespace test::align_detail_stored_contents
