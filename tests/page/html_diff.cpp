// SPDX-License-Identifier: Apache-2.0
#include "../catch.hpp"
#include "../count_of.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../wire_builder.hpp"

#include <stemma/compare/diff_models.hpp>
#include <stemma/compare/link_nodes.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma_report/html_diff.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::page_html_diff {

namespace {

using nlohmann::json;
using stemma::id;

template <std::size_t N>
std::string page_of(const std::array<const stemma::attributed_model*, N>& models) {
    std::vector<stemma::model_diff> diffs;
    for (std::size_t i = 1; i < N; ++i) {
        diffs.push_back(stemma::diff_models(*models[i - 1], *models[i]));
    }
    stemma::string_sink sink;
    stemma_report::write_html_diff(sink, models, diffs);
    return std::move(sink.text);
}

json data_in(const std::string& page, std::string_view opening) {
    const auto begin = page.find(opening) + opening.size();
    return json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

} // namespace

TEST_CASE("write_html_diff: has every model, and each step with its changes and pairs") {
    const stemma::attributed_model first(test::fixture("bert_micro/model.onnx"), {});
    const stemma::attributed_model second(test::fixture("mlp/model.onnx"), {});
    const stemma::attributed_model third(test::fixture("bert_micro/anonymous.onnx"), {});
    const auto page = page_of(std::array{&first, &second, &third});
    CHECK(count_of(page, "class=\"model\">") == 3);
    const auto steps = data_in(page, "id=\"steps\">");
    REQUIRE(steps["files"].size() == 3);
    REQUIRE(steps["steps"].size() == 2);
    CHECK(steps["page"].size() == 3);
    const auto diff = stemma::diff_models(second, third);
    const auto& step = steps["steps"][1];
    REQUIRE(step["changes"].size() == diff.modules.size());
    for (std::size_t i = 0; i < diff.modules.size(); ++i) {
        const auto of = [](id m) { return m == stemma::no_id ? json(-1) : json(m); };
        const auto& entry = diff.modules[i];
        CHECK(step["changes"][i]["ends"] == json::array({of(entry.first), of(entry.second)}));
        CHECK(step["changes"][i]["changes"].size() == entry.changes.size());
    }
    CHECK(step["modules"][0].size() == second.modules().size());
    CHECK(step["modules"][1].size() == third.modules().size());
    const auto pairs = stemma::linked_pairs(diff, second, third);
    REQUIRE(step["nodes"].size() == 2 * pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        CHECK(step["nodes"][2 * i] == pairs[i].first);
        CHECK(step["nodes"][2 * i + 1] == pairs[i].second);
    }
}

TEST_CASE(
    "write_html_diff: of weights, their number, by how much they differ, and how many compare") {
    // A layer with a weight of one element.
    const auto open = [](std::uint64_t type, std::string_view bytes, const char* name) {
        const auto weight = test::message().packed(1, {1}).number(2, type).text(8, "fc.weight");
        auto graph = test::graph({test::node("MatMul", {"x", "fc.weight"}, {"y"}, "/fc/MatMul")},
                                 {"x"}, {"y"});
        graph.inner(5, test::message(weight).text(9, bytes));
        return test::in_memory(test::model(graph).bytes(), name);
    };
    constexpr std::uint64_t float32 = 1;
    constexpr std::uint64_t int32 = 6;
    using namespace std::string_view_literals;
    const auto one = open(float32, "\0\0\x80\x3f"sv, "one.onnx");
    const auto two = open(float32, "\0\0\0\x40"sv, "two.onnx");
    const auto infinite = open(float32, "\0\0\x80\x7f"sv, "infinite.onnx");
    const auto whole = open(int32, "\1\0\0\0"sv, "whole.onnx");
    const auto steps = data_in(page_of(std::array{&one, &two, &infinite, &whole}), "id=\"steps\">");
    const auto weights = [&](std::size_t i) {
        for (const auto& change : steps["steps"][i]["changes"]) {
            if (change["weights"][0] > 0) {
                return change["weights"];
            }
        }
        return json();
    };
    CHECK(weights(0) == json::array({1, 0.5, 1}));
    CHECK(weights(1) == json::array({1, nullptr, 1}));
    CHECK(weights(2) == json::array({1, 0, 0}));
}

TEST_CASE("write_html_diff: texts of models stay texts, and the page loads no file") {
    const std::string name = "</script><script>alert(1)</script>";
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}, name)}, {"x"}, {"y"})).bytes();
    const auto open = [&] { return test::in_memory(bytes, name); };
    const auto first = open();
    const auto second = open();
    const auto page = page_of(std::array{&first, &second});
    CHECK(page.find(name) == page.npos);
    CHECK(page.find("<script>alert") == page.npos);
    // Two models, the steps, and the script of the page.
    CHECK(count_of(page, "</script>") == 4);
    CHECK(data_in(page, "class=\"model\">")["nodes"][0][0] == name);
    CHECK(data_in(page, "id=\"steps\">")["files"][0] == name);
    CHECK(page.starts_with("<!DOCTYPE html>\n<html"));
    CHECK(page.ends_with("</html>\n"));
    for (const auto* none : {"{{title}}", "{{data}}", "src=", "<link", "SPDX"}) {
        CAPTURE(none);
        CHECK(page.find(none) == page.npos);
    }
}

} // namespace test::page_html_diff
