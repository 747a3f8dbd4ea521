// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/detail/cut_writer.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/boundary_types.hpp>
#include <stemma/onnx/detail/splices.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::cut_detail_cut_writer {

namespace {

using stemma::id;

/// Cuts the nodes of these names out of a model. Returns: the bytes of the part.
template <class Policy = stemma::standard_cut>
std::string cut(const test::message& message, const test::names& wanted, Policy policy = {}) {
    const auto bytes = message.bytes();
    const stemma::wire_model model(bytes);
    std::vector<id> nodes;
    for (const auto& name : wanted) {
        nodes.push_back(test::node_called(model, name));
    }
    std::sort(nodes.begin(), nodes.end());
    stemma::cut_planner<Policy> planner(model, policy);
    const auto plans = planner.plan(nodes);
    REQUIRE(plans.size() == 1);
    stemma::value_types types(model);
    REQUIRE_FALSE(stemma::detail::find_untyped(plans[0], types));
    REQUIRE_FALSE(stemma::detail::find_unbound(plans[0], model, planner.contents()));
    stemma::detail::cut_writer<Policy> writer(model, planner.contents(), types, policy);
    std::string part;
    writer.build(plans[0], "origin")
        .for_each(
            [&](id, std::uint64_t begin, std::uint64_t size) { part.append(bytes, begin, size); },
            [&](std::string_view text) { part.append(text); });
    return part;
}

test::message example(std::uint64_t ir_version = 8) {
    auto graph = test::graph({test::node("Relu", {"x"}, {"a"}, "first"),
                              test::node("Add", {"a", "w"}, {"b"}, "second")
                                  .text(6, "docs of it")
                                  .inner(9, test::entry("key", "value")),
                              test::node("Tanh", {"b"}, {"y"}, "third")},
                             {"x"}, {"y"}, {"w", "unused"});
    graph.inner(13, test::value_info("a")).inner(13, test::value_info("b"));
    graph.inner(14, test::message().text(1, "b").inner(2, test::entry("SCALE_TENSOR", "unused")));
    return test::model(graph, ir_version)
        .inner(14, test::entry("author", "somebody"))
        .inner(14, test::entry("pkg.stemma.cut", "of before"))
        .inner(25, test::function("local", "Own", {"p"}, {"q"}, {test::node("Neg", {"p"}, {"q"})}));
}

test::names texts(const stemma::wire_model& model, const std::vector<id>& values) {
    test::names names;
    for (auto value : values) {
        names.emplace_back(model.value_name(value));
    }
    return names;
}

} // namespace

TEST_CASE("cut_writer: copies nodes with their metadata unchanged", "[onnx][cut_model]") {
    const auto part = cut(example(), {"second"});
    const stemma::wire_model model(part);
    REQUIRE(model.node_count() == 1);
    const auto message = model.message(0);
    CHECK(part.substr(message.begin, message.size) == test::node("Add", {"a", "w"}, {"b"}, "second")
                                                          .text(6, "docs of it")
                                                          .inner(9, test::entry("key", "value"))
                                                          .bytes());
    CHECK(model.ir_version() == 8);
    CHECK(model.functions().empty());
}

TEST_CASE("cut_writer: writes inputs and outputs with types, and annotations of values",
          "[onnx][cut_model]") {
    const auto part = cut(example(), {"second"});
    const stemma::wire_model model(part);
    std::vector<id> inputs(model.graph(0).inputs.begin(), model.graph(0).inputs.end());
    std::vector<id> outputs(model.graph(0).outputs.begin(), model.graph(0).outputs.end());
    CHECK(texts(model, inputs) == test::names{"a"});
    CHECK(texts(model, outputs) == test::names{"b"});
    stemma::value_types types(model);
    CHECK(types.type_of(inputs[0]).has_value());
    CHECK(types.type_of(outputs[0]).has_value());
    CHECK(stemma::detail::read_graph_extras(model)[0].annotations.count("b") == 1);
    // What the annotation names comes along although no node reads it.
    CHECK(model.tensors().size() == 2);
}

TEST_CASE("cut_writer: keeps the model's metadata, and adds the origin", "[onnx][cut_model]") {
    const auto part = cut(example(), {"second"});
    const stemma::wire_model model(part);
    CHECK(stemma::detail::find_model_metadata(model, "author") == "somebody");
    CHECK(stemma::detail::find_model_metadata(model, stemma::detail::cut_key) == "origin");
    CHECK(part.find("of before") == std::string::npos);
}

TEST_CASE("cut_writer: before IR 4, initializers are also inputs", "[onnx][cut_model]") {
    for (std::uint64_t ir : {3U, 4U}) {
        const auto part = cut(example(ir), {"second"});
        const stemma::wire_model model(part);
        CHECK(model.graph(0).inputs.size() == (ir < 4 ? 3U : 1U));
    }
}

TEST_CASE("cut_writer: a renaming policy applies to the whole boundary", "[onnx][cut_model]") {
    struct prefixed : stemma::standard_cut {
        [[nodiscard]] std::string boundary_name(std::string_view name) const {
            return "in_" + std::string(name);
        }
    };
    const auto part = cut(example(), {"second"}, prefixed());
    const stemma::wire_model model(part);
    std::vector<id> inputs(model.graph(0).inputs.begin(), model.graph(0).inputs.end());
    CHECK(texts(model, inputs) == test::names{"in_a"});
    CHECK(model.value_name(model.inputs(0)[0]) == "in_a");
    CHECK(model.value_name(model.inputs(0)[1]) == "w");
    CHECK(model.value_name(model.first_output(0)) == "in_b");
    CHECK(stemma::detail::read_graph_extras(model)[0].annotations.count("in_b") == 1);
}

TEST_CASE("cut_writer: a copy builds the same part", "[onnx][cut_model]") {
    const auto bytes = example().bytes();
    const stemma::wire_model model(bytes);
    stemma::cut_planner<> planner(model);
    const stemma::value_types types(model);
    stemma::detail::cut_writer<> writer(model, planner.contents(), types);
    auto copy = writer;
    auto other_planner = planner;
    for (id node = 0; node < model.node_count(); ++node) {
        const std::vector<id> wanted{node};
        std::string parts[2];
        for (std::size_t i = 0; i < 2; ++i) {
            const auto plans = (i == 0 ? planner : other_planner).plan(wanted);
            REQUIRE(plans.size() == 1);
            stemma::detail::string_splice splice(bytes);
            (i == 0 ? writer : copy).build(plans[0], "origin").write(splice);
            parts[i] = splice.text;
        }
        CHECK(parts[0] == parts[1]);
        CHECK_FALSE(parts[0].empty());
    }
}

TEST_CASE("cut_writer: a part of a function has the function's operator sets",
          "[onnx][cut_model]") {
    auto function = test::function(
        "local", "Own", {"p"}, {"r"},
        {test::node("Neg", {"p"}, {"q"}, "inner"), test::node("Abs", {"q"}, {"r"}, "last")});
    function.inner(9, test::opset("", 13)).inner(12, test::value_info("q"));
    function.inner(12, test::value_info("p"));
    auto graph = test::graph({test::node("Own", {"x"}, {"y"}, "call", "local")}, {"x"}, {"y"});
    const auto part = cut(test::model(graph).inner(25, function), {"inner"});
    const stemma::wire_model model(part);
    CHECK(model.node_count() == 1);
    CHECK(model.opset_imports().back().version == 13);
}

} // namespace test::cut_detail_cut_writer
