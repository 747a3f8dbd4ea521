// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_TRAINING_GRAPHS_HPP
#define STEMMA_ONNX_DETAIL_TRAINING_GRAPHS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Calls `f(wire_reader)` for the graphs in the training information of a model, which its tables
/// leave out. Throws: as `for_each_tensor`, for messages nested too deeply.
/// Complexity: O(fields of the model and of that).
template <class Function>
void for_each_training_graph(const wire_model& model, Function f) {
    using at = onnx_fields::training_info;
    auto fields = model.reader();
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(onnx_fields::model::training_info)) {
            continue;
        }
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(at::initialization) || part.is_bytes(at::algorithm)) {
                for_each_tensor(parts.inner(part), tensors_in::graph,
                                [](const wire_reader&) {}); // for the depth
                f(parts.inner(part));
            }
        }
    }
}

/// Returns: the values of the main graph that a training graph names, and so may read, ascending.
/// Complexity: O(bytes of training graphs + values); without these O(fields of the model).
[[nodiscard]] inline std::vector<id> values_in_training(const wire_model& model) {
    std::unordered_set<std::string_view> names;
    for_each_training_graph(model, [&](wire_reader graph) {
        for_each_value_name(graph, names_in::graph, [&](std::string_view name) {
            if (!name.empty()) {
                names.insert(name);
            }
        });
    });
    std::vector<id> values;
    for (id value = 0; !names.empty() && value < model.value_count(); ++value) {
        if (model.graph_of_value(value) == 0 && names.contains(model.value_name(value))) {
            values.push_back(value);
        }
    }
    return values;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_TRAINING_GRAPHS_HPP
