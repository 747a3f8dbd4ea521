// SPDX-License-Identifier: Apache-2.0
// The cost of refining a partition until it is acyclic, compared with a hand-written loop on plain
// arrays of operators in exporter order.
#include "../bare_components.hpp"
#include "../bare_graph.hpp"
#include "../beside.hpp"
#include "../propagation_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/cut/acyclic_partition.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace {

using stemma::acyclic_partition;
using stemma::id;
using stemma::no_id;

/// The scene of a benchmark's arguments: operators per 1000 that belong to an earlier module,
/// operators. Three percent have no part.
struct parted_scene {
    explicit parted_scene(const benchmark::State& state)
        : base(stemma_bench::make_scene(static_cast<id>(state.range(1)), 100, false, 2))
        , bare(base.ops.edges)
        , order(bare.count) {
        std::iota(order.begin(), order.end(), id{0});
        stemma_bench::random_numbers random;
        for (id v = 0; v < bare.count; ++v) {
            const bool moved = random.below(1000) < static_cast<id>(state.range(0));
            const auto from = moved ? std::min(v + random.below(20), bare.count - 1) : v;
            part.push_back(random.below(100) < 3 ? no_id : base.evidence[from]);
        }
    }

    stemma_bench::scene base;
    stemma_bench::bare_graph bare;
    std::vector<id> order;
    std::vector<id> part;
};

/// The parts that read from each part, grouped by the latter: once per edge.
struct part_readers {
    part_readers(const stemma_bench::bare_graph& graph, const std::vector<id>& part,
                 std::size_t count)
        : first(count + 2) {
        const auto for_each = [&](auto f) {
            for (id v = 0; v < graph.count; ++v) {
                if (part[v] == no_id) {
                    continue;
                }
                for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
                    const auto from = part[graph.producer[at]];
                    if (from != part[v] && from != no_id) {
                        f(from, part[v]);
                    }
                }
            }
        };
        for_each([&](id from, id) { ++first[from + 2]; });
        std::partial_sum(first.begin(), first.end(), first.begin());
        reader.resize(first.back());
        for_each([&](id from, id to) { reader[first[from + 1]++] = to; });
        first.pop_back();
    }

    std::vector<id> first; ///< by part, plus end
    std::vector<id> reader;
};

/// Returns: the position of each piece in a valid run order, lowest numbers first.
std::vector<id> places(const part_readers& readers) {
    std::vector<id> waiting(readers.first.size() - 1);
    for (const auto to : readers.reader) {
        ++waiting[to];
    }
    std::priority_queue<id, std::vector<id>, std::greater<>> ready;
    for (id p = 0; p < waiting.size(); ++p) {
        if (waiting[p] == 0) {
            ready.push(p);
        }
    }
    std::vector<id> place(waiting.size(), no_id);
    for (id next = 0; !ready.empty(); ++next) {
        const auto p = ready.top();
        ready.pop();
        place[p] = next;
        for (auto at = readers.first[p]; at < readers.first[p + 1]; ++at) {
            if (--waiting[readers.reader[at]] == 0) {
                ready.push(readers.reader[at]);
            }
        }
    }
    return place;
}

acyclic_partition divide_by_hand(const stemma_bench::bare_graph& graph, const std::vector<id>& part,
                                 std::size_t part_count) {
    const part_readers readers(graph, part, part_count);
    const auto circle = stemma_bench::components_by_hand(readers.first, readers.reader);
    std::vector<id> level(graph.count);
    std::vector<id> whole(part_count, no_id); // by part: the piece of level 0
    std::map<std::pair<id, id>, id> divided;  // part and level: piece
    std::vector<acyclic_partition::piece> pieces;
    acyclic_partition result;
    result.piece_of.assign(graph.count, no_id);
    for (id v = 0; v < graph.count; ++v) {
        const auto p = part[v];
        if (p == no_id) {
            continue;
        }
        id highest = 0;
        for (auto at = graph.in[v]; at < graph.in[v + 1]; ++at) {
            const auto u = graph.producer[at];
            if (part[u] != no_id && circle[part[u]] == circle[p]) {
                highest = std::max(highest, level[u] + (part[u] == p ? 0U : 1U));
            }
        }
        level[v] = highest;
        auto& piece =
            highest == 0 ? whole[p] : divided.try_emplace({p, highest}, no_id).first->second;
        if (piece == no_id) {
            piece = static_cast<id>(pieces.size());
            pieces.push_back({p, highest});
        }
        result.piece_of[v] = piece;
    }
    const auto place = places(part_readers(graph, result.piece_of, pieces.size()));
    result.pieces.resize(pieces.size());
    for (std::size_t p = 0; p < pieces.size(); ++p) {
        result.pieces[place[p]] = pieces[p];
    }
    for (auto& p : result.piece_of) {
        p = p == no_id ? no_id : place[p];
    }
    return result;
}

/// Comparable partitions.
struct comparable {
    acyclic_partition made;

    friend bool operator==(const comparable& a, const comparable& b) {
        return a.made.piece_of == b.made.piece_of &&
               std::equal(a.made.pieces.begin(), a.made.pieces.end(), b.made.pieces.begin(),
                          b.made.pieces.end(), [](const auto& x, const auto& y) {
                              return x.part == y.part && x.level == y.level;
                          });
    }
};

void make_acyclic(benchmark::State& state) {
    const parted_scene scene(state);
    const auto count = scene.base.tree.size();
    stemma_bench::measure_beside(
        state,
        [&] {
            return comparable{stemma::detail::make_acyclic(scene.base.ops.edges,
                                                           std::span<const id>(scene.part), count,
                                                           std::span<const id>(scene.order))};
        },
        [&] { return comparable{divide_by_hand(scene.bare, scene.part, count)}; });
}

void scenes(benchmark::internal::Benchmark* bench) {
    for (const int moved : {0, 10, 200}) {
        for (const int size : {1'000, 100'000, 1'000'000}) {
            bench->Args({moved, size});
        }
    }
    stemma_bench::in_turns(bench);
}

BENCHMARK(make_acyclic)->Apply(scenes);

} // namespace

BENCHMARK_MAIN();
