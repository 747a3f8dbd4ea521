// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/module_boundaries.hpp>

#include "../catch.hpp"
#include "../random_dags.hpp"
#include "../random_numbers.hpp"

#include <cstddef>
#include <set>
#include <span>
#include <vector>

namespace test::cut_module_boundaries {

namespace {

using stemma::id;

} // namespace

TEST_CASE("find_module_boundaries: agrees with find_boundary for each module",
          "[algorithm][module_boundaries]") {
    test::random_numbers random(9);
    for (int round = 0; round < 1000; ++round) {
        const auto size = 1 + random(16);
        const test::random_dag dag(random, size, random(3 * size));
        const auto parents = test::random_parents(random, 1 + random(7), 3);
        const stemma::tree_index modules(parents);
        std::vector<id> module(size);
        std::vector<bool> apart(size);
        std::vector<std::vector<id>> leaving(size);
        for (id v = 0; v < size; ++v) {
            module[v] = static_cast<id>(random(parents.size()));
            apart[v] = random.one_in(6);
            if (random.one_in(5)) {
                leaving[v].push_back(v);
            }
        }
        const auto boundaries = stemma::find_module_boundaries(
            dag.graph, modules, std::span<const id>(module), apart,
            [&](id v) -> const std::vector<id>& { return leaving[v]; });
        for (id m = 0; m < parents.size(); ++m) {
            std::set<id> in;
            std::set<id> out;
            const auto inside = [&](std::size_t v) {
                return module[v] >= m && module[v] < modules.end(m);
            };
            for (auto [from, to] : dag.edges.edges) {
                if (apart[from] || apart[to]) {
                    continue;
                }
                if (!inside(from) && inside(to)) {
                    in.insert(static_cast<id>(from));
                }
                if (inside(from) && !inside(to)) {
                    out.insert(static_cast<id>(from));
                }
            }
            for (id v = 0; v < size; ++v) {
                if (inside(v) && !apart[v] && !leaving[v].empty()) {
                    out.insert(v);
                }
            }
            const auto as_set = [&](const auto& column) {
                const auto values = column[m];
                CHECK(std::set<id>(values.begin(), values.end()).size() == values.size());
                return std::set<id>(values.begin(), values.end());
            };
            CHECK(as_set(boundaries.inputs) == in);
            CHECK(as_set(boundaries.outputs) == out);
        }
    }
}

} // namespace test::cut_module_boundaries
