// SPDX-License-Identifier: Apache-2.0
// The cost of completing the calls of a module's operators, compared with a hand-written loop on
// plain arrays.
#include "../../bare_graph.hpp"
#include "../../beside.hpp"
#include "../../propagation_scene.hpp"

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/detail/complete_calls.hpp>
#include <stemma/model/operator_graph.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace {

using stemma::id;
using stemma::no_id;
using member = stemma::detail::call_member<id>;

/// Comparable members.
struct completed {
    std::vector<member> members;

    friend bool operator==(const completed& a, const completed& b) {
        return std::equal(a.members.begin(), a.members.end(), b.members.begin(), b.members.end(),
                          [](const member& x, const member& y) {
                              return x.vertex == y.vertex && x.call == y.call;
                          });
    }
};

/// A module of so many operators that runs twice, in a graph of twice as many; the call is unknown
/// for one in ten of its operators.
struct called_scene {
    called_scene(id count, bool shuffled)
        : base(stemma_bench::make_scene(2 * count, 0, false, 2))
        , bare(base.ops.edges)
        , rank(2 * count) {
        stemma_bench::random_numbers random;
        std::iota(rank.begin(), rank.end(), id{0});
        for (id i = 0; i < count; ++i) {
            const auto v = i < count / 2 ? i : i + count / 2;
            members.push_back({v, random.below(10) == 0 ? no_id : id{i < count / 2 ? 0U : 1U}});
        }
        for (auto i = count; shuffled && i-- > 1;) {
            std::swap(members[i], members[random.below(i + 1)]);
        }
    }

    stemma_bench::scene base;
    stemma_bench::bare_graph bare;
    std::vector<id> rank;
    std::vector<member> members;
};

void complete_by_hand(const stemma_bench::bare_graph& graph, const std::vector<id>& rank,
                      std::vector<member>& members) {
    const auto stands_before = [&](const member& a, const member& b) {
        return rank[a.vertex] < rank[b.vertex];
    };
    if (!std::is_sorted(members.begin(), members.end(), stands_before)) {
        std::sort(members.begin(), members.end(), stands_before);
    }
    stemma::detail::flat_index places(members.size());
    const auto hash = [](id v) { return stemma::detail::hash_mix(v, 0); };
    for (id i = 0; i < members.size(); ++i) {
        places.insert(hash(members[i].vertex), i, [](id) { return false; });
    }
    const auto take = [&](member& m, id neighbour) {
        const auto at =
            places.find(hash(neighbour), [&](id i) { return members[i].vertex == neighbour; });
        if (at != no_id) {
            m.call = members[at].call;
        }
    };
    for (auto& m : members) {
        for (auto at = graph.in [m.vertex]; at < graph.in[m.vertex + 1] && m.call == no_id; ++at) {
            take(m, graph.producer[at]);
        }
    }
    for (auto m = members.rbegin(); m != members.rend(); ++m) {
        for (auto at = graph.out[m->vertex]; at < graph.out[m->vertex + 1] && m->call == no_id;
             ++at) {
            take(*m, graph.reader[at]);
        }
    }
    for (auto& m : members) {
        m.call = m.call == no_id ? 0 : m.call;
    }
}

void complete_calls(benchmark::State& state) {
    const called_scene scene(static_cast<id>(state.range(1)), state.range(0) != 0);
    stemma_bench::measure_beside(
        state,
        [&] {
            auto members = scene.members;
            stemma::detail::complete_calls(scene.base.ops.edges, std::span<const id>(scene.rank),
                                           members);
            return completed{std::move(members)};
        },
        [&] {
            auto members = scene.members;
            complete_by_hand(scene.bare, scene.rank, members);
            return completed{std::move(members)};
        });
}

void sizes(benchmark::internal::Benchmark* bench) {
    for (const int shuffled : {0, 1}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({shuffled, size});
        }
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(complete_calls)->Apply(sizes);

} // namespace

BENCHMARK_MAIN();
