// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/detail/module_values.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../numerics_scene.hpp"
#include "../../opened_graph.hpp"

#include <stemma/model/module_lookup.hpp>

#include <set>
#include <span>
#include <string>
#include <vector>

namespace test::numerics_detail_module_values {

namespace {

std::set<std::string> names(const stemma::attributed_model& opened,
                            std::span<const stemma::id> values) {
    std::set<std::string> all;
    for (const auto value : values) {
        all.emplace(opened.model().value_name(value));
    }
    return all;
}

} // namespace

TEST_CASE("module_values: values are at the boundaries that they cross",
          "[numerics][module_values]") {
    const auto opened = test::in_memory(test::two_modules(), "two.onnx");
    const auto borders = stemma::detail::find_module_values(opened);
    const stemma::module_lookup paths(opened.modules());
    const auto check = [&](const char* path, std::set<std::string> in, std::set<std::string> out) {
        INFO(path);
        const auto m = find_module(paths, path);
        REQUIRE(m != stemma::no_id);
        CHECK(names(opened, borders.inputs[m]) == in);
        CHECK(names(opened, borders.outputs[m]) == out);
    };
    check("", {"x"}, {"y"});
    check("a", {"x"}, {"t", "u"});
    check("a.fc", {"x"}, {"t"});
    check("a.act", {"t"}, {"u"});
    check("b", {"t", "u"}, {"y"});
}

TEST_CASE("module_values: values that depend on weights count, constants do not",
          "[numerics][module_values]") {
    const auto opened = test::in_memory(test::computed_weights(), "weights.onnx");
    const auto borders = stemma::detail::find_module_values(opened);
    const stemma::module_lookup paths(opened.modules());
    CHECK(names(opened, borders.outputs[find_module(paths, "a")]) == std::set<std::string>{"t"});
    CHECK(names(opened, borders.inputs[find_module(paths, "a.fc")]) ==
          std::set<std::string>{"w", "x"});
    CHECK(names(opened, borders.inputs[find_module(paths, "b")]) == std::set<std::string>{"t"});
    CHECK(borders.fixed == std::vector<bool>{true, true, false, false});
}

TEST_CASE("module_values: values in bodies and functions are not observable",
          "[numerics][module_values]") {
    for (const auto* name : {"control_flow/model.onnx", "bert_micro/model.functions.onnx"}) {
        INFO(name);
        const stemma::attributed_model opened(test::fixture(name), {});
        const auto borders = stemma::detail::find_module_values(opened);
        std::size_t hidden = 0;
        for (stemma::id m = 0; m < opened.modules().size(); ++m) {
            for (const auto value : borders.outputs[m]) {
                CHECK(opened.model().graph_of_value(value) == 0);
            }
            for (const auto value : borders.hidden[m]) {
                CHECK(opened.model().graph_of_value(value) != 0);
                ++hidden;
            }
        }
        CHECK(hidden > 0);
    }
}

TEST_CASE("module_values: producers come before readers in the order",
          "[numerics][module_values]") {
    const stemma::attributed_model opened(test::fixture("unet_tiny/model.onnx"), {});
    const auto rank = stemma::detail::find_module_values(opened).rank;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        for (const auto value : opened.model().inputs(node)) {
            const auto from = value == stemma::no_id ? value : opened.model().producer(value);
            CHECK((from == stemma::no_id || rank[from] < rank[node]));
        }
        CHECK(rank[node] == node); // as in the file
    }
}

} // namespace test::numerics_detail_module_values
