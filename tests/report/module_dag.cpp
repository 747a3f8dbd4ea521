// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/module_dag.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <stemma/model/operator_graph.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <set>
#include <utility>
#include <vector>

namespace test::report_module_dag {

namespace {

using stemma::id;

// Modules 0 to 5: 1 and 4 below 0, 2 and 3 below 1, 5 below 4.
const stemma::tree_index tree({stemma::no_id, 0, 1, 1, 0, 4});

} // namespace

TEST_CASE("module_dags: agree with the definition on random graphs", "[module_dag]") {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        test::random_numbers random(seed);
        constexpr id count = 40;
        std::vector<std::set<id>> modules(count);
        std::vector<stemma::operator_edge> edges;
        for (id v = 0; v < count; ++v) {
            for (auto n = random(4); n-- > 0;) {
                modules[v].insert(static_cast<id>(random(tree.size())));
            }
            for (auto n = v == 0 ? 0 : random(4); n-- > 0;) {
                edges.push_back({static_cast<id>(random(v)), v, stemma::no_id, 0, 0});
            }
        }
        const stemma::operator_graph graph(count, edges);
        stemma::detail::module_dags dags(graph, tree, [&](id v, auto take) {
            for (auto m : modules[v]) {
                take(m);
            }
        });
        for (id m = 0; m < tree.size(); ++m) {
            for (const auto level : {stemma::dag_level::subtree, stemma::dag_level::direct}) {
                std::set<id> inside;
                for (id v = 0; v < count; ++v) {
                    for (auto above : modules[v]) {
                        const bool below = tree.is_ancestor(m, above);
                        if (level == stemma::dag_level::subtree ? below : above == m) {
                            inside.insert(v);
                        }
                    }
                }
                std::set<std::pair<id, id>> wanted;
                for (const auto& e : edges) {
                    if (inside.count(e.source) > 0 && inside.count(e.target) > 0) {
                        wanted.emplace(e.source, e.target);
                    }
                }
                const auto& dag = dags.of(m, level);
                CHECK(dag.operators == std::vector<id>(inside.begin(), inside.end()));
                CHECK(dag.edges == std::vector<std::pair<id, id>>(wanted.begin(), wanted.end()));
            }
        }
    }
}

TEST_CASE("module_dags: take any Boost graph, whatever its vertices are", "[module_dag]") {
    using graph_type = boost::adjacency_list<boost::vecS, boost::listS, boost::bidirectionalS,
                                             boost::property<boost::vertex_index_t, std::size_t>>;
    graph_type graph;
    const auto a = add_vertex(0, graph);
    const auto b = add_vertex(1, graph);
    const auto c = add_vertex(2, graph);
    add_edge(a, b, graph);
    add_edge(a, b, graph);
    add_edge(b, c, graph);
    stemma::detail::module_dags dags(graph, tree, [](id v, auto take) { take(v == 2 ? 4 : 2); });
    CHECK(dags.of(1).edges == std::vector<std::pair<id, id>>{{0, 1}});
    CHECK(dags.of(0).edges == std::vector<std::pair<id, id>>{{0, 1}, {1, 2}});
    CHECK(dags.of(0, stemma::dag_level::direct).operators.empty());
    CHECK(dags.of(5).operators.empty());
}

} // namespace test::report_module_dag
