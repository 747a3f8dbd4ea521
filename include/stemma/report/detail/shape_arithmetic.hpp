// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_SHAPE_ARITHMETIC_HPP
#define STEMMA_REPORT_DETAIL_SHAPE_ARITHMETIC_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Operators for shape arithmetic, sorted.
inline constexpr std::array<std::string_view, 38> shape_operators{"Abs",
                                                                  "Add",
                                                                  "And",
                                                                  "Cast",
                                                                  "CastLike",
                                                                  "Ceil",
                                                                  "Concat",
                                                                  "Constant",
                                                                  "ConstantOfShape",
                                                                  "Div",
                                                                  "Equal",
                                                                  "Expand",
                                                                  "Floor",
                                                                  "Gather",
                                                                  "Greater",
                                                                  "GreaterOrEqual",
                                                                  "Identity",
                                                                  "Less",
                                                                  "LessOrEqual",
                                                                  "Max",
                                                                  "Min",
                                                                  "Mod",
                                                                  "Mul",
                                                                  "Neg",
                                                                  "Not",
                                                                  "Or",
                                                                  "Range",
                                                                  "ReduceMax",
                                                                  "ReduceMin",
                                                                  "ReduceProd",
                                                                  "ReduceSum",
                                                                  "Reshape",
                                                                  "Slice",
                                                                  "Squeeze",
                                                                  "Sub",
                                                                  "Unsqueeze",
                                                                  "Where",
                                                                  "Xor"};

static_assert(std::is_sorted(shape_operators.begin(), shape_operators.end()));

/// Returns: by node, whether it is shape arithmetic: a Shape or Size, or one of `shape_operators`
/// that reads only results of such nodes and small weights, and does not produce an output of its
/// graph.
/// Complexity: O(nodes + reads + values).
[[nodiscard]] inline std::vector<bool> find_shape_arithmetic(const wire_model& model) {
    constexpr std::uint64_t most_elements = 16; // of a weight used as index, shape or padding
    std::vector<bool> small(model.value_count(), false); // may be read by such nodes
    const auto tensors = model.tensors();
    for (const auto& tensor : tensors) {
        if (tensor.value != no_id) {
            const auto header = read_value_header(model, tensor);
            small[tensor.value] = header.dims.size() <= 1 && header.elements() <= most_elements;
        }
    }
    std::vector<bool> leaves(model.value_count(), false);
    for (id g = 0; g < model.graph_count(); ++g) {
        for (auto value : model.graph(g).outputs) {
            if (value != no_id) {
                leaves[value] = true;
            }
        }
    }
    enum class part : std::uint8_t { other, source, step };
    std::vector<part> parts;
    for (id op = 0; op < model.operator_count(); ++op) {
        const auto type = model.operator_type(op);
        const bool standard =
            model.operator_domain(op).empty() && model.operator_callee(op) == no_id;
        parts.push_back(!standard                           ? part::other
                        : type == "Shape" || type == "Size" ? part::source
                        : std::binary_search(shape_operators.begin(), shape_operators.end(), type)
                            ? part::step
                            : part::other);
    }
    std::vector<bool> quiet(model.node_count(), false);
    for (id node = 0; node < model.node_count(); ++node) { // in topological order
        const auto what = parts[model.operator_id(node)];
        bool fits = what == part::source;
        if (what == part::step) {
            const auto inputs = model.inputs(node);
            fits = std::all_of(inputs.begin(), inputs.end(),
                               [&](id value) { return value == no_id || small[value]; });
        }
        const auto outputs = model.outputs(node);
        fits = fits && std::none_of(outputs.begin(), outputs.end(),
                                    [&](id value) { return bool{leaves[value]}; });
        for (auto value : outputs) {
            small[value] = fits;
        }
        quiet[node] = fits;
    }
    return quiet;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_SHAPE_ARITHMETIC_HPP
