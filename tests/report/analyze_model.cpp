// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/analyze_model.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace test::report_analyze_model {

namespace {

stemma::attributed_model open_bert() {
    return {test::fixture("bert_micro/model.onnx"),
            {.captures = stemma::captures({test::fixture("bert_micro/modules.json")})}};
}

std::string csv(stemma::model_report::table table, const stemma::model_report& report,
                const stemma::attributed_model& opened) {
    stemma::string_sink sink;
    stemma::write_csv(sink, table, report, opened);
    return sink.text;
}

auto lines_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

} // namespace

TEST_CASE("analyze_model: a query restricts the analysis") {
    auto opened = open_bert();
    const auto all = stemma::analyze_model(opened);
    CHECK(all.summary.nodes == opened.model().node_count());
    const auto some = stemma::analyze_model(opened, "encoder.layer.0");
    CHECK(some.nodes == stemma::find_nodes(opened, "encoder.layer.0"));
    CHECK(some.summary.nodes == some.nodes.size());
    CHECK(some.analysis.modules.nodes == all.analysis.modules.nodes);
    CHECK(stemma::analyze_model(opened, {}, "scope").summary.against_oracle.has_value());
}

TEST_CASE("analyze_model: is about nodes, and the modules that contain them") {
    const auto opened = open_bert();
    const auto whole = stemma::analyze_model(opened);
    CHECK(whole.nodes.size() == opened.model().node_count());
    CHECK(whole.modules.size() == opened.modules().size());
    const auto part = stemma::analyze_model(opened, "encoder.layer.0 and op:MatMul");
    CHECK(part.nodes == stemma::find_nodes(opened, "encoder.layer.0 and op:MatMul"));
    for (stemma::id m = 0; m < opened.modules().size(); ++m) {
        const bool holds = std::any_of(part.nodes.begin(), part.nodes.end(), [&](stemma::id node) {
            return opened.modules().index().is_ancestor(m, opened.tags().attributions[node].module);
        });
        CHECK(std::count(part.modules.begin(), part.modules.end(), m) == (holds ? 1 : 0));
    }
}

TEST_CASE("analyze_model: says what each part of a capture decides") {
    const auto folder = test::fixture("bert_micro");
    stemma::attributed_model opened(
        folder + "/model.onnx",
        {.captures = stemma::captures({folder + "/modules.json", folder + "/trace.json"})});
    const auto report = stemma::analyze_model(opened);
    REQUIRE(report.captured.size() == opened.captured().size());
    for (const auto& share : report.captured) {
        CHECK(share.speaks_of <= opened.model().node_count());
        CHECK(share.agrees <= share.speaks_of);
        CHECK(share.decides <= report.summary.provenance[static_cast<std::size_t>(share.source)]);
    }
}

TEST_CASE("write_json: has the members of a summary, and the analysis") {
    auto opened = open_bert();
    const auto report = stemma::analyze_model(opened);
    stemma::string_sink sink;
    stemma::write_json(sink, report, opened);
    const auto json = nlohmann::json::parse(sink.text);
    CHECK(json["schema"] == "stemma.summary/1");
    CHECK(json["nodes"] == report.summary.nodes);
    CHECK(json["analysis"]["modules"].size() == report.modules.size());
}

TEST_CASE("write_csv: one row per entry, below the headings") {
    auto opened = open_bert();
    const auto report = stemma::analyze_model(opened);
    using table = stemma::model_report::table;
    CHECK(csv(table::tags, report, opened).starts_with("tag,nodes\n"));
    CHECK(lines_of(csv(table::tags, report, opened)) ==
          static_cast<std::ptrdiff_t>(report.summary.tags.size()) + 1);
    CHECK(lines_of(csv(table::modules, report, opened)) ==
          static_cast<std::ptrdiff_t>(opened.modules().size()) + 1);
    CHECK(lines_of(csv(table::below, report, opened)) ==
          static_cast<std::ptrdiff_t>(report.analysis.only_below.size()) + 1);
    CHECK(csv(table::operators, report, opened).find(",MatMul,") != std::string::npos);
    CHECK(csv(table::weights, report, opened).find(",parameter,float32,") != std::string::npos);
}

TEST_CASE("csv: fields are quoted where they need it") {
    CHECK(stemma::detail::csv_row(std::string("a"), 3, std::string_view("")) == "a,3,\n");
    CHECK(stemma::detail::csv_row(std::string("a,b"), std::string("say \"x\"")) ==
          "\"a,b\",\"say \"\"x\"\"\"\n");
}

TEST_CASE("model_report: knows every table by its name") {
    CHECK(stemma::parse_name<stemma::model_report::table>("tags") ==
          stemma::model_report::table::tags);
    CHECK(stemma::parse_name<stemma::model_report::table>("modules") ==
          stemma::model_report::table::modules);
    CHECK(stemma::parse_name<stemma::model_report::table>("operators") ==
          stemma::model_report::table::operators);
    CHECK(stemma::parse_name<stemma::model_report::table>("weights") ==
          stemma::model_report::table::weights);
    CHECK(stemma::parse_name<stemma::model_report::table>("below") ==
          stemma::model_report::table::below);
    CHECK(!stemma::parse_name<stemma::model_report::table>("above"));
}

} // namespace test::report_analyze_model
