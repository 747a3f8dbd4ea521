// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_WEIGHT_SEARCH_HPP
#define STEMMA_WEIGHTS_DETAIL_WEIGHT_SEARCH_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/weights/detail/call_modules.hpp>
#include <stemma/weights/detail/make_values.hpp>
#include <stemma/weights/detail/slot_roles.hpp>
#include <stemma/weights/detail/state_entries.hpp>
#include <stemma/weights/detail/weight_uses.hpp>
#include <stemma/weights/parameter_origin.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// How the shape of an initializer relates to that of an entry.
struct shape_relation {
    parameter_origin::transform_kind transform = parameter_origin::transform_kind::none;
    std::vector<std::uint8_t> axes{}; ///< if transposed
};

/// Returns: the simplest relation, or `none`; the expected one for a square matrix. Complexity:
/// O(rank^2).
[[nodiscard]] inline shape_relation relate_shapes(std::span<const std::int64_t> entry,
                                                  std::span<const std::int64_t> dims,
                                                  bool expect_transposed) {
    const bool equal = std::equal(entry.begin(), entry.end(), dims.begin(), dims.end());
    const bool matrix = entry.size() == 2 && dims.size() == 2;
    if (equal && !(matrix && expect_transposed && dims[0] == dims[1])) {
        return {parameter_origin::transform_kind::as_is, {}};
    }
    if (matrix && entry[0] == dims[1] && entry[1] == dims[0]) {
        return {parameter_origin::transform_kind::transposed, {1, 0}};
    }
    if (count_of(entry) != count_of(dims)) {
        return {};
    }
    const auto wide = [](std::span<const std::int64_t> shape) {
        std::vector<std::int64_t> some(shape.begin(), shape.end());
        std::erase(some, 1);
        return some;
    };
    if (wide(entry) == wide(dims) || entry.size() != dims.size() || entry.size() > 8) {
        return {parameter_origin::transform_kind::reshaped, {}};
    }
    shape_relation result{parameter_origin::transform_kind::transposed, {}};
    std::vector<bool> used(entry.size(), false);
    for (const auto extent : dims) {
        std::size_t axis = 0;
        while (axis < entry.size() && (used[axis] || entry[axis] != extent)) {
            ++axis;
        }
        if (axis == entry.size()) {
            return {parameter_origin::transform_kind::reshaped, {}};
        }
        used[axis] = true;
        result.axes.push_back(static_cast<std::uint8_t>(axis));
    }
    return result;
}

/// Whether an exporter named a tensor after its value and type: `const_-3.4e+38_f32`.
/// Complexity: O(length).
[[nodiscard]] constexpr bool is_named_by_value(std::string_view name) noexcept {
    constexpr std::string_view prefix = "const_";
    const auto type = name.rfind('_');
    return name.starts_with(prefix) && type > prefix.size() &&
           std::string_view("-0123456789").find(name[prefix.size()]) != name.npos &&
           name.find('.', type) == name.npos;
}

/// The state of the search for entries of initializers.
class weight_search {
public:
    /// Requires: `opened` outlives it and keeps its evidence. Complexity: O(nodes + reads + fields
    /// of tensors).
    weight_search(const attributed_model& opened, state_entries searched)
        : model(opened.model())
        , modules(opened.modules())
        , attributions(opened.tags().attributions)
        , calls(opened)
        , entries(std::move(searched))
        , uses(collect_weight_uses(opened.model(), calls))
        , weights(model.tensors().size(), false)
        , origins(model.tensors().size())
        , claimed(entries.size(), false)
        , nodes_of(modules.size(), 0) {
        std::vector<bool> weight_values(model.value_count(), false);
        for (const auto& weight : find_weights(model)) {
            weight_values[weight.value] = true;
        }
        headers.reserve(model.tensors().size());
        for (std::size_t t = 0; t < model.tensors().size(); ++t) {
            const auto& tensor = model.tensors()[t];
            headers.push_back(read_tensor_header(model, tensor));
            weights[t] = !tensor.sparse && tensor.value != no_id && weight_values[tensor.value] &&
                         !is_named_by_value(name(t));
            origins[t].tensor = t;
            origins[t].module = module_of_uses(t);
        }
        for (id node = 0; node < model.node_count(); ++node) {
            calls.for_each(node, [&](id m) { ++nodes_of[m]; });
        }
    }

    [[nodiscard]] std::string_view name(std::size_t t) const {
        return model.text(model.tensors()[t].name);
    }

    [[nodiscard]] bool is_open(std::size_t t) const {
        return origins[t].basis == parameter_origin::basis_kind::none;
    }

    /// Whether an entry can be an initializer by type: the same, both floating-point, or quantized
    /// to integers.
    [[nodiscard]] bool fits_type(std::size_t t, id e) const {
        const auto stored = headers[t].data_type;
        const auto type = entries[e].data_type;
        return type == 0 || type == stored || (is_real_type(type) && is_real_type(stored)) ||
               (is_real_type(type) && is_narrow_type(stored));
    }

    /// Returns: how the shape of an initializer relates to that of an entry.
    [[nodiscard]] shape_relation relation(std::size_t t, id e, bool expect_transposed) const {
        const auto& shape = entries[e].shape;
        const bool complete =
            std::all_of(shape.begin(), shape.end(), [](auto n) { return n >= 0; });
        return complete && fits_type(t, e)
                   ? relate_shapes(shape, headers[t].dims, expect_transposed)
                   : shape_relation{};
    }

    /// Notes that an initializer is an entry.
    void settle(std::size_t t, id e, shape_relation how, parameter_origin::basis_kind basis,
                float confidence) {
        auto& origin = origins[t];
        origin.entries = {entries[e].name};
        origin.transform = how.transform;
        origin.axes = std::move(how.axes);
        note_type(t, e);
        settle(t, {&e, 1}, entries[e].owner, basis, confidence);
    }

    /// Notes the basis of an origin with entries and transform set, and claims these entries.
    void settle(std::size_t t, std::span<const id> taken, std::string_view owner,
                parameter_origin::basis_kind basis, float confidence) {
        auto& origin = origins[t];
        origin.basis = basis;
        origin.confidence = confidence;
        for (auto e : taken) {
            claimed[e] = true;
        }
        if (const auto m = find_module(module_lookup<module_tree>(modules), owner); m != no_id) {
            origin.module = m;
        }
    }

    /// Notes that an initializer has an origin, made from entries whose types agree.
    void settle(std::size_t t, parameter_origin found, std::span<const id> taken,
                std::string_view owner, parameter_origin::basis_kind basis, float confidence) {
        found.tensor = t;
        found.module = origins[t].module;
        origins[t] = std::move(found);
        note_type(t, taken.front());
        settle(t, taken, owner, basis, confidence);
    }

    /// Notes the type conversion of an entry.
    void note_type(std::size_t t, id e) {
        const auto stored = headers[t].data_type;
        const auto type = entries[e].data_type;
        origins[t].quantized = is_narrow_type(stored) && (type == 0 || is_real_type(type));
        origins[t].cast = !origins[t].quantized && type != 0 && type != stored;
    }

    /// Returns: the role of what a node reads; a Gemm reads it transposed, or as it was transposed
    /// before. Complexity: O(length of the table + fields of the node).
    [[nodiscard]] slot_role role(const weight_use& use) const {
        const auto type = model.op_type(use.node);
        auto role = role_of_slot(type, use.slot);
        if (use.slot == 1 && (type == "Gemm" || type == "FusedGemm")) {
            role.transposed = node_attributes(model, use.node).whole("transB").value_or(0) == 0;
        }
        return role;
    }

    [[nodiscard]] bool is_leaf(id m) const { return modules.index().is_leaf(m); }

    const wire_model& model;
    const module_tree& modules;
    std::span<const attribution> attributions; ///< by node
    call_modules calls;                        ///< what they are within functions
    state_entries entries;
    std::vector<std::vector<weight_use>> uses; ///< by initializer
    std::vector<tensor_header> headers;        ///< by initializer
    std::vector<bool> weights;                 ///< by initializer: whether it is a weight
    std::vector<parameter_origin> origins;     ///< by initializer: the result
    std::vector<bool> claimed;                 ///< by entry: whether an initializer has it
    std::vector<id> nodes_of;                  ///< by module: the number of its own nodes

private:
    [[nodiscard]] id module_of_uses(std::size_t t) const {
        id module = no_id;
        for (const auto& use : uses[t]) {
            module = module == no_id ? use.module : modules.index().lca(module, use.module);
        }
        return module == no_id ? 0 : module;
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_WEIGHT_SEARCH_HPP
