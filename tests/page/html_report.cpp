// SPDX-License-Identifier: Apache-2.0
#include "../catch.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/file.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma_report/html_report.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace test::page_html_report {

namespace {

using nlohmann::json;
using stemma::id;

std::string report_of(stemma::attributed_model& opened) {
    stemma::string_sink sink;
    stemma_report::write_html_report(sink, opened);
    return std::move(sink.text);
}

json data_in(const std::string& page) {
    constexpr std::string_view opening = "id=\"data\">";
    const auto begin = page.find(opening) + opening.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::size_t count_of(const std::string& text, std::string_view part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

} // namespace

TEST_CASE("write_html_report: the page holds all modules, values and nodes") {
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
            // All edges of the graph can be told from what the row says is read.
            for (auto [it, last] = in_edges(node, graph); it != last; ++it) {
                const auto value = get(stemma::value_index, graph, *it);
                bool told = false;
                for (const auto* list : {&row[5], &row[7]}) {
                    for (const auto& read : *list) {
                        told = told || read == value;
                    }
                }
                CHECK(told);
            }
        }
    }
}

TEST_CASE("write_html_report: texts of a model stay texts") {
    const std::string name = "</script><script>alert(1)</script>";
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, name)}, {"x"}, {"y"})).bytes();
    stemma::attributed_model opened(stemma::mapped_file::holding(bytes, name), {});
    const auto page = report_of(opened);
    CHECK(page.find(name) == page.npos);
    CHECK(page.find("<script>alert") == page.npos);
    CHECK(data_in(page)["nodes"][0][0] == name);
}

TEST_CASE("write_html_report: style and script stand in the page, which asks for no file") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"y"})})).bytes();
    stemma::attributed_model opened(stemma::mapped_file::holding(bytes, "model"), {});
    const auto page = report_of(opened);
    CHECK(page.starts_with("<!DOCTYPE html>\n<html"));
    CHECK(page.ends_with("</html>\n"));
    CHECK(page.find("<title>model</title>\n<style>\n:root") != page.npos);
    CHECK(count_of(page, "</script>") == 2);
    for (const auto* none : {"{{", "src=", "<link", "SPDX"}) {
        CAPTURE(none);
        CHECK(page.find(none) == page.npos);
    }
}

} // namespace test::page_html_report
