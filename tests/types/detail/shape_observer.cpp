// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/shape_observer.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"
#include "../../model_files.hpp"

#include <stemma/types/detail/infer_shapes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace test::types_detail_shape_observer {

namespace {

/// Counts results of which some extent is unknown, and keeps the last one as text.
struct counting final : stemma::detail::shape_observer {
    explicit counting(const stemma::wire_model& observed) : model(observed) {}

    void begin(stemma::detail::fact_table& table) override {
        facts = &table;
        algebra = &table.algebra();
    }
    void enter(stemma::id) override { ++depth; }
    void leave(stemma::id) override { --depth; }
    void see(stemma::id node) override {
        for (stemma::id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            if (!model.value_name(value).empty()) {
                const auto& fact = (*facts)[value];
                ++values;
                open += !fact.ranked() || std::count(fact.dims->begin(), fact.dims->end(),
                                                     stemma::detail::any_extent) > 0;
            }
        }
    }
    [[nodiscard]] std::string text(const std::string& name) const {
        std::string result;
        for (stemma::id value = 0; value < model.value_count(); ++value) {
            const bool asked = model.value_name(value) == name && (*facts)[value].ranked();
            for (std::size_t i = 0; asked && i < (*facts)[value].rank(); ++i) {
                result += (i == 0 ? "" : ", ") +
                          algebra->value((*(*facts)[value].dims)[i]).text([&](auto symbol) {
                              return std::string(algebra->names()[symbol]);
                          });
            }
        }
        return result;
    }

    const stemma::wire_model& model;
    const stemma::detail::fact_table* facts = nullptr;
    stemma::detail::extent_algebra* algebra = nullptr;
    std::size_t values = 0;
    std::size_t open = 0;
    int depth = 0;
};

} // namespace

TEST_CASE("shape_inference: nearly all extents of the fixtures are numbers or formulas",
          "[types]") {
    std::size_t values = 0;
    std::size_t open = 0;
    for (const auto& file : test::model_files()) {
        const auto bytes = test::read_bytes(file);
        const stemma::wire_model model(bytes, file);
        stemma::value_types types(model);
        counting observer(model);
        const stemma::detail::shape_inference inference(model, types, {}, observer);
        CHECK(observer.depth == 0);
        values += observer.values;
        open += observer.open;
    }
    CHECK(values > 10000);
    CHECK(open * 1000 < values);
}

TEST_CASE("shape_inference: symbolic extents are formulas, or their bound values", "[types]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const stemma::wire_model model(bytes, "bert_micro");
    const std::string name = "/encoder/layer.0/attention/self/Softmax_output_0";
    for (const bool bound : {false, true}) {
        stemma::value_types types(model);
        counting observer(model);
        const std::map<std::string, std::int64_t> dims{{"sequence", 7}};
        const stemma::detail::shape_inference inference(
            model, types, bound ? dims : std::map<std::string, std::int64_t>(), observer);
        CHECK(observer.text(name) ==
              (bound ? "batch_size, 2, 7, 7" : "batch_size, 2, sequence, sequence"));
    }
}

TEST_CASE("shape_inference: -1 in a shape for Expand stands for 1, an unknown extent does not",
          "[types]") {
    const auto negative = static_cast<std::uint64_t>(-1);
    const auto along = test::int_attribute("axis", 0);
    auto scene = test::inference_scene()
                     .input("x", {1, 1, 12})
                     .input("given", {1}, 7)
                     .numbers("first", {1})
                     .numbers("last", {12})
                     .numbers("two", {2})
                     .numbers("parts", {1, 1})
                     .numbers("open", {negative})
                     .numbers("ones", {1, 1, 1})
                     .numbers("all_open", {negative, negative, negative})
                     .node(test::node("Expand", {"two", "two"}, {"twice"}))
                     .node(test::owner_node("Split", {"twice", "parts"}, {"repeat", ""}, {along}));
    const auto expanded = [&](const char* middle) {
        auto extended = scene;
        extended.node(test::owner_node("Concat", {"first", middle, "last"}, {"shape"}, {along}))
            .node(test::node("Equal", {"shape", "all_open"}, {"is_open"}))
            .node(test::node("Where", {"is_open", "ones", "shape"}, {"asked"}))
            .node(test::node("Expand", {"x", "asked"}, {"y"}));
        const auto bytes = extended.model_with("y");
        const stemma::wire_model model(bytes);
        stemma::value_types types(model);
        counting observer(model);
        const stemma::detail::shape_inference inference(model, types, {}, observer);
        return observer.text("y");
    };
    CHECK(expanded("open") == "1, 1, 12");
    CHECK(expanded("repeat") == "1, 2, 12");
    CHECK(expanded("given") == "1, ?, 12");
}

TEST_CASE("shape_inference: what operators of old versions mean", "[types]") {
    const auto seen_in = [](test::inference_scene scene, const test::message& node,
                            std::uint64_t opset) {
        const auto bytes = scene.node(node).model_with("y", opset);
        const stemma::wire_model model(bytes);
        stemma::value_types types(model);
        counting observer(model);
        const stemma::detail::shape_inference inference(model, types, {}, observer);
        return observer.text("y");
    };
    const auto scene = test::inference_scene().open_input("x", {"N", "3", "H"}).input("b", {3});
    CHECK(seen_in(scene,
                  test::owner_node("Upsample", {"x"}, {"y"},
                                   {test::floats_attribute("scales", {1, 1, 2})}),
                  7) == "N, 3, 2*H");
    test::message body;
    body.inner(1, test::node("Relu", {"e"}, {"r"}));
    for (const auto* name : {"s", "e"}) {
        body.inner(11, test::message().text(1, name)).inner(12, test::message().text(1, "r"));
    }
    const auto scan = [&](const test::names& inputs) {
        return test::owner_node(
            "Scan", inputs, {"", "y"},
            {test::graph_attribute("body", body), test::int_attribute("num_scan_inputs", 1)});
    };
    CHECK(seen_in(scene, scan({"b", "x"}), 9) == "?, ?, ?");
    CHECK(seen_in(scene, scan({"", "b", "x"}), 8).empty());
}

} // namespace test::types_detail_shape_observer
