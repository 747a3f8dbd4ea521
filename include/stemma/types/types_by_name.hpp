// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_TYPES_BY_NAME_HPP
#define STEMMA_TYPES_TYPES_BY_NAME_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/splices.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Removes the data of large initializers. A `model_editor`.
class weight_remover {
public:
    weight_remover(const wire_model& model, std::uint32_t most) : model_(&model), most_(most) {}

    void edit_node(id, message_edits&) const {}
    void edit_value_info(const value_info_ref&, message_edits&) const {}
    void edit_model(message_edits&) const {}

    void edit_tensor(const tensor_ref& tensor, message_edits& edits) const {
        auto fields = model_->reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::tensor::raw_data) && field.size() > most_) {
                edits.remove(field.begin, field.end);
            }
        }
    }

private:
    const wire_model* model_;
    std::uint32_t most_;
};

/// Returns: the bytes of a model without the data of initializers above that size: just what type
/// inference needs.
/// Throws, Complexity: as `rewrite`.
[[nodiscard]] inline std::string without_weights(const wire_model& model,
                                                 std::uint32_t most = 4096) {
    weight_remover editor(model, most);
    rewrite plan(model, editor);
    string_splice light(model.bytes());
    plan.write(light);
    return std::move(light.text);
}

/// Returns: fields to append to the bytes of a model, so that it also declares the added types of
/// what the main graph's nodes make. Its outputs keep their own declarations.
/// Complexity: O(values + length of types and names).
[[nodiscard]] inline std::string declare_types(const wire_model& model, const value_types& types) {
    std::vector<bool> is_output(model.value_count(), false);
    for (auto value : model.graph(0).outputs) {
        if (value != no_id) {
            is_output[value] = true;
        }
    }
    std::string infos;
    for (id value = 0; value < model.value_count(); ++value) {
        if (model.producer(value) == no_id || model.graph_of_value(value) != 0 ||
            is_output[value] || types.declaration(value)) {
            continue;
        }
        if (const auto type = types.type_of(value)) {
            std::string info;
            append_field(onnx_fields::value_info::name, model.value_name(value), info);
            append_field(onnx_fields::value_info::type, *type, info);
            append_field(onnx_fields::graph::value_info, info, infos);
        }
    }
    std::string graph; // protobuf merges it with the one before
    if (!infos.empty()) {
        append_field(onnx_fields::model::graph, infos, graph);
    }
    return graph;
}

} // namespace detail

/// What inference with the ONNX library is given, and adds: types of values identified by graph and
/// name.
class types_by_name {
public:
    /// Requires: both outlive this. Complexity: O(values * log values).
    types_by_name(const wire_model& model, value_types& types) : model_(&model), types_(&types) {
        for (id value = 0; value < model.value_count(); ++value) {
            values_.emplace(std::pair(model.graph_of_value(value), model.value_name(value)), value);
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            if (model.graph(g).kind != graph_kind::function) {
                graphs_.push_back(g);
            }
        }
    }

    /// Returns: the bytes of the model for inference: without large weights, and with the types
    /// that stemma infers, which are added: where the library's own rules stop, it goes on from
    /// these. Throws: `error` of `error_code::too_large` if that would reach 2 GiB. Complexity:
    /// O(nodes + values + bytes without weights).
    [[nodiscard]] std::string model_to_infer() {
        detail::infer_shapes(*model_, *types_);
        return detail::without_weights(*model_) + detail::declare_types(*model_, *types_);
    }

    /// Adds a type, the bytes of a TypeProto. `graph` counts graphs other than functions; unknown
    /// values are skipped.
    /// Complexity: O(log values + length).
    void add(std::size_t graph, std::string_view name, std::string_view type) {
        if (graph >= graphs_.size()) {
            return;
        }
        if (const auto entry = values_.find({graphs_[graph], name}); entry != values_.end()) {
            types_->add(entry->second, std::string(type));
        }
    }

private:
    const wire_model* model_;
    value_types* types_;
    std::map<std::pair<id, std::string_view>, id> values_;
    std::vector<id> graphs_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_TYPES_BY_NAME_HPP
