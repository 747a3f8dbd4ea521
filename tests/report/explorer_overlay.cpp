// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/explorer_overlay.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <nlohmann/json.hpp>

#include <numeric>
#include <string>

namespace test::report_explorer_overlay {

using stemma::id;

TEST_CASE("weight_bytes: every weight counts once, with the first node that reads it",
          "[explorer_overlay]") {
    const test::built_model model(test::model(
        test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Mul", {"a", "w"}, {"b"}),
                     test::node("Add", {"b", "w"}, {"y"})},
                    {"x"}, {"y"})
            .inner(5, test::tensor("w", {2, 3}))
            .inner(5, test::tensor("unread", {7}))));
    CHECK(stemma::detail::weight_bytes(model) == std::vector<std::uint64_t>{0, 24, 0});
}

TEST_CASE("weight_bytes: excludes scales, indices and statistics, includes weights in Constants",
          "[explorer_overlay]") {
    const auto attribute =
        test::message().text(1, "value").inner(5, test::tensor("", {3, 4})).number(20, 4);
    auto graph = test::graph(
        {test::node("Constant", {}, {"c"}).inner(5, attribute),
         test::node("MatMul", {"x", "c"}, {"a"}), test::node("DequantizeLinear", {"w", "s"}, {"d"}),
         test::node("MatMul", {"a", "d"}, {"b"}), test::node("Gather", {"b", "i"}, {"y"})},
        {"x"}, {"y"});
    graph.inner(5, test::message().packed(1, {5, 5}).number(2, 3).text(8, "w"))
        .inner(5, test::tensor("s", {5}))
        .inner(5, test::message().packed(1, {6}).number(2, 7).text(8, "i"));
    const test::built_model model(test::model(graph));
    CHECK(stemma::detail::weight_bytes(model) == std::vector<std::uint64_t>{48, 0, 25, 0, 0});
}

TEST_CASE("write_explorer_overlay: has an entry for every node that is not 0, by graph",
          "[explorer_overlay]") {
    const auto bytes = test::read_bytes(test::fixture("control_flow/model.onnx"));
    const stemma::wire_model model(bytes);
    stemma::string_sink sink;
    stemma::write_explorer_overlay(sink, model, [](id node) { return node % 3; });
    const auto read = nlohmann::json::parse(sink.text);
    CHECK(read.size() == model.graph_count());
    std::size_t entries = 0;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto& results =
            read[stemma::detail::explorer_graph_id(model, model.graph_of(node))]["results"];
        const auto key = std::to_string(model.position(node));
        CHECK(results.contains(key) == (node % 3 != 0));
        if (results.contains(key)) {
            ++entries;
            CHECK(results[key]["value"] == node % 3);
        }
    }
    CHECK(entries > 0);
}

} // namespace test::report_explorer_overlay
