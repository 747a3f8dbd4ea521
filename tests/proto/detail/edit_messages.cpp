// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/detail/edit_messages.hpp>

#include "../../catch.hpp"
#include "../models.hpp"

#include <stemma/proto/proto_model.hpp>

#include <cstddef>
#include <string>

namespace test::proto_detail_edit_messages {

namespace {

using stemma::id;

// Compares messages with the tables, and counts them.
template <class Tables>
struct comparing_editor {
    const Tables& tables;
    id nodes = 0;
    std::size_t tensors = 0;
    std::size_t infos = 0;
    std::size_t models = 0;

    template <class Node>
    void edit_node(id number, Node& node) {
        CHECK(number == nodes++);
        CHECK(&tables.node(number) == &node);
    }

    template <class Tensor>
    void edit_tensor(std::size_t number, Tensor& tensor) {
        CHECK(number == tensors++);
        CHECK(tables.value_name(tables.tensor_value(number)) == tensor.name());
    }

    template <class Info>
    void edit_value_info(std::size_t number, Info& info) {
        CHECK(number == infos++);
        const auto value = tables.value_info_value(number);
        if (value != stemma::no_id) {
            CHECK(tables.value_name(value) == name_of(info));
        }
    }

    template <class Model>
    void edit_model(Model& model) {
        ++models;
        CHECK(&tables.proto() == &model);
    }

    template <class Info>
    static std::string name_of(const Info& info) {
        return info.name();
    }
    static std::string name_of(const stemma::detail::unknown_value_info& info) {
        return info.fields.field(0).length_delimited();
    }
};

template <class Proto>
void check_numbers(Proto model) {
    const auto before = test::bytes_of(model);
    const stemma::proto_model<Proto> tables(model);
    comparing_editor<stemma::proto_model<Proto>> editor{tables};

    stemma::detail::edit_messages(model, editor);

    CHECK(editor.nodes == tables.node_count());
    CHECK(editor.tensors == tables.tensor_count());
    CHECK(editor.infos == tables.value_info_count());
    CHECK(editor.models == 1);
    CHECK(test::bytes_of(model) == before);
}

} // namespace

TEST_CASE("edit_messages: numbers messages as the tables do", "[onnx][edit_messages]") {
    check_numbers(test::rare_model<onnx::ModelProto>());
    check_numbers(test::rare_model<newer_onnx::ModelProto>());
    for (const auto& path : test::fixture_paths()) {
        INFO(path);
        check_numbers(test::load(path));
    }
}

TEST_CASE("edit_messages: a model without a graph stays without one", "[onnx][edit_messages]") {
    struct {
        int models = 0;
        void edit_node(id, onnx::NodeProto&) {}
        void edit_tensor(std::size_t, onnx::TensorProto&) {}
        void edit_value_info(std::size_t, onnx::ValueInfoProto&) {}
        void edit_value_info(std::size_t, stemma::detail::unknown_value_info&) {}
        void edit_model(onnx::ModelProto&) { ++models; }
    } editor;
    onnx::ModelProto model;

    stemma::detail::edit_messages(model, editor);

    CHECK(editor.models == 1);
    CHECK_FALSE(model.has_graph());
}

} // namespace test::proto_detail_edit_messages
