// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/value_numbers.hpp>

#include "../../catch.hpp"

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/id.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::align_detail_value_numbers {

using stemma::comparable_graph;
using stemma::id;
using stemma::no_id;
using stemma::detail::value_numbers;

namespace {

/// A graph under construction.
struct scene {
    comparable_graph graph;
    id x = graph.add_value(comparable_graph::value_role::given, "x");

    /// Returns: the value that a new operator makes.
    id add(const std::string& type, const std::vector<id>& inputs, bool hides_data = false) {
        const auto out = graph.add_value(comparable_graph::value_role::made, "");
        graph.add_operator({.type = type, .hides_data = hides_data}, inputs, std::vector<id>{out});
        return out;
    }
};

} // namespace

TEST_CASE("value_numbers: equal operators on equal inputs compute the same") {
    scene s;
    const auto a = s.add("Relu", {s.x});
    const auto b = s.add("Relu", {s.x});
    const auto other = s.add("Tanh", {s.x});
    const auto sum = s.add("Add", {a, b});
    const auto same_sum = s.add("Add", {b, a});
    const auto omitted = s.add("Add", {a, no_id});
    const value_numbers numbers(s.graph);
    CHECK(numbers.of_value(a) == numbers.of_value(b));
    CHECK(numbers.of_value(a) != numbers.of_value(other));
    CHECK(numbers.of_value(sum) == numbers.of_value(same_sum));
    CHECK(numbers.of_value(sum) != numbers.of_value(omitted));
    CHECK(numbers.find(numbers.of_operator(1)) == 0);
    CHECK(numbers.next_equal(0) == 1);
    CHECK(numbers.next_equal(1) == no_id);
    CHECK(numbers.find(0) == no_id);
}

TEST_CASE("value_numbers: constants are the same if their contents are") {
    scene s;
    const auto add_constant = [&](std::uint64_t content) {
        const auto out =
            s.graph.add_value(comparable_graph::value_role::made, "", {.exact = content});
        s.graph.add_operator({.type = "Constant", .constant = true}, {}, std::vector<id>{out});
    };
    add_constant(5);
    add_constant(6);
    add_constant(5);
    const value_numbers numbers(s.graph);
    CHECK(numbers.of_operator(0) != numbers.of_operator(1));
    CHECK(numbers.of_operator(0) == numbers.of_operator(2));
}

TEST_CASE("value_numbers: stored values are the same if their contents are") {
    scene s;
    const auto v = s.graph.add_value(comparable_graph::value_role::stored, "v", {.exact = 5});
    const auto w = s.graph.add_value(comparable_graph::value_role::stored, "w", {.exact = 5});
    const auto unknown = s.graph.add_value(comparable_graph::value_role::stored, "u");
    const auto a = s.add("Mul", {s.x, v});
    const auto b = s.add("Mul", {s.x, w});
    const auto c = s.add("Mul", {s.x, unknown});
    const value_numbers numbers(s.graph);
    CHECK(numbers.of_value(v) == 5);
    CHECK(numbers.of_value(a) == numbers.of_value(b));
    CHECK(numbers.of_value(a) != numbers.of_value(c));
}

TEST_CASE("value_numbers: an Identity has the number of its input") {
    scene s;
    const auto copy = s.add("Identity", {s.x});
    const auto a = s.add("Relu", {s.x});
    const auto b = s.add("Relu", {copy});
    const value_numbers numbers(s.graph);
    CHECK(numbers.of_value(copy) == numbers.of_value(s.x));
    CHECK(numbers.of_value(a) == numbers.of_value(b));
}

TEST_CASE("value_numbers: shapes and constants are not data") {
    scene s;
    const auto w = s.graph.add_value(comparable_graph::value_role::stored, "w", {.exact = 5});
    const auto shape = s.add("Shape", {s.x}, true);
    const auto reshaped = s.add("Reshape", {w, shape});
    const auto y = s.add("Mul", {s.x, reshaped});
    const value_numbers numbers(s.graph);
    CHECK(numbers.is_data(s.x));
    CHECK_FALSE(numbers.is_data(w));
    CHECK_FALSE(numbers.is_data(shape));
    CHECK_FALSE(numbers.is_data(reshaped));
    CHECK(numbers.is_data(y));
}

TEST_CASE("value_numbers: what cannot be compared equals itself alone") {
    comparable_graph graph;
    const auto x = graph.add_value(comparable_graph::value_role::given, "x");
    const auto add = [&] {
        const auto out = graph.add_value(comparable_graph::value_role::made, "");
        graph.add_operator({.type = "If", .opaque = true}, std::vector<id>{x},
                           std::vector<id>{out});
        return out;
    };
    const auto a = add();
    const auto b = add();
    const value_numbers numbers(graph);
    CHECK(numbers.of_value(a) != numbers.of_value(b));
    CHECK(numbers.is_data(a));
}

} // namespace test::align_detail_value_numbers
