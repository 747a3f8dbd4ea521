// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_GRAPH_EXTRAS_HPP
#define STEMMA_ONNX_DETAIL_GRAPH_EXTRAS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A TensorAnnotation: quantization parameters of a value, by the names of initializers.
struct tensor_annotation {
    message_ref message;                      ///< its position
    std::vector<std::string_view> parameters; ///< names of initializers: scale, zero point
};

/// Contents of a GraphProto besides nodes and values.
struct graph_extras {
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        fields; ///< [begin, end): name, docs, metadata
    std::unordered_map<std::string_view, tensor_annotation> annotations; ///< by value
    std::unordered_map<std::string_view, id> initializers; ///< by name; if there are annotations
};

/// Returns: the extras by graph of a model; empty for functions.
/// Complexity: O(fields of graphs other than nodes, values and tensors).
[[nodiscard]] inline std::vector<graph_extras> read_graph_extras(const wire_model& model) {
    using at = detail::onnx_fields::graph;
    using at_note = detail::onnx_fields::annotation;
    std::vector<graph_extras> result(model.graph_count());
    for (const auto& [field, g] : model.graph_fields()) {
        if (field.is_bytes(at::name) || field.is_bytes(at::doc_string) ||
            field.is_bytes(at::metadata_props)) {
            result[g].fields.emplace_back(field.begin, field.end);
        } else if (field.is_bytes(at::quantization_annotation)) {
            std::string_view value;
            tensor_annotation note{{field.content, field.size(), no_id}, {}};
            auto parts = model.reader(note.message);
            for (wire_field part; parts.next(part);) {
                if (part.is_bytes(at_note::tensor_name)) {
                    value = parts.text(part);
                } else if (part.is_bytes(at_note::parameters)) {
                    note.parameters.push_back(wire_model::read_entry(parts, part).second);
                }
            }
            result[g].annotations.emplace(value, std::move(note));
        }
    }
    for (id g = 0; g < model.graph_count(); ++g) {
        if (!result[g].annotations.empty()) {
            for (auto value : model.graph(g).initializers) {
                result[g].initializers.emplace(model.value_name(value), value);
            }
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_GRAPH_EXTRAS_HPP
