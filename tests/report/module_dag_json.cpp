// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/module_dag_json.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::report_module_dag_json {

namespace {

using nlohmann::json;
using stemma::id;
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

TEST_CASE("write_module_dags: every module has its operators and its descendants'",
          "[module_dag]") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(name);
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        const auto tree = test::read_capture(test::fixture(std::string(name) + "/modules.json"));
        const test::tagged_model tagged(bytes, &tree);
        const auto& graph = tagged.ops.graph();
        for (const bool multi : {false, true}) {
            const auto subtree = dags_of(tagged, {stemma::dag_level::subtree, multi});
            const auto direct = dags_of(tagged, {stemma::dag_level::direct, multi});
            std::size_t selected = 0;
            for (id m = 0; m < tree.size(); ++m) {
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
                    bool below = tree.index().is_ancestor(m, tagged.found.selected(v));
                    if (multi) {
                        here = below = false;
                        tagged.found.pool.for_each(tagged.found.tag_sets[v], [&](id s) {
                            here = here || s == m;
                            below = below || tree.index().is_ancestor(m, s);
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

} // namespace test::report_module_dag_json
