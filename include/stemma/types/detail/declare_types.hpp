// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_DECLARE_TYPES_HPP
#define STEMMA_TYPES_DETAIL_DECLARE_TYPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_text.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/value_types.hpp>

#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

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

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_DECLARE_TYPES_HPP
