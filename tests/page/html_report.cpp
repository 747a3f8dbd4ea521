// SPDX-License-Identifier: Apache-2.0
#include "../catch.hpp"
#include "../count_of.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma_report/html_report.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace test::page_html_report {

namespace {

using nlohmann::json;
using stemma::id;

std::string report_of(const stemma::attributed_model& opened) {
    stemma::string_sink sink;
    stemma_report::write_html_report(sink, opened);
    return std::move(sink.text);
}

json data_in(const std::string& page) {
    constexpr std::string_view opening = "id=\"data\">";
    const auto begin = page.find(opening) + opening.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

} // namespace

TEST_CASE("write_html_report: the page contains all modules, values and nodes") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(name);
        const auto folder = test::fixture(name);
        stemma::attributed_model opened(folder + "/model.onnx",
                                        {.captures = stemma::captures({folder + "/modules.json"})});
        const auto data = data_in(report_of(opened));
        CHECK(data["modules"].size() == opened.modules().size());
        CHECK(data["values"].size() == opened.model().value_count());
        REQUIRE(data["nodes"].size() == opened.model().node_count());
        const auto& graph = opened.operators().graph();
        for (id node = 0; node < opened.model().node_count(); ++node) {
            const auto& row = data["nodes"][node];
            CHECK(row[2] == opened.tags().attributions[node].module);
            // The inputs in the row determine all edges of the graph.
            for (auto [it, last] = in_edges(node, graph); it != last; ++it) {
                const auto value = get(stemma::value_index, graph, *it);
                bool shown = false;
                for (const auto* list : {&row[5], &row[7]}) {
                    for (const auto& read : *list) {
                        shown = shown || read == value;
                    }
                }
                CHECK(shown);
            }
        }
    }
}

TEST_CASE("write_html_report: texts of a model stay texts") {
    const std::string name = "</script><script>alert(1)</script>";
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, name)}, {"x"}, {"y"})).bytes();
    auto opened = test::in_memory(bytes, name);
    const auto page = report_of(opened);
    CHECK(page.find(name) == page.npos);
    CHECK(page.find("<script>alert") == page.npos);
    CHECK(data_in(page)["nodes"][0][0] == name);
}

TEST_CASE("write_html_report: overlays are rows of modules and nodes, and texts stay texts") {
    const auto folder = test::fixture("mlp");
    stemma::attributed_model opened(folder + "/model.onnx",
                                    {.captures = stemma::captures({folder + "/modules.json"})});
    const std::string text = "</script>";
    const std::vector<stemma::overlay_table> overlays{
        {text,
         {{text, "us", stemma::column_direction::lower, true}, {"b", "", {}, false}},
         {{1, {0.5, text}}},
         {{2, {std::monostate(), 3.0}}},
         4}};
    stemma::string_sink sink;
    stemma_report::write_html_report(sink, opened, overlays);
    CHECK(count_of(sink.text, "</script>") == 2);
    const auto written = data_in(sink.text)["overlays"];
    REQUIRE(written.size() == 1);
    CHECK(written[0]["title"] == text);
    CHECK(written[0]["unmatched"] == 4);
    CHECK(written[0]["columns"][0] == json::array({text, "us", 1, true}));
    CHECK(written[0]["modules"] == json::array({json::array({1, 0.5, text})}));
    CHECK(written[0]["nodes"] == json::array({json::array({2, nullptr, 3.0})}));
    CHECK(data_in(report_of(opened))["overlays"].empty());
}

TEST_CASE("write_html_report: has graphs, their owners, and shape arithmetic") {
    const auto folder = test::fixture("control_flow");
    stemma::attributed_model opened(folder + "/model.onnx", {});
    const auto data = data_in(report_of(opened));
    const auto& model = opened.model();
    REQUIRE(data["graphs"].size() == model.graph_count());
    CHECK(data["graphs"][0][0] == -1);
    for (id g = 1; g < model.graph_count(); ++g) {
        const auto owner = model.graph(g).owner;
        CHECK(data["graphs"][g][0] == owner);
        CHECK((model.op_type(owner) == "If" || model.op_type(owner) == "Loop"));
    }
    for (id node = 0; node < model.node_count(); ++node) {
        CHECK(data["nodes"][node][10] == model.graph_of(node));
    }
    CHECK(data["callees"].size() == model.operator_count());
    CHECK(data["quiet"].is_array());
}

TEST_CASE("write_html_report: style and script are in the page, which loads no file") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"y"})})).bytes();
    auto opened = test::in_memory(bytes, "model");
    const auto page = report_of(opened);
    CHECK(page.starts_with("<!DOCTYPE html>\n<html"));
    CHECK(page.ends_with("</html>\n"));
    CHECK(page.find("<title>model</title>\n<style>\n:root") != page.npos);
    CHECK(count_of(page, "</script>") == 2);
    for (const auto* none : {"{{title}}", "{{data}}", "src=", "<link", "SPDX"}) {
        CAPTURE(none);
        CHECK(page.find(none) == page.npos);
    }
}

} // namespace test::page_html_report
