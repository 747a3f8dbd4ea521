// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/model_analysis.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

namespace test::report_model_analysis {

namespace {

using stemma::id;

struct text_taker {
    std::string text;
    void write(std::string_view more) { text.append(more); }
};

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
    text_taker out;
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

} // namespace test::report_model_analysis
