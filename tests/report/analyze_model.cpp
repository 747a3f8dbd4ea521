// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/analyze_model.hpp>

#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"
#include "../written_text.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace test::report_analyze_model {

namespace {

using stemma::id;

auto lines_of(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
}

std::vector<id> all_nodes(const stemma::attributed_model& opened) {
    std::vector<id> nodes(opened.model().node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return nodes;
}

stemma::model_analysis analyze(const stemma::attributed_model& opened) {
    return stemma::detail::analyze_modules(opened.model(), opened.operators().graph(),
                                           opened.modules(), opened.tags(), all_nodes(opened));
}

stemma::attribution_options with_capture(const std::string& fixture) {
    stemma::attribution_options options;
    options.captures = stemma::captures({test::fixture(fixture + "/modules.json")});
    return options;
}

} // namespace

TEST_CASE("analyze_model: a query restricts the analysis") {
    auto opened = test::captured_model("bert_micro");
    const auto all = stemma::analyze_model(opened);
    CHECK(all.summary.nodes == opened.model().node_count());
    const auto some = stemma::analyze_model(opened, "encoder.layer.0");
    CHECK(some.nodes == stemma::find_nodes(opened, "encoder.layer.0"));
    CHECK(some.summary.nodes == some.nodes.size());
    CHECK(some.analysis.modules.nodes == all.analysis.modules.nodes);
    CHECK(stemma::analyze_model(opened, {}, "scope").summary.against_oracle.has_value());
}

TEST_CASE("analyze_model: is about nodes, and the modules that contain them") {
    const auto opened = test::captured_model("bert_micro");
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
    auto opened = test::captured_model("bert_micro");
    const auto report = stemma::analyze_model(opened);
    const auto json = test::json_of(report, opened);
    CHECK(json["schema"] == "stemma.summary/1");
    CHECK(json["nodes"] == report.summary.nodes);
    CHECK(json["analysis"]["modules"].size() == report.modules.size());
}

TEST_CASE("write_csv: one row per entry, below the headings") {
    auto opened = test::captured_model("bert_micro");
    const auto report = stemma::analyze_model(opened);
    using table = stemma::model_report::table;
    CHECK(test::csv_of(table::tags, report, opened).starts_with("tag,nodes\n"));
    CHECK(lines_of(test::csv_of(table::tags, report, opened)) ==
          static_cast<std::ptrdiff_t>(report.summary.tags.size()) + 1);
    CHECK(lines_of(test::csv_of(table::modules, report, opened)) ==
          static_cast<std::ptrdiff_t>(opened.modules().size()) + 1);
    CHECK(lines_of(test::csv_of(table::below, report, opened)) ==
          static_cast<std::ptrdiff_t>(report.analysis.only_below.size()) + 1);
    CHECK(test::csv_of(table::operators, report, opened).find(",MatMul,") != std::string::npos);
    CHECK(test::csv_of(table::weights, report, opened).find(",parameter,float32,") !=
          std::string::npos);
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

TEST_CASE("model_analysis: numbers of the modules add up") {
    for (const auto* fixture : {"bert_micro", "shared_twice", "control_flow", "quirks"}) {
        const std::string name(fixture);
        const stemma::attributed_model opened(test::fixture(name + "/model.onnx"),
                                              with_capture(name));
        const auto analysis = analyze(opened);
        const auto& tree = opened.modules().index();
        CHECK(std::accumulate(analysis.confidence.begin(), analysis.confidence.end(),
                              std::size_t{0}) == opened.model().node_count());
        std::uint64_t bytes = 0;
        for (const auto& tensor : opened.model().tensors()) {
            const auto header = stemma::read_tensor_header(opened.model(), tensor);
            bytes += stemma::detail::is_floating_type(header.data_type)
                         ? stemma::detail::data_size(header).value_or(0)
                         : 0;
        }
        CHECK(analysis.modules.bytes[0] == bytes);
        for (id m = 1; m < tree.size(); ++m) {
            CHECK(analysis.modules.bytes[m] <= analysis.modules.bytes[tree.parent(m)]);
            const bool empty =
                std::any_of(analysis.without_nodes.begin(), analysis.without_nodes.end(),
                            [&](id highest) { return tree.is_ancestor(highest, m); });
            CHECK(empty == (analysis.modules.nodes[m] == 0));
        }
    }
}

TEST_CASE("model_analysis: a module that runs twice is not convex, and one that runs once is") {
    const stemma::attributed_model twice(test::fixture("shared_twice/model.onnx"),
                                         with_capture("shared_twice"));
    std::vector<std::string> paths;
    for (const auto& one : analyze(twice).non_convex) {
        paths.push_back(twice.modules().path(one.module));
    }
    CHECK(std::count(paths.begin(), paths.end(), "block") == 1);
    CHECK(std::count(paths.begin(), paths.end(), "mid") == 0);
    const stemma::attributed_model once(test::fixture("mlp/model.onnx"), with_capture("mlp"));
    CHECK(analyze(once).non_convex.empty());
}

TEST_CASE("model_analysis: shared weights are those read by several modules") {
    std::size_t checked = 0;
    for (const auto& path : test::model_files()) {
        if (std::filesystem::path(path).filename() != "model.onnx") {
            continue;
        }
        const stemma::attributed_model opened(path, {});
        for (const auto& one : analyze(opened).shared) {
            CHECK(one.modules.size() > 1);
            CHECK(std::is_sorted(one.modules.begin(), one.modules.end()));
            CHECK(opened.model().is_initializer(one.value));
            ++checked;
        }
    }
    CHECK(checked > 0);
}

TEST_CASE("model_analysis: counts nodes only known to be below a module") {
    const stemma::attributed_model opened(test::fixture("bert_micro/anonymous.onnx"), {});
    const auto analysis = analyze(opened);
    using counts = std::vector<std::pair<id, std::size_t>>;
    CHECK(analysis.only_below == counts{{0, opened.model().node_count()}});
    const stemma::attributed_model complete(test::fixture("bert_micro/model.onnx"), {});
    CHECK(analyze(complete).only_below.empty());
    const stemma::attributed_model some(test::fixture("gpt2_tiny/unnamed.onnx"), {});
    const auto part = analyze(some).only_below;
    std::size_t nodes = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
        nodes += part[i].second;
        CHECK((i == 0 || part[i - 1].second >= part[i].second));
    }
    std::size_t unsure = 0;
    for (const auto& attribution : some.tags().attributions) {
        unsure += stemma::detail::is_only_below(attribution) ? 1U : 0U;
    }
    CHECK(nodes == unsure);
    CHECK(nodes > 0);
}

TEST_CASE("model_analysis: its output can be parsed") {
    const stemma::attributed_model opened(test::fixture("shared_twice/model.onnx"),
                                          with_capture("shared_twice"));
    const auto analysis = analyze(opened);
    stemma::string_sink out;
    stemma::json_writer json(out);
    json.begin_object();
    const std::vector<id> rows{0, 2};
    stemma::detail::write_analysis(json, analysis, opened.model(), opened.modules(), rows);
    json.end_object();
    json.finish();
    const auto written = nlohmann::json::parse(out.text);
    REQUIRE(written["modules"].size() == 2);
    CHECK(written["modules"][0]["nodes"] == opened.model().node_count());
    CHECK(written["modules"][0]["weights"].size() == analysis.modules.weights[0].size());
    CHECK(written["only_below"].size() == analysis.only_below.size());
    CHECK(written["modules"][1]["path"] == opened.modules().path(2));
    CHECK(written["non_convex"].size() == analysis.non_convex.size());
    CHECK(written["shared_weights"].size() == analysis.shared.size());
    std::size_t operators = 0;
    for (const auto& count : written["modules"][0]["operators"]) {
        operators += count.get<std::size_t>();
    }
    CHECK(operators == opened.model().node_count());
}

} // namespace test::report_analyze_model
