// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/detail/message_outline.hpp>

#include "../../catch.hpp"
#include "../models.hpp"

#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::proto_detail_message_outline {

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

} // namespace test::proto_detail_message_outline
