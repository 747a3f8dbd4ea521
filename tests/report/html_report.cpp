// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/html_report.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/evidence/dialect.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace test::report_html_report {

namespace {

using nlohmann::json;
using stemma::id;

std::string report_of(test::tagged_model& tagged, const std::string& name) {
    stemma::evidence_context<test::tagged_model::operators, stemma::module_tree> context(
        tagged.ops, tagged.modules);
    auto summary = stemma::summarize(tagged.model, tagged.modules, tagged.found,
                                     stemma::detect_dialects(context));
    summary.model = name;
    const auto counts = stemma::collect_statistics(tagged.model, tagged.modules, tagged.found);
    stemma::string_sink sink;
    stemma::write_html_report(sink, tagged.model, tagged.ops.graph(), tagged.modules, tagged.found,
                              counts, summary, stemma::value_descriptions(tagged.model));
    return sink.text;
}

json data_in(const std::string& page) {
    const std::string opening = "id=\"data\">";
    const auto begin = page.find(opening) + opening.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

} // namespace

TEST_CASE("write_html_report: the page holds all modules, values and nodes", "[html_report]") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice"}) {
        CAPTURE(name);
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        const auto tree = test::read_capture(test::fixture(std::string(name) + "/modules.json"));
        test::tagged_model tagged(bytes, &tree);
        const auto data = data_in(report_of(tagged, name));
        CHECK(data["modules"].size() == tree.size());
        CHECK(data["values"].size() == tagged.model.value_count());
        REQUIRE(data["nodes"].size() == tagged.model.node_count());
        const auto& graph = tagged.ops.graph();
        for (id node = 0; node < tagged.model.node_count(); ++node) {
            const auto& row = data["nodes"][node];
            CHECK(row[2] == tagged.found.attributions[node].module);
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

TEST_CASE("write_html_report: texts of a model stay texts", "[html_report]") {
    const std::string name = "</script><script>alert(1)</script>";
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, name)}, {"x"}, {"y"})).bytes();
    test::tagged_model tagged(bytes);
    const auto page = report_of(tagged, name);
    CHECK(page.find(name) == page.npos);
    CHECK(page.find("<script>alert") == page.npos);
    CHECK(data_in(page)["nodes"][0][0] == name);
}

} // namespace test::report_html_report
