// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/model_explorer.hpp>

#include "../catch.hpp"
#include "../tagged_bytes.hpp"
#include "../tagged_fixture.hpp"
#include "../wire_builder.hpp"

#include <stemma/model/module_tree_builder.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::report_model_explorer {

using nlohmann::json;
using stemma::id;

TEST_CASE("explorer_namespace: names joined by slashes, without special characters",
          "[model_explorer]") {
    stemma::module_tree_builder builder;
    const auto odd = builder.at_path("a.b/c;d");
    const auto tree = builder.build();
    static_cast<void>(odd);
    CHECK(stemma::detail::explorer_namespace(tree, 0).empty());
    CHECK(stemma::detail::explorer_namespace(tree, 1) == "a");
    CHECK(stemma::detail::explorer_namespace(tree, 2) == "a/b\\/c,d");
}

TEST_CASE("write_model_explorer: every node is in the namespace of its module",
          "[model_explorer]") {
    for (const auto* name : {"bert_micro", "control_flow", "two_tower"}) {
        CAPTURE(name);
        const test::tagged_fixture tagged(name);
        const auto& model = tagged.model;
        const stemma::value_descriptions describe(model);
        const auto counts = stemma::collect_statistics(model, tagged.modules, tagged.found);
        stemma::string_sink sink;
        stemma::write_model_explorer(sink, "a model", model, tagged.modules, tagged.found, counts,
                                     describe);
        const auto read = json::parse(sink.text);
        CHECK(read["label"] == "a model");
        REQUIRE(read["graphs"].size() == model.graph_count());
        for (id node = 0; node < model.node_count(); ++node) {
            const auto& graph = read["graphs"][model.graph_of(node)];
            const json* entry = nullptr;
            for (const auto& one : graph["nodes"]) {
                entry = one["id"] == std::to_string(model.position(node)) ? &one : entry;
            }
            REQUIRE(entry != nullptr);
            CHECK((*entry)["label"] == std::string(model.op_type(node)));
            CHECK((*entry)["namespace"] ==
                  stemma::detail::explorer_namespace(tagged.modules,
                                                     tagged.found.attributions[node].module));
            CHECK((*entry)["outputsMetadata"].size() == model.output_count(node));
            std::size_t tensors = 0;
            for (auto value : model.inputs(node)) {
                tensors += value != stemma::no_id && !model.is_initializer(value) ? 1U : 0U;
            }
            CHECK((*entry)["incomingEdges"].size() >= tensors);
        }
    }
}

TEST_CASE("write_model_explorer: a graph has the modules of its nodes and those above as groups",
          "[model_explorer]") {
    // As many bodies as modules.
    constexpr std::size_t count = 2'000;
    std::vector<test::message> nodes;
    std::string before = "x";
    for (std::size_t i = 0; i < count; ++i) {
        const auto number = std::to_string(i);
        const auto body =
            test::graph({test::node("Relu", {before}, {"r" + number}, "/l." + number + "/in/Relu")},
                        {}, {"r" + number});
        nodes.push_back(test::owner_node("If", {"c"}, {"v" + number},
                                         {test::graph_attribute("then_branch", body)},
                                         "/l." + number + "/If"));
        before = "v" + number;
    }
    const auto bytes = test::model(test::graph(nodes, {"x", "c"}, {before})).bytes();
    const test::tagged_model tagged(bytes);
    const stemma::value_descriptions describe(tagged.model);
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    stemma::string_sink sink;
    stemma::write_model_explorer(sink, "ifs", tagged.model, tagged.modules, tagged.found, counts,
                                 describe);
    const auto read = json::parse(sink.text);
    REQUIRE(read["graphs"].size() == count + 1);
    CHECK(read["graphs"][0]["groupNodeAttributes"].size() == count + 2);
    const auto& last = read["graphs"][count];
    CHECK(last["id"] == std::to_string(count - 1) + "/then_branch");
    const auto path = "l/" + std::to_string(count - 1);
    std::vector<std::string> groups;
    for (const auto& group : last["groupNodeAttributes"].items()) {
        groups.push_back(group.key());
    }
    CHECK(groups == std::vector<std::string>{"", "l", path, path + "/in"});
}

} // namespace test::report_model_explorer
