// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_PROPAGATION_SCENE_HPP
#define STEMMA_BENCH_PROPAGATION_SCENE_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace stemma_bench {

using stemma::id;
using stemma::no_id;

struct bare_operators {
    using graph_type = stemma::operator_graph;

    [[nodiscard]] const graph_type& graph() const { return edges; }

    stemma::operator_graph edges;
};

struct scene {
    bare_operators ops;
    stemma::tree_index tree;
    std::vector<id> evidence;
};

class random_numbers {
public:
    id below(id bound) {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<id>((state_ >> 33U) % bound);
    }

private:
    std::uint64_t state_ = 1;
};

/// A chain of blocks of 80 operators and 16 modules; `fan` readers per operator on average.
inline scene make_scene(id count, id percent, bool shuffled, id fan) {
    random_numbers random;
    std::vector<id> parents{no_id};
    for (id block = 0; block < count / 80 + 1; ++block) {
        const auto first = static_cast<id>(parents.size());
        parents.push_back(0);
        for (id i = 0; i < 15; ++i) {
            parents.push_back(i % 5 == 0 ? first : first + 1 + i / 5 * 5);
        }
    }
    std::vector<id> place(count);
    std::iota(place.begin(), place.end(), id{0});
    if (shuffled) {
        for (id v = count; v-- > 1;) {
            std::swap(place[v], place[random.below(v + 1)]);
        }
    }
    scene result;
    std::vector<stemma::operator_edge> edges;
    result.evidence.assign(count, no_id);
    for (id v = 0; v < count; ++v) {
        for (id slot = 0; slot < (v == 0 ? 0 : fan); ++slot) {
            const auto u = v - 1 - random.below(std::min<id>(v, 40));
            edges.push_back({place[u], place[v], place[u], slot, 0});
        }
        if (random.below(100) < percent) {
            result.evidence[place[v]] = v / 80 * 16 + 1 + v % 80 / 5;
        }
    }
    result.ops.edges = stemma::operator_graph(count, edges);
    result.tree = stemma::tree_index(parents);
    return result;
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_PROPAGATION_SCENE_HPP
