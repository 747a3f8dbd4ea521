// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/module_dag.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../random_numbers.hpp"
#include "../tagged_bytes.hpp"
#include "../tagged_fixture.hpp"

#include <stemma/model/operator_graph.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::report_module_dag {

namespace {

using nlohmann::json;
using stemma::id;

// Modules 0 to 5: 1 and 4 below 0, 2 and 3 below 1, 5 below 4.
const stemma::tree_index tree({stemma::no_id, 0, 1, 1, 0, 4});

using edge_set = std::set<std::pair<std::string, std::string>>;

json dags_of(const test::tagged_model& tagged, const stemma::dag_options& options) {
    stemma::string_sink sink;
    stemma::write_module_dags(
        sink, tagged.ops, tagged.modules.index(), tagged.found,
        [](id v) { return std::to_string(v); }, options);
    return json::parse(sink.text);
}

edge_set edges_in(const json& dag) {
    edge_set edges;
    for (const auto& edge : dag["edges"]) {
        edges.emplace(edge[0], edge[1]);
    }
    return edges;
}

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

TEST_CASE("write_module_dags: every module has its operators and its descendants'",
          "[module_dag]") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(name);
        const test::tagged_fixture tagged(name);
        const auto& graph = tagged.ops.graph();
        for (const bool multi : {false, true}) {
            const auto subtree = dags_of(tagged, {stemma::dag_level::subtree, multi});
            const auto direct = dags_of(tagged, {stemma::dag_level::direct, multi});
            std::size_t selected = 0;
            for (id m = 0; m < tagged.modules.size(); ++m) {
                if (!tagged.found.tags.is_selected(m)) {
                    continue;
                }
                ++selected;
                const auto tag = tagged.found.tags.text(m);
                REQUIRE(subtree.contains(tag));
                REQUIRE(direct.contains(tag));
                json own = json::array();
                json all = json::array();
                edge_set wanted;
                std::vector<bool> inside(tagged.model.node_count());
                for (id v = 0; v < tagged.model.node_count(); ++v) {
                    bool here = tagged.found.selected(v) == m;
                    bool below = tagged.modules.index().is_ancestor(m, tagged.found.selected(v));
                    if (multi) {
                        here = below = false;
                        tagged.found.pool.for_each(tagged.found.tag_sets[v], [&](id s) {
                            here = here || s == m;
                            below = below || tagged.modules.index().is_ancestor(m, s);
                        });
                    }
                    const bool shown = tagged.model.op_type(v) != "Constant";
                    if (here && shown) {
                        own.push_back(std::to_string(v));
                    }
                    if (below && shown) {
                        all.push_back(std::to_string(v));
                        inside[v] = true;
                    }
                }
                for (auto [it, last] = edges(graph); it != last; ++it) {
                    if (inside[(*it).source] && inside[(*it).target]) {
                        wanted.emplace(std::to_string((*it).source), std::to_string((*it).target));
                    }
                }
                CHECK(direct[tag]["nodes"] == own);
                CHECK(subtree[tag]["nodes"] == all);
                CHECK(edges_in(subtree[tag]) == wanted);
                CHECK(subtree[tag]["edges"].size() == wanted.size());
            }
            CHECK(subtree.size() == selected);
            CHECK(direct.size() == selected);
        }
    }
}

TEST_CASE("write_module_dags: a policy selects what is shown", "[module_dag]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model tagged(bytes);
    stemma::string_sink sink;
    stemma::write_module_dags(
        sink, tagged.ops, tagged.modules.index(), tagged.found, [](id v) { return v; }, {},
        stemma::show_all{});
    CHECK(json::parse(sink.text)[tagged.found.tags.text(0)]["nodes"].size() ==
          tagged.model.node_count());
}

TEST_CASE("write_module_dags: a function can select what is shown", "[module_dag]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model tagged(bytes);
    const auto nodes_shown = [&](const auto& shows) {
        stemma::string_sink sink;
        stemma::write_module_dags(
            sink, tagged.ops, tagged.modules.index(), tagged.found,
            [](id v) { return std::to_string(v); }, {}, shows);
        std::size_t nodes = 0;
        for (const auto& dag : json::parse(sink.text)) {
            nodes += dag["nodes"].size();
        }
        return nodes;
    };
    CHECK(nodes_shown([](auto&&...) { return false; }) == 0);
    CHECK(nodes_shown([](auto&&...) { return true; }) == nodes_shown(stemma::show_all{}));
}

} // namespace test::report_module_dag
