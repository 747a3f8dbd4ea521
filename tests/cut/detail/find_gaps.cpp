// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/find_gaps.hpp>

#include "../../catch.hpp"
#include "../../random_dags.hpp"
#include "../../random_numbers.hpp"

#include <algorithm>
#include <vector>

namespace test::cut_detail_find_gaps {

TEST_CASE("find_gaps: adding exactly the gaps makes a set convex", "[algorithm][find_gaps]") {
    test::random_numbers random(21);
    std::size_t gaps = 0;
    for (int round = 0; round < 2000; ++round) {
        const auto size = 1 + random(14);
        const test::random_dag dag(random, size, size + random(2 * size));
        stemma::detail::vertex_set set(size);
        std::vector<stemma::id> members;
        for (stemma::id v = 0; v < size; ++v) {
            set.apart[v] = random.one_in(6);
            set.inside[v] = random.one_in(2);
            if (set.inside[v]) {
                members.push_back(v);
            }
        }
        const auto reaches = test::reachability_around(dag.edges, set.apart);
        const stemma::detail::order_stretch<stemma::operator_graph> stretch(dag.graph, dag.order,
                                                                            dag.order, members);
        const auto vertices = stemma::detail::find_gaps(dag.graph, set, stretch);
        gaps += vertices.size();
        for (stemma::id v = 0; v < size; ++v) {
            bool from = false;
            bool to = false;
            for (auto m : members) {
                from = from || (!set.apart[m] && reaches[m][v]);
                to = to || (!set.apart[m] && reaches[v][m]);
            }
            const bool between = set.is_outside(v) && from && to;
            CHECK((std::find(vertices.begin(), vertices.end(), v) != vertices.end()) == between);
        }
        for (auto v : vertices) {
            set.inside[v] = true;
        }
        CHECK_FALSE(test::leads_out_and_back(reaches, set.inside, set.apart));
    }
    CHECK(gaps > 0);
}

} // namespace test::cut_detail_find_gaps
