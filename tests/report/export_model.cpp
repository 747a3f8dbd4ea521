// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/export_model.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../count_of.hpp"
#include "../tagged_bytes.hpp"
#include "../tagged_fixture.hpp"

#include <stemma/query/find_modules.hpp>
#include <stemma/record/detail/value_tags.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace test::report_export_model {

namespace {

template <class Write>
std::string text_of(Write write) {
    stemma::string_sink sink;
    write(sink);
    return sink.text;
}

} // namespace

TEST_CASE("write_graphml: has all nodes, and modules only where graphs nest") {
    const auto opened = test::captured_model("bert_micro");
    const auto nested = text_of([&](auto& sink) { stemma::write_graphml(sink, opened); });
    const auto flat = text_of(
        [&](auto& sink) { stemma::write_graphml(sink, opened, stemma::graphml_form::flat); });
    CHECK(test::count_of(flat, "<node id=\"n") == opened.model().node_count());
    CHECK(test::count_of(nested, "<node id=\"n") >= opened.model().node_count());
    CHECK(test::count_of(flat, "<graph ") == 1);
    CHECK(test::count_of(nested, "<graph ") > 1);
}

TEST_CASE("write_dot: draws one module, with what it reads") {
    const auto opened = test::captured_model("bert_micro");
    stemma::collapse_options fold;
    fold.root = stemma::find_modules(opened, "encoder.layer.0.attention").front();
    const auto dot = text_of([&](auto& sink) { stemma::write_dot(sink, opened, fold); });
    CHECK(dot.starts_with("digraph"));
    CHECK(test::count_of(dot, "{") == test::count_of(dot, "}"));
    CHECK(dot != text_of([&](auto& sink) { stemma::write_dot(sink, opened); }));
}

TEST_CASE("write_model_explorer: is named after the file, and overlays add up") {
    const auto opened = test::captured_model("bert_micro");
    const auto text = text_of([&](auto& sink) { stemma::write_model_explorer(sink, opened); });
    CHECK(nlohmann::json::parse(text).dump().find("model.onnx") != std::string::npos);
    const auto sum = [&](stemma::overlay what) {
        const auto overlay = nlohmann::json::parse(
            text_of([&](auto& sink) { stemma::write_explorer_overlay(sink, opened, what); }));
        std::uint64_t all = 0;
        for (const auto& graph : overlay) {
            for (const auto& [node, result] : graph["results"].items()) {
                all += result["value"].get<std::uint64_t>();
            }
        }
        return all;
    };
    CHECK(sum(stemma::overlay::nodes) == opened.model().node_count());
    CHECK(sum(stemma::overlay::weight_bytes) > sum(stemma::overlay::nodes));
}

TEST_CASE("write_module_dags: the names are those of write_operation_metadata") {
    auto opened = test::captured_model("bert_micro");
    const auto dags = nlohmann::json::parse(
        text_of([&](auto& sink) { stemma::write_module_dags(sink, opened); }));
    const auto operations = nlohmann::json::parse(
        text_of([&](auto& sink) { stemma::write_operation_metadata(sink, opened); }));
    CHECK(!dags.empty());
    for (const auto& [tag, dag] : dags.items()) {
        for (const auto& node : dag["nodes"]) {
            CHECK(operations.contains(node.get<std::string>()));
        }
    }
}

TEST_CASE("write_tree: has the modules that are shown") {
    const auto opened = test::captured_model("bert_micro");
    const auto tree = [&](const std::vector<bool>& shown) {
        return nlohmann::json::parse(
            text_of([&](auto& sink) { stemma::write_tree(sink, opened, shown); }));
    };
    const auto all = tree(stemma::find_branches(opened));
    CHECK(all["schema"] == "stemma.tree/1");
    CHECK(all["modules"].size() == opened.modules().size());
    CHECK(tree(stemma::find_branches(opened, {}, 0))["modules"].size() == 1);
}

TEST_CASE("write_operation_metadata: has type, inputs, outputs and tags of everything",
          "[operation_metadata]") {
    using stemma::id;
    for (const auto* name : {"bert_mlm", "control_flow", "shared_twice", "two_tower"}) {
        CAPTURE(name);
        test::tagged_fixture tagged(name);
        const auto& model = tagged.model;
        const auto values = stemma::detail::find_value_tags(model, tagged.modules, tagged.found);
        const stemma::detail::report_names names(model);
        stemma::string_sink sink;
        stemma::detail::write_operation_metadata(sink, model, tagged.found, values, names);
        const auto read = nlohmann::json::parse(sink.text);
        const auto tags_in = [&](stemma::detail::id_set set) {
            std::vector<std::string> tags;
            values.pool.for_each(set, [&](id m) { tags.push_back(tagged.found.tags.text(m)); });
            return tags;
        };
        std::size_t entries = 0;
        for (id node = 0; node < model.node_count(); ++node, ++entries) {
            REQUIRE(read.contains(names.node(node)));
            const auto& said = read[names.node(node)];
            CHECK(said["op_type"] == std::string(model.op_type(node)));
            REQUIRE(said["inputs"].size() == model.inputs(node).size());
            for (std::size_t i = 0; i < said["inputs"].size(); ++i) {
                const auto value = model.inputs(node)[i];
                CHECK(said["inputs"][i] ==
                      (value == stemma::no_id ? "" : std::string(model.value_name(value))));
            }
            CHECK(said["outputs"].size() == model.output_count(node));
            CHECK(said["tags"] == tags_in(tagged.found.tag_sets[node]));
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.is_initializer(value)) {
                ++entries;
                const auto& said = read[names.initializer(value)];
                CHECK(said["op_type"] == "Initializer");
                CHECK(said["inputs"].empty());
                CHECK(said["outputs"] == std::vector{std::string(model.value_name(value))});
                CHECK(said["tags"] == tags_in(values.sets[value]));
            }
        }
        CHECK(read.size() == entries);
    }
}

} // namespace test::report_export_model
