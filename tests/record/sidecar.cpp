// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/sidecar.hpp>

#include "../catch.hpp"
#include "../tagged_bytes.hpp"
#include "../tagged_fixture.hpp"
#include "../wire_builder.hpp"

#include <stemma/evidence/dialect.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/node_origins.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::record_sidecar {

namespace {

nlohmann::json sidecar_of(test::tagged_model& tagged) {
    stemma::evidence_context<test::tagged_model::operators, stemma::module_tree> context(
        tagged.ops, tagged.modules);
    const auto summary = stemma::summarize(tagged.model, tagged.modules, tagged.found,
                                           stemma::detail::detect_dialects(context));
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    const auto values = stemma::detail::find_value_tags(tagged.model, tagged.modules, tagged.found);
    stemma::string_sink sink;
    stemma::write_sidecar(sink, tagged.model, tagged.modules, tagged.found, counts, values,
                          summary);
    return nlohmann::json::parse(sink.text);
}

} // namespace

TEST_CASE("to_string: every kind of value has a name") {
    using kind = stemma::value_kind;
    for (const auto k : {kind::result, kind::input, kind::formal, kind::initializer,
                         kind::sparse_initializer, kind::undefined}) {
        CHECK_FALSE(stemma::to_string(k).empty());
    }
}

TEST_CASE("write_sidecar: describes every module, node and value") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(name);
        test::tagged_fixture tagged(name);
        const auto read = sidecar_of(tagged);
        CHECK(read["schema"] == "stemma.sidecar/1");
        REQUIRE(read["modules"].size() == tagged.modules.size());
        REQUIRE(read["nodes"].size() == tagged.model.node_count());
        CHECK(read["summary"]["nodes"] == tagged.model.node_count());
        for (stemma::id m = 0; m < tagged.modules.size(); ++m) {
            const auto& module = read["modules"][m];
            CHECK(module["path"] == tagged.modules.path(m));
            CHECK(module["parent"].is_null() == (m == 0));
            CHECK(module["tag"].is_null() != tagged.found.tags.is_selected(m));
            CHECK(module["parameters"].size() == tagged.modules.parameter_count(m));
            CHECK(module["aliases"].size() == tagged.modules.aliases_of(m).size());
        }
        for (stemma::id node = 0; node < tagged.model.node_count(); ++node) {
            const auto& said = read["nodes"][node];
            const auto& attribution = tagged.found.attributions[node];
            CHECK(said["scope_module"] == tagged.modules.path(attribution.module));
            CHECK(said["tag"] == tagged.found.tags.text(attribution.module));
            CHECK(said["provenance"] == std::string(stemma::to_string(attribution.source)));
            CHECK(said["tags"].size() >= 1);
            CHECK(said["conflict"].is_null() == tagged.found.conflicts.of(node).empty());
            const auto graph = tagged.model.graph_path(tagged.model.graph_of(node));
            CHECK(said["graph"] == graph);
            CHECK(said["index"] == tagged.model.position(node));
        }
        for (const auto& value : read["values"]) {
            CHECK(value["tags"].size() >= 1);
            CHECK((value["kind"] == "intermediate") == !value["producer"].is_null());
        }
    }
}

TEST_CASE("write_sidecar: of a very long path of a graph the end is shown") {
    const auto body = [](const char* value, const std::vector<test::message>& more) {
        auto nodes = more;
        nodes.push_back(test::node("Relu", {"x"}, {value}));
        return test::graph(nodes, {}, {value});
    };
    const auto inner =
        test::owner_node("If", {"x"}, {"i"}, {test::graph_attribute("else_branch", body("b", {}))});
    const auto outer = test::owner_node(
        "If", {"x"}, {"y"}, {test::graph_attribute(std::string(2000, 'a'), body("a", {inner}))});
    const auto bytes = test::model(test::graph({outer}, {"x"}, {"y"})).bytes();
    test::tagged_model tagged(bytes);
    const auto read = sidecar_of(tagged);
    std::vector<std::string> graphs;
    for (const auto& node : read["nodes"]) {
        graphs.push_back(node["graph"]);
    }
    std::sort(graphs.begin(), graphs.end());
    const std::string cut = "\xe2\x80\xa6";
    CHECK(graphs == std::vector<std::string>{"", cut, cut, cut + "/0/else_branch"});
}

TEST_CASE("write_sidecar: nodes name very deep modules as the modules do") {
    std::string path = "layer";
    std::string scope = "/layer";
    while (path.size() < 3000) {
        path.append(".layer");
        scope.append("/layer");
    }
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, scope + "/Relu")}, {"x"}, {"y"}))
            .bytes();
    stemma::module_tree_builder builder("Net");
    builder.at_path(path);
    const auto tree = builder.build();
    test::tagged_model tagged(bytes, &tree);
    const std::vector origins{
        tagged.found.origins.add_origin({"", 0, "", static_cast<stemma::id>(tree.size() - 1)})};
    tagged.found.origins.add(stemma::origin_kind::kept, origins);
    const auto read = sidecar_of(tagged);
    const auto& deepest = read["modules"].back()["path"];
    CHECK(deepest.get<std::string>().size() < path.size());
    const auto& node = read["nodes"][0];
    CHECK(node["scope_module"] == deepest);
    CHECK(node["module"] == deepest);
    CHECK(node["origin_modules"][0] == deepest);
}

} // namespace test::record_sidecar
