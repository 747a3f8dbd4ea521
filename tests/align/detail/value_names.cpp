// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/value_names.hpp>

#include "../../catch.hpp"

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/id.hpp>

#include <vector>

namespace test::align_detail_value_names {

using stemma::comparable_graph;
using stemma::id;
using stemma::no_id;

TEST_CASE("value_names: finds values by name, but none by an ambiguous or empty one") {
    comparable_graph graph;
    const auto x = graph.add_value(comparable_graph::value_role::given, "x");
    graph.add_value(comparable_graph::value_role::made, "twice");
    graph.add_value(comparable_graph::value_role::made, "twice");
    graph.add_value(comparable_graph::value_role::made, "");
    const stemma::detail::value_names names(graph);
    CHECK(names.find("x") == x);
    CHECK(names.find("y") == no_id);
    CHECK(names.find("twice") == no_id);
    CHECK(names.find("") == no_id);
}

TEST_CASE("value_names: finds values by names to which tools added something") {
    comparable_graph graph;
    const auto fc = graph.add_value(comparable_graph::value_role::stored, "fc.weight");
    const auto a = graph.add_value(comparable_graph::value_role::made, "a_token_1");
    const stemma::detail::value_names names(graph);
    CHECK(names.find_within("fc.weight_quantized") == fc);
    CHECK(names.find_within("fc.weight_quantized_scale") == fc);
    CHECK(names.find_within("InsertedCast_fc.weight") == fc);
    CHECK(names.find_within("a_token_1_nchwc") == a); // no further than needed
    CHECK(names.find_within("fc.weight") == no_id);   // nothing was added
    CHECK(names.find_within("_nchwc") == no_id);
    CHECK(names.find_within("fc.weight_other") == no_id);
}

TEST_CASE("value_names: finds all values of another graph, in any order") {
    comparable_graph graph;
    for (const auto* name : {"a", "b", "twice", "c", "twice", "", "d"}) {
        graph.add_value(comparable_graph::value_role::made, name);
    }
    comparable_graph other;
    for (const auto* name : {"a", "b", "twice", "c", "twice", "", "new", "d", "b", "c", "a"}) {
        other.add_value(comparable_graph::value_role::made, name);
    }
    const stemma::detail::value_names names(graph);
    CHECK(names.find_all(other) ==
          std::vector<id>{0, 1, no_id, 3, no_id, no_id, no_id, 6, 1, 3, 0});
}

TEST_CASE("operator_names: finds operators by unambiguous names") {
    comparable_graph graph;
    const auto x = graph.add_value(comparable_graph::value_role::given, "x");
    const auto add = [&](const char* name) {
        const auto y = graph.add_value(comparable_graph::value_role::made, "");
        return graph.add_operator({.type = "Relu", .name = name}, std::vector<id>{x},
                                  std::vector<id>{y});
    };
    const auto one = add("one");
    add("two");
    add("two");
    add("");
    const stemma::detail::operator_names names(graph);
    CHECK(names.find("one") == one);
    CHECK(names.find("two") == no_id);
    CHECK(names.find("") == no_id);
    CHECK(names.find("x") == no_id);
}

using stemma::detail::prefix_length;
using stemma::detail::suffix_length;
using stemma::detail::tool_suffixes;

TEST_CASE("tool_names: matches the longest suffix, digits where required", "[align]") {
    CHECK(suffix_length("a_nchwc", tool_suffixes) == 6);
    CHECK(suffix_length("a_token_12", tool_suffixes) == 9);
    CHECK(suffix_length("a_token_", tool_suffixes) == 0);
    CHECK(suffix_length("a_quantized_scale", tool_suffixes) == 16);
    CHECK(suffix_length("_nchwc", tool_suffixes) == 0);
    CHECK(suffix_length("relu_1", tool_suffixes) == 0);
    CHECK(suffix_length("", tool_suffixes) == 0);
}

TEST_CASE("tool_names: matches prefixes", "[align]") {
    CHECK(prefix_length("graph_input_cast_0", "graph_input_cast_\nfused ") == 17);
    CHECK(prefix_length("fused a", "graph_input_cast_\nfused ") == 6);
    CHECK(prefix_length("fused ", "fused ") == 0);
    CHECK(prefix_length("a", "") == 0);
}

} // namespace test::align_detail_value_names
