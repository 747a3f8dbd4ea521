// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/query.hpp>

#include "../catch.hpp"

#include <stemma/query/parse_query.hpp>

namespace test::query_query {

using stemma::parse_query;

TEST_CASE("query: knows whether it asks about nodes, sizes or values") {
    CHECK(parse_query("op:Add").asks_for_operators());
    CHECK(parse_query("encoder and not attr:axis").asks_for_operators());
    CHECK(!parse_query("encoder").asks_for_operators());
    CHECK(!parse_query("has:op:Add").asks_for_operators());
    CHECK(parse_query("has:op:Add").asks_for_sizes());
    CHECK(parse_query("encoder and nodes>10").asks_for_sizes());
    CHECK(!parse_query("class:Linear[parameters>1M]").asks_for_sizes()); // in such a module
    CHECK(!parse_query("leaf").asks_for_sizes());
    CHECK(parse_query("encoder and type:float16").asks_for_values());
    CHECK(!parse_query("has:type:float16").asks_for_values());
    CHECK(!parse_query("feeds:type:float16").asks_for_values());
}

TEST_CASE("query: relations compare as named") {
    const auto holds = [](const char* text, double x) { return parse_query(text).compares(x); };
    CHECK(holds("rank:4", 4));
    CHECK(!holds("rank:4", 3));
    CHECK(holds("nodes>10", 11));
    CHECK(!holds("nodes>10", 10));
    CHECK(holds("nodes>=10", 10));
    CHECK(holds("bytes<1kB", 999));
    CHECK(!holds("bytes<1kB", 1000));
    CHECK(holds("bytes<=1KiB", 1024));
}

} // namespace test::query_query
