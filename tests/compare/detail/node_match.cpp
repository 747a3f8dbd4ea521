// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/node_match.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace test::compare_detail_node_match {

namespace {

using stemma::id;
using stemma::no_id;

/// Operators with labels, and edges from one to the first inputs of another.
struct scene {
    stemma::operator_graph graph;
    std::vector<std::uint64_t> label;
    std::vector<std::uint64_t> weight;
    std::vector<std::uint64_t> place;
    std::vector<std::uint64_t> name;
    std::vector<char8_t> quiet;

    scene(std::vector<std::uint64_t> labels, const std::vector<std::pair<id, id>>& edges)
        : label(std::move(labels))
        , weight(label.size(), 0)
        , place(label.size(), 1)
        , name(label.size(), 0)
        , quiet(label.size(), 0) {
        std::vector<stemma::operator_edge> all;
        std::vector<id> ports(label.size(), 0);
        for (const auto& [from, to] : edges) {
            all.push_back({from, to, from, ports[to]++, 0});
        }
        graph = stemma::operator_graph(label.size(), all);
    }

    [[nodiscard]] stemma::detail::matched_graph view() const {
        return {&graph, label, label, weight, place, name, quiet};
    }
};

std::vector<id> match(const scene& a, const scene& b) {
    stemma::detail::node_match pairs(a.label.size(), b.label.size());
    stemma::detail::match_nodes(a.view(), b.view(), pairs);
    for (id v = 0; v < pairs.to_second.size(); ++v) {
        if (pairs.to_second[v] != no_id) {
            CHECK(pairs.to_first[pairs.to_second[v]] == v);
        }
    }
    return pairs.to_second;
}

} // namespace

TEST_CASE("match_nodes: a graph matches itself in any order") {
    const scene a({1, 2, 3, 2}, {{0, 1}, {1, 2}, {0, 3}});
    CHECK(match(a, a) == std::vector<id>{0, 1, 2, 3});
    const scene b({1, 2, 2, 3}, {{0, 2}, {2, 3}, {0, 1}});
    // The 2 with a reader matches the one with a reader, whatever the order.
    const scene c({1, 2, 2, 3}, {{0, 1}, {0, 2}, {2, 3}});
    CHECK(match(b, c)[2] == 2);
    CHECK(match(scene({}, {}), scene({}, {})).empty());
}

TEST_CASE("match_nodes: only inserted operators have no partner") {
    const scene a({1, 2, 3, 4, 5}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}});
    const scene b({1, 2, 9, 3, 4, 5}, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}});
    CHECK(match(a, b) == std::vector<id>{0, 1, 3, 4, 5});
    CHECK(match(b, a) == std::vector<id>{0, 1, no_id, 2, 3, 4});
}

TEST_CASE("match_nodes: weights distinguish equal operators, names only as a last resort") {
    scene a({1, 1, 1}, {});
    scene b({1, 1, 1}, {});
    a.weight = {10, 11, 12};
    b.weight = {12, 10, 11};
    CHECK(match(a, b) == std::vector<id>{1, 2, 0});
    a.place = b.place = {0, 0, 0};
    a.weight = b.weight = {0, 0, 0};
    a.name = {5, 6, 0};
    b.name = {6, 7, 0};
    a.label = {1, 1, 2};
    b.label = {1, 9, 2};
    CHECK(match(a, b)[0] == no_id);
    CHECK(match(a, b)[1] == 0);
}

TEST_CASE(
    "match_nodes: operators alike in everything keep their names, if both graphs have these") {
    scene a({1, 1, 1}, {});
    scene b({1, 1, 1}, {});
    a.name = {5, 6, 7};
    b.name = {7, 5, 6};
    CHECK(match(a, b) == std::vector<id>{1, 2, 0});
    b.name = {7, 5, 8};
    CHECK(match(a, b) == std::vector<id>{0, 1, 2});
}

TEST_CASE("match_nodes: equal operators of a module are told apart by unique ones next to them") {
    // Attention: products (3) before and after a softmax (5) read transposed values (2). All that
    // surrounds these was replaced, and they run in another order.
    scene a({8, 2, 3, 5, 8, 2, 3, 8}, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {3, 6}, {5, 6}, {6, 7}});
    scene b({9, 2, 9, 2, 3, 7, 5, 3, 9},
            {{0, 1}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {1, 7}, {7, 8}});
    const std::vector<id> expected{no_id, 3, 4, 6, no_id, 1, 7, no_id};
    CHECK(match(a, b) == expected);
    // Without it, names do, and only then the order.
    a.label[3] = 0;
    b.label[6] = 1;
    CHECK(match(a, b)[1] == 1);
    a.name = {0, 21, 31, 0, 0, 22, 32, 0};
    b.name = {0, 22, 0, 21, 31, 0, 0, 32, 0};
    CHECK(match(a, b)[1] == 3);
    CHECK(match(a, b)[6] == 7);
}

TEST_CASE("match_nodes: an operator with other attributes is a changed pair, not a match") {
    const scene a({1, 2, 3}, {{0, 1}, {1, 2}});
    scene b({1, 8, 3}, {{0, 1}, {1, 2}});
    stemma::detail::node_match match(3, 3);
    auto from = a.view();
    auto to = b.view();
    const std::vector<std::uint64_t> types(3, 1);
    from.type = to.type = types;
    stemma::detail::match_nodes(from, to, match);
    CHECK(match.to_second == std::vector<id>{0, no_id, 2});
    CHECK(match.changed == std::vector<std::pair<id, id>>{{1, 1}});
}

TEST_CASE("match_nodes: known pairs stay, and quiet operators are left out") {
    scene a({1, 1, 7}, {{2, 0}});
    const scene b({1, 1}, {});
    a.quiet = {0, 0, 1};
    stemma::detail::node_match match(3, 2);
    match.add(0, 1);
    stemma::detail::match_nodes(a.view(), b.view(), match);
    CHECK(match.to_second == std::vector<id>{1, 0, no_id});
}

TEST_CASE(
    "match_nodes: weights lead out of a module, also from its first to its only new operator") {
    // A layer (2) got another one behind it (7) and a module around both.
    scene a({2, 3, 4}, {{0, 1}, {1, 2}});
    scene b({2, 7, 3, 4}, {{0, 1}, {1, 2}, {2, 3}});
    a.weight = {10, 0, 0};
    b.weight = {10, 0, 0, 0};
    a.place = {5, 1, 1};
    b.place = {0, 0, 1, 1};
    CHECK(match(a, b) == std::vector<id>{0, 2, 3});
    b.weight[0] = 11;
    CHECK(match(a, b)[0] == no_id);
}

} // namespace test::compare_detail_node_match
