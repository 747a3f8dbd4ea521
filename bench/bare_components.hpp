// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_BARE_COMPONENTS_HPP
#define STEMMA_BENCH_BARE_COMPONENTS_HPP

#include <stemma/core/id.hpp>

#include <algorithm>
#include <vector>

namespace stemma_bench {

using stemma::id;
using stemma::no_id;

/// Tarjan's algorithm, hand-written: the readers of v are `reader[first(v)]` up to, excluding,
/// `reader[first(v + 1)]`.
inline std::vector<id> components_by_hand(const std::vector<id>& first,
                                          const std::vector<id>& reader) {
    struct frame {
        id v;
        id at; ///< the next reader
    };
    const auto count = static_cast<id>(first.size() - 1);
    std::vector<id> component(count, no_id);
    std::vector<id> number(count, no_id);
    std::vector<id> lowest(count, no_id);
    std::vector<id> open;
    std::vector<frame> way;
    id next = 0;
    id components = 0;
    const auto enter = [&](id v) {
        number[v] = lowest[v] = next++;
        open.push_back(v);
        way.push_back({v, first[v]});
    };
    for (id root = 0; root < count; ++root) {
        if (number[root] == no_id) {
            enter(root);
        }
        while (!way.empty()) {
            auto& [v, at] = way.back();
            if (at < first[v + 1]) {
                const auto u = reader[at++];
                if (number[u] == no_id) {
                    enter(u);
                } else if (component[u] == no_id) {
                    lowest[v] = std::min(lowest[v], number[u]);
                }
                continue;
            }
            const auto done = v;
            way.pop_back();
            if (!way.empty()) {
                auto& above = lowest[way.back().v];
                above = std::min(above, lowest[done]);
            }
            if (lowest[done] == number[done]) {
                id u = no_id;
                do {
                    u = open.back();
                    open.pop_back();
                    component[u] = components;
                } while (u != done);
                ++components;
            }
        }
    }
    return component;
}

} // namespace stemma_bench

#endif // STEMMA_BENCH_BARE_COMPONENTS_HPP
