// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/acyclic_partition.hpp>

#include "../catch.hpp"
#include "../random_dags.hpp"
#include "../random_numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace test::cut_acyclic_partition {

namespace {

using stemma::id;
using stemma::no_id;

struct scene {
    test::random_dag dag;
    std::vector<id> part;

    explicit scene(test::random_numbers& random)
        : dag(random, 1 + random(20), random(50))
        , part(test::random_parts(random, dag.order.size(), 5)) {
        if (random.one_in(3)) {
            part[random(part.size())] = no_id;
        }
    }

    [[nodiscard]] stemma::acyclic_partition make_acyclic() const {
        return stemma::detail::make_acyclic(dag.graph, std::span<const id>(part), 5,
                                            std::span<const id>(dag.order));
    }

    /// Each piece is in one part, and none reads from a later one.
    void check(const stemma::acyclic_partition& partition) const {
        std::set<id> used;
        for (id v = 0; v < part.size(); ++v) {
            const auto p = partition.piece_of[v];
            REQUIRE((p == no_id) == (part[v] == no_id));
            if (p != no_id) {
                REQUIRE(p < partition.pieces.size());
                CHECK(partition.pieces[p].part == part[v]);
                used.insert(p);
            }
        }
        CHECK(used.size() == partition.pieces.size());
        for (auto [from, to] : dag.edges.edges) {
            if (part[from] != no_id && part[to] != no_id) {
                CHECK(partition.piece_of[from] <= partition.piece_of[to]);
            }
        }
    }
};

template <class Function>
void for_random_scenes(Function f) {
    test::random_numbers random(11);
    for (int round = 0; round < 2000; ++round) {
        f(scene(random));
    }
}

/// Returns: 1 to `most` costs, many of them 0 and a few large.
std::vector<std::uint64_t> some_costs(test::random_numbers& random, std::size_t most) {
    std::vector<std::uint64_t> costs(1 + random(most));
    for (auto& cost : costs) {
        cost = random.one_in(3) ? 0 : random(random.one_in(5) ? 1000 : 10);
    }
    return costs;
}

/// Returns: the least cost of the most expensive of `parts` ranges, by trying all.
std::uint64_t least_maximum(std::span<const std::uint64_t> costs, std::size_t parts) {
    if (parts == 1) {
        return std::accumulate(costs.begin(), costs.end(), std::uint64_t{0});
    }
    auto least = ~std::uint64_t{0};
    for (std::size_t last = parts - 1; last < costs.size(); ++last) {
        const auto before = least_maximum(costs.first(last), parts - 1);
        least = std::min(least, std::max(before, least_maximum(costs.subspan(last), 1)));
    }
    return least;
}

} // namespace

TEST_CASE("make_acyclic: pieces can run in sequence", "[algorithm][partition]") {
    for_random_scenes([](const scene& s) { s.check(s.make_acyclic()); });
}

TEST_CASE("make_acyclic: parts on no cycle stay whole", "[algorithm][partition]") {
    for_random_scenes([](const scene& s) {
        test::edge_list between{5, {}};
        for (auto [from, to] : s.dag.edges.edges) {
            if (s.part[from] != s.part[to] && s.part[from] != no_id && s.part[to] != no_id) {
                between.edges.emplace_back(s.part[from], s.part[to]);
            }
        }
        const auto reaches = test::reachability(between);
        const auto partition = s.make_acyclic();
        for (id p = 0; p < 5; ++p) {
            const auto pieces = std::count_if(partition.pieces.begin(), partition.pieces.end(),
                                              [&](const auto& piece) { return piece.part == p; });
            const bool exists = std::find(s.part.begin(), s.part.end(), p) != s.part.end();
            if (!reaches[p][p]) {
                CHECK(pieces == (exists ? 1 : 0));
            } else {
                CHECK(pieces >= 1);
            }
        }
    });
}

TEST_CASE("join_levels: preserves the guarantees of make_acyclic with fewer pieces",
          "[algorithm][partition]") {
    std::size_t joined = 0;
    for_random_scenes([&](const scene& s) {
        auto partition = s.make_acyclic();
        const auto before = partition.pieces.size();
        stemma::join_levels(s.dag.graph, partition);
        s.check(partition);
        CHECK(partition.pieces.size() <= before);
        joined += before - partition.pieces.size();
    });
    CHECK(joined > 0);
}

TEST_CASE("divide_evenly: the most expensive range costs as little as possible",
          "[algorithm][partition]") {
    test::random_numbers random(13);
    for (int round = 0; round < 2000; ++round) {
        const auto costs = some_costs(random, 9);
        const auto parts = 1 + random(std::min<std::size_t>(costs.size(), 4));
        const auto begins = stemma::divide_evenly(std::span<const std::uint64_t>(costs), parts,
                                                  [&](std::size_t i) { return costs[i] % 3; });
        std::uint64_t most = 0;
        for (std::size_t p = 0; p < parts; ++p) {
            const auto end = p + 1 < parts ? begins[p + 1] : costs.size();
            const std::span<const std::uint64_t> range(costs.data() + begins[p], end - begins[p]);
            most = std::max(most, least_maximum(range, 1));
        }
        CHECK(most == least_maximum(costs, parts));
    }
}

TEST_CASE(
    "divide_evenly: exactly as many ranges as requested, none above the mean plus one element",
    "[algorithm][partition]") {
    test::random_numbers random(12);
    for (int round = 0; round < 3000; ++round) {
        const auto costs = some_costs(random, 30);
        const auto parts = 1 + random(costs.size());
        const auto begins = stemma::divide_evenly(std::span<const std::uint64_t>(costs), parts,
                                                  [&](std::size_t i) { return costs[i] % 3; });
        REQUIRE(begins.size() == parts);
        REQUIRE(begins.front() == 0);
        const auto total = std::accumulate(costs.begin(), costs.end(), std::uint64_t{0});
        const auto heaviest = *std::max_element(costs.begin(), costs.end());
        for (std::size_t p = 0; p < parts; ++p) {
            const auto end = p + 1 < parts ? begins[p + 1] : costs.size();
            REQUIRE(begins[p] < end);
            const auto cost =
                std::accumulate(costs.begin() + static_cast<std::ptrdiff_t>(begins[p]),
                                costs.begin() + static_cast<std::ptrdiff_t>(end), std::uint64_t{0});
            CHECK(cost * parts <= total + heaviest * parts);
        }
    }
}

TEST_CASE("divide_evenly: among equally good places, the first with the least penalty",
          "[algorithm][partition]") {
    const std::vector<std::uint64_t> costs{4, 0, 0, 0, 4};
    const auto divided = [&](std::size_t best) {
        return stemma::divide_evenly(std::span<const std::uint64_t>(costs), 2,
                                     [&](std::size_t i) { return i == best ? 0 : 1; })[1];
    };
    for (std::size_t best = 1; best <= 4; ++best) {
        CHECK(divided(best) == best);
    }
}

TEST_CASE("quotient_graph: one edge between two parts iff some vertices have one",
          "[algorithm][quotient_graph]") {
    test::random_numbers random(8);
    for (int round = 0; round < 500; ++round) {
        const test::random_dag dag(random, 1 + random(20), random(40));
        auto part = test::random_parts(random, dag.order.size(), 4);
        if (random.one_in(2)) {
            part[random(part.size())] = no_id;
        }
        std::set<std::pair<id, id>> expected;
        for (auto [from, to] : dag.edges.edges) {
            if (part[from] != part[to] && part[from] != no_id && part[to] != no_id) {
                expected.emplace(part[from], part[to]);
            }
        }
        const auto graph = stemma::detail::quotient_graph(dag.graph, std::span<const id>(part), 4);
        CHECK(num_vertices(graph) == 4);
        CHECK(num_edges(graph) == expected.size());
        for (auto [it, last] = edges(graph); it != last; ++it) {
            CHECK(expected.count({static_cast<id>(source(*it, graph)),
                                  static_cast<id>(target(*it, graph))}) == 1);
        }
    }
}

} // namespace test::cut_acyclic_partition
