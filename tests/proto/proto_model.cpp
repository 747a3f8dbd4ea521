// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/proto_model.hpp>

#include "../catch.hpp"
#include "models.hpp"

#include <stemma/error.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/tagger.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace test::proto_proto_model {

namespace {

using stemma::id;

std::vector<id> as_list(std::span<const id> ids) {
    return {ids.begin(), ids.end()};
}

// All tables as one text, so that a difference is shown in context.
std::string describe(const stemma::onnx_model& model) {
    std::string text = std::to_string(model.ir_version());
    const auto add = [&](const auto&... parts) {
        const auto one = [&](const auto& part) {
            if constexpr (std::is_convertible_v<decltype(part), std::string_view>) {
                text.append(" '").append(part).append("'");
            } else {
                text.append(" ").append(std::to_string(part));
            }
        };
        text.append("\n");
        (one(parts), ...);
    };
    const auto add_all = [&](std::string_view what, std::span<const id> ids) {
        add(what);
        for (auto each : ids) {
            text.append(" ").append(std::to_string(each));
        }
    };
    add(model.producer_name(), model.producer_version());
    for (const auto& opset : model.opset_imports()) {
        add("opset", opset.domain, opset.version);
    }
    for (id node = 0; node < model.node_count(); ++node) {
        add("node", model.name(node), model.op_type(node), model.domain(node), model.overload(node),
            model.operator_id(node), model.graph_of(node), model.position(node), model.owner(node),
            model.callee(node), model.first_output(node), model.output_count(node));
        add_all("reads", model.inputs(node));
    }
    for (id value = 0; value < model.value_count(); ++value) {
        add("value", model.value_name(value), static_cast<int>(model.kind(value)),
            model.graph_of_value(value), model.producer(value));
    }
    for (id g = 0; g < model.graph_count(); ++g) {
        const auto& graph = model.graph(g);
        add("graph", model.graph_path(g), static_cast<int>(graph.kind), graph.owner, graph.function,
            model.text(graph.attribute), graph.attribute_index, static_cast<int>(graph.listed),
            model.text(graph.name), graph.node_count);
        add_all("inputs", graph.inputs);
        add_all("outputs", graph.outputs);
        add_all("initializers", graph.initializers);
    }
    for (const auto& function : model.functions()) {
        add("function", model.text(function.domain), model.text(function.name),
            model.text(function.overload), function.graph);
    }
    add_all("redefined", model.redefined());
    return text;
}

using value_entry = std::tuple<id, std::string, std::string>;

template <class Model>
std::vector<value_entry> value_metadata(const Model& model) {
    std::vector<value_entry> entries;
    model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
        entries.emplace_back(value, key, text);
    });
    return entries;
}

template <class Model>
std::vector<value_entry> node_metadata(const Model& model) {
    std::vector<value_entry> entries;
    for (id node = 0; node < model.node_count(); ++node) {
        model.for_each_metadata(node, [&](std::string_view key, std::string_view text) {
            entries.emplace_back(node, key, text);
        });
    }
    return entries;
}

template <class Proto>
void check_like_wire(const Proto& model) {
    const stemma::proto_model<Proto> tables(model);
    const auto bytes = test::bytes_of(model);
    const stemma::wire_model wire(bytes);
    CHECK(describe(tables) == describe(wire));
    CHECK(node_metadata(tables) == node_metadata(wire));
    CHECK(value_metadata(tables) == value_metadata(wire));
    const std::vector<bool> all(wire.value_count(), true);
    CHECK(tables.find_uniform(all) == wire.find_uniform(all));
    CHECK(tables.find_matrices(all) == wire.find_matrices(all));
    for (stemma::id node = 0; node < wire.node_count(); ++node) {
        CHECK(tables.sets_attribute(node, "axis") == wire.sets_attribute(node, "axis"));
        CHECK(tables.may_hold_weight(node) == wire.may_hold_weight(node));
    }
    REQUIRE(tables.tensor_count() == wire.tensors().size());
    for (std::size_t i = 0; i < tables.tensor_count(); ++i) {
        CHECK(tables.tensor_value(i) == wire.tensors()[i].value);
    }
    REQUIRE(tables.value_info_count() == wire.value_infos().size());
    for (std::size_t i = 0; i < tables.value_info_count(); ++i) {
        CHECK(tables.value_info_value(i) == wire.value_infos()[i].value);
    }
    for (id node = 0; node < tables.node_count(); ++node) {
        CHECK(tables.node(node).name() == tables.name(node));
        CHECK(tables.node(node).op_type() == tables.op_type(node));
    }
}

template <class Model>
auto tagged_nodes(const Model& model) {
    const stemma::onnx_operators<Model> ops(model);
    const auto rebuilt = stemma::rebuild_tree(ops);
    auto tagged = stemma::tag_operators(ops, rebuilt.modules);
    std::vector<std::tuple<id, stemma::provenance, float, std::vector<id>>> result;
    for (id node = 0; node < tagged.attributions.size(); ++node) {
        const auto& attribution = tagged.attributions[node];
        std::vector<id> tags;
        tagged.pool.for_each(tagged.tag_sets[node], [&](id m) { tags.push_back(m); });
        result.emplace_back(attribution.module, attribution.source, attribution.confidence,
                            std::move(tags));
    }
    return result;
}

onnx::ModelProto nested(int depth) {
    onnx::ModelProto model;
    auto* graph = model.mutable_graph();
    for (int i = 0; i < depth; ++i) {
        auto& attribute = *graph->add_node()->add_attribute();
        attribute.set_name("body");
        graph = attribute.mutable_g();
    }
    return model;
}

} // namespace

TEST_CASE("proto_model: agrees with the file's tables, for every fixture", "[onnx][proto_model]") {
    const auto paths = test::fixture_paths();
    REQUIRE_FALSE(paths.empty());
    for (const auto& path : paths) {
        INFO(path);
        check_like_wire(test::load(path));
    }
}

TEST_CASE("proto_model: agrees with the file's tables in a newer schema", "[onnx][proto_model]") {
    for (const auto& path : test::fixture_paths()) {
        INFO(path);
        check_like_wire(test::load<newer_onnx::ModelProto>(path));
    }
}

TEST_CASE("proto_model: reads rare constructs like the file's reader", "[onnx][proto_model]") {
    const auto older = test::rare_model<onnx::ModelProto>();
    const auto newer = test::rare_model<newer_onnx::ModelProto>();
    check_like_wire(older);
    check_like_wire(newer);
    const stemma::proto_model of_older(older);
    const stemma::proto_model of_newer(newer);
    CHECK(describe(of_older) == describe(of_newer));
    CHECK(node_metadata(of_older) == node_metadata(of_newer));
    CHECK(value_metadata(of_older) == value_metadata(of_newer));
}

TEST_CASE("proto_model: reads rare fields", "[onnx][proto_model]") {
    const auto proto = test::rare_model<onnx::ModelProto>();
    const stemma::proto_model model(proto);

    REQUIRE(model.functions().size() == 2);
    CHECK(model.graph_path(model.functions()[1].graph) == "@their.domain::Block:second");
    std::vector<std::string> paths;
    for (id g = 0; g < model.graph_count(); ++g) {
        paths.push_back(model.graph_path(g));
    }
    CHECK(std::count(paths.begin(), paths.end(), "3/then_branch/0/body") == 1);
    CHECK(std::count(paths.begin(), paths.end(), "4/cases[1]") == 1);
    std::vector<id> calls;
    for (id node = 0; node < model.node_count(); ++node) {
        if (model.op_type(node) == "Block") {
            calls.push_back(model.callee(node));
        }
        if (model.op_type(node) == "Split") {
            CHECK(model.inputs(node)[1] == stemma::no_id);
            CHECK(model.kind(model.inputs(node)[2]) == stemma::value_kind::undefined);
        }
    }
    CHECK(calls == std::vector<id>{0, 1});
    CHECK(as_list(model.redefined()).size() == 1);
    CHECK(std::count_if(paths.begin(), paths.end(), [](const auto& p) { return p.empty(); }) == 1);
}

TEST_CASE("proto_model: nodes have the modules of those of the file", "[onnx][proto_model]") {
    for (const auto& path : test::fixture_paths()) {
        INFO(path);
        const auto proto = test::load(path);
        const stemma::proto_model model(proto);
        const auto bytes = test::bytes_of(proto);
        const stemma::wire_model wire(bytes);
        CHECK(tagged_nodes(model) == tagged_nodes(wire));
        CHECK(stemma::detail::find_digests(model) == stemma::detail::find_digests(wire));
    }
}

TEST_CASE("model_message: is a model, not a part of one", "[onnx][proto_model]") {
    STATIC_REQUIRE(stemma::detail::model_message<onnx::ModelProto>);
    STATIC_REQUIRE(stemma::detail::model_message<newer_onnx::ModelProto>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_message<onnx::GraphProto>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_message<onnx::FunctionProto>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_message<std::string>);
}

TEST_CASE("proto_model: keeps its names when it is moved", "[onnx][proto_model]") {
    onnx::ModelProto proto;
    test::add_node(*proto.mutable_graph(), "A", "n", {"x"}, {"y"});
    stemma::proto_model model(proto);
    const auto before = describe(model);

    const auto moved = std::move(model);

    CHECK(describe(moved) == before);
    STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<stemma::proto_model<>>);
}

TEST_CASE("proto_model: a graph without nodes is a model, a model without a graph is not",
          "[onnx][proto_model]") {
    onnx::ModelProto proto;
    CHECK_THROWS_AS(stemma::proto_model(proto), stemma::error);
    proto.mutable_graph();
    check_like_wire(proto);
    CHECK(stemma::proto_model(proto).node_count() == 0);
}

TEST_CASE("proto_model: nests as deep as protobuf can write, and no deeper",
          "[onnx][proto_model]") {
    const auto deepest = nested(33);
    check_like_wire(deepest);
    const auto deeper = nested(34);
    CHECK_THROWS_AS(stemma::proto_model(deeper), stemma::error);
}

} // namespace test::proto_proto_model
