// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/proto_model.hpp>

#include "../catch.hpp"
#include "models.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

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
using stemma::wire_model;

/// Returns: the metadata of nodes and values, as text.
std::string metadata_of(const wire_model& model) {
    std::string all;
    const auto add = [&](id number, std::string_view key, std::string_view text) {
        all.append(std::to_string(number)).append(key).append("=").append(text).append("\n");
    };
    for (id node = 0; node < model.node_count(); ++node) {
        model.for_each_metadata(
            node, [&](std::string_view key, std::string_view text) { add(node, key, text); });
    }
    model.for_each_value_metadata(add);
    return all;
}

void check_same(const wire_model& one, const wire_model& other) {
    CHECK(stemma::detail::find_digests(one) == stemma::detail::find_digests(other));
    CHECK(metadata_of(one) == metadata_of(other));
    const std::vector<bool> all(other.value_count(), true);
    CHECK(one.find_uniform(all) == other.find_uniform(all));
    CHECK(one.find_matrices(all) == other.find_matrices(all));
}

template <class Proto>
void check_like_file(const Proto& model) {
    const auto bytes = test::bytes_of(model);
    check_same(stemma::proto_model(model), wire_model(bytes));
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

TEST_CASE("proto_model: agrees with the file's tables, in every schema") {
    const auto paths = test::model_files();
    REQUIRE_FALSE(paths.empty());
    for (const auto& path : paths) {
        INFO(path);
        check_like_file(test::load(path));
        check_like_file(test::load<newer_onnx::ModelProto>(path));
    }
    const auto older = test::rare_model<onnx::ModelProto>();
    const auto newer = test::rare_model<newer_onnx::ModelProto>();
    check_like_file(older);
    check_same(stemma::proto_model(older), stemma::proto_model(newer));
}

TEST_CASE("model_message: is a model, not a part of one") {
    STATIC_REQUIRE(stemma::detail::model_message<onnx::ModelProto>);
    STATIC_REQUIRE(stemma::detail::model_message<newer_onnx::ModelProto>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_message<onnx::GraphProto>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_message<onnx::FunctionProto>);
    STATIC_REQUIRE_FALSE(stemma::detail::model_message<std::string>);
}

TEST_CASE("proto_model: keeps its names when it is moved") {
    onnx::ModelProto proto;
    test::add_node(*proto.mutable_graph(), "A", "n", {"x"}, {"y"});
    stemma::proto_model model(proto);

    const auto moved = std::move(model);

    CHECK(moved.name(0) == "n");
    STATIC_REQUIRE_FALSE(std::is_copy_constructible_v<stemma::proto_model>);
}

TEST_CASE("proto_model: a graph without nodes is a model, a model without a graph is not") {
    onnx::ModelProto proto;
    CHECK_THROWS_AS(stemma::proto_model(proto), stemma::error);
    proto.mutable_graph();
    check_like_file(proto);
    CHECK(stemma::proto_model(proto).node_count() == 0);
}

TEST_CASE("proto_model: nests as deep as protobuf can write, and no deeper") {
    const auto deepest = nested(33);
    check_like_file(deepest);
    const auto deeper = nested(34);
    CHECK_THROWS_AS(stemma::proto_model(deeper), stemma::error);
}

using stemma::detail::message_outline;

namespace {

constexpr std::size_t size = std::size_t{1} << 20U;

std::string varied() {
    std::string data(size, '\7');
    data.back() = '\3';
    return data;
}

/// A model with an initializer of a mebibyte between two short ones.
onnx::ModelProto heavy_model(const std::string& data) {
    onnx::ModelProto model;
    auto& graph = *model.mutable_graph();
    for (const auto* name : {"first", "heavy", "last"}) {
        auto& tensor = *graph.add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(tensor.UINT8);
        tensor.add_dims(static_cast<std::int64_t>(size));
        tensor.set_raw_data(name == std::string("heavy") ? data : std::string("\1\2\3", 3));
    }
    test::add_node(graph, "Add", "sum", {"first", "heavy"}, {"y"});
    return model;
}

} // namespace

TEST_CASE("message_outline: has all bytes except those of long tensors") {
    for (const auto& path : test::model_files()) {
        auto model = test::load(path);
        for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
            tensor.clear_raw_data();
        }
        INFO(path);
        CHECK(message_outline(model).bytes() == test::bytes_of(model));
    }
    const auto newer = test::rare_model<newer_onnx::ModelProto>();
    CHECK(message_outline(newer).bytes() == test::bytes_of(newer));
}

TEST_CASE("message_outline: omits long data only") {
    const auto data = varied();
    const auto model = heavy_model(data);
    const message_outline outline(model);
    auto whole = test::bytes_of(model);
    REQUIRE(outline.bytes().size() == whole.size());
    const auto begin = whole.find(data);
    std::string expected(data.size(), '\0');
    expected[0] = 1;
    CHECK(outline.bytes() == whole.replace(begin, data.size(), expected));
}

TEST_CASE("message_outline: has all of long texts") {
    onnx::ModelProto model;
    auto& entry = *model.add_metadata_props();
    entry.set_key("pkg.stemma.graph");
    entry.set_value(std::string(100'000, 'v') + "end");
    model.set_doc_string(std::string(size, 'd') + "end");
    auto& node = *model.mutable_graph()->add_node();
    node.set_name(std::string(size, 'n') + "end");
    auto& attribute = *node.add_attribute();
    attribute.set_s(std::string(size, 's') + "end");
    attribute.mutable_t()->set_doc_string(std::string(size, 't') + "end");
    CHECK(message_outline(model).bytes() == test::bytes_of(model));
}

TEST_CASE("message_outline: distinguishes uniform data from other data") {
    for (const bool uniform : {true, false}) {
        const auto model = heavy_model(uniform ? std::string(size, '\7') : varied());
        const message_outline outline(model);
        const stemma::wire_model tables(outline.bytes());
        std::vector<bool> asked(tables.value_count(), true);
        const auto flags = tables.find_uniform(asked);
        CHECK(flags[tables.tensors()[1].value] == uniform);
        CHECK(stemma::read_tensor_header(tables, tables.tensors()[1]).dims ==
              std::vector<std::int64_t>{static_cast<std::int64_t>(size)});
    }
}

} // namespace test::proto_proto_model
