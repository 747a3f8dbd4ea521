// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_DETAIL_EDIT_MESSAGES_HPP
#define STEMMA_PROTO_DETAIL_EDIT_MESSAGES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/proto/detail/metadata_props.hpp>

#include <cstddef>
#include <string>

namespace stemma::inline STEMMA_ABI::detail {

/// Iterates over the messages of a model in the numbering of its `proto_model`.
template <class Editor>
class message_walk {
public:
    explicit message_walk(Editor& editor) : editor_(editor) {}

    template <class Graph>
    void graph(Graph& graph) {
        for (auto& node : *graph.mutable_node()) {
            walk_node(node);
        }
        for (auto& tensor : *graph.mutable_initializer()) {
            editor_.edit_tensor(tensor_++, tensor);
        }
        for (auto* infos :
             {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
            for (auto& info : *infos) {
                editor_.edit_value_info(info_++, info);
            }
        }
        for (auto& sparse : *graph.mutable_sparse_initializer()) {
            if (sparse.has_values()) {
                editor_.edit_tensor(tensor_++, *sparse.mutable_values());
            }
        }
    }

    template <class Function>
    void function(Function& function) {
        for (auto& node : *function.mutable_node()) {
            walk_node(node);
        }
        if constexpr (requires { function.mutable_value_info(); }) {
            for (auto& info : *function.mutable_value_info()) {
                editor_.edit_value_info(info_++, info);
            }
        } else {
            unknown_infos(function);
        }
    }

private:
    template <class Node>
    void walk_node(Node& node) {
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g()) {
                graph(*attribute.mutable_g());
            }
            for (auto& body : *attribute.mutable_graphs()) {
                graph(body);
            }
        }
        editor_.edit_node(node_++, node);
    }

    template <class Function>
    void unknown_infos(Function& function) {
        if (unknown_fields(function).empty()) {
            return;
        }
        auto& fields = mutable_unknown_fields(function);
        for (int i = 0; i < fields.field_count(); ++i) {
            if (!is_bytes(fields.field(i), onnx_fields::function::value_info)) {
                continue;
            }
            auto& bytes = *fields.mutable_field(i)->mutable_length_delimited();
            unknown_value_info info;
            if (!info.fields.ParseFromString(bytes)) {
                read_message(bytes).fail(0, "a value info is not a message");
            }
            editor_.edit_value_info(info_++, info);
            static_cast<void>(info.fields.SerializeToString(&bytes));
        }
    }

    Editor& editor_;
    id node_ = 0;
    std::size_t tensor_ = 0;
    std::size_t info_ = 0;
};

/// Passes all messages of a model that carry tags to an editor: `edit_node(number, message)`,
/// `edit_tensor(i, message)` and `edit_value_info(i, message)`, numbered as in its `proto_model`,
/// and finally `edit_model(message)`. A value info may come as an `unknown_value_info`.
///
/// Throws: what the editor throws.
/// Complexity: O(messages), and that of the editor.
template <class Proto, class Editor>
void edit_messages(Proto& model, Editor& editor) {
    detail::message_walk<Editor> walk(editor);
    if (model.has_graph()) {
        walk.graph(*model.mutable_graph());
    }
    for (auto& function : *model.mutable_functions()) {
        walk.function(function);
    }
    editor.edit_model(model);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_PROTO_DETAIL_EDIT_MESSAGES_HPP
