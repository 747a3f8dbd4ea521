// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_FIND_WEIGHTS_HPP
#define STEMMA_ONNX_DETAIL_FIND_WEIGHTS_HPP

#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/onnx/detail/input_roles.hpp>
#include <stemma/onnx/detail/stated_kinds.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/detail/value_roles.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/weight_kind.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A tensor in the file that is a weight, or belongs to one.
struct stored_weight {
    id value = no_id;                          ///< an initializer, or the output of a Constant
    weight_kind kind = weight_kind::parameter; ///< its purpose in the model
    std::int64_t data_type = 0;                ///< element type: a number in TensorProto.DataType
    std::uint64_t elements = 0;                ///< counting each of several packed into one
    std::uint64_t bytes = 0;                   ///< of its data
};

/// Returns: the kind of a tensor according to its readers, that of a Constant or `computed` by one
/// before; nothing if it is not a weight.
[[nodiscard]] inline std::optional<weight_kind> kind_of_weight(const value_roles& roles, id value,
                                                               std::string_view name,
                                                               const tensor_header& header,
                                                               bool computed) {
    const bool real = is_floating_type(header.data_type);
    const bool narrow = is_narrow_type(header.data_type);
    constexpr data_types wide([](std::int64_t type) {
        return data_type_name(type) == "int32" || data_type_name(type) == "uint32";
    });
    if (!roles.is_used(value) || (!real && !narrow && !wide.contain(header.data_type))) {
        return std::nullopt;
    }
    const auto taken_for = [&](input_role role) { return roles.taken_for(value, role); };
    if (taken_for(input_role::weight)) {
        return weight_kind::parameter;
    }
    if (taken_for(input_role::buffer)) {
        return weight_kind::buffer;
    }
    if (taken_for(input_role::scale)) {
        return weight_kind::scale;
    }
    if (taken_for(input_role::zero_point)) {
        return weight_kind::zero_point;
    }
    if (taken_for(input_role::index) ||
        (taken_for(input_role::setting) && owner_path(name).empty())) {
        return std::nullopt;
    }
    const bool alone = computed && header.elements() == 1; // a scalar of the computation
    const bool packed = narrow && bits_of_type(header.data_type) < 8;
    const bool foreign = narrow && header.dims.size() > 1 && roles.read_by_unknown(value);
    return !alone && (real || packed || foreign || taken_for(input_role::dequantized))
               ? std::optional(weight_kind::parameter)
               : std::nullopt;
}

/// Returns: the kind of a tensor that the file states to be a parameter, or none, and that its
/// readers take for `kind`.
[[nodiscard]] inline std::optional<weight_kind>
correct_kind(std::optional<weight_kind> kind, stated_kind stated, bool real) noexcept {
    if (stated == stated_kind::fixed && kind == weight_kind::parameter) {
        return weight_kind::buffer;
    }
    return stated == stated_kind::parameter && real &&
                   kind.value_or(weight_kind::buffer) == weight_kind::buffer
               ? weight_kind::parameter
               : kind;
}

/// Finds the weights of a model: parameters, and what is stored along with them. docs/formats.md
/// defines parameters; stemma uses no other definition.
///
/// Each tensor counts once, however many nodes read it; unread ones do not count. In file order:
/// initializers, then Constants. Complexity: O(nodes + reads + fields of tensors).
[[nodiscard]] inline std::vector<stored_weight> find_weights(const wire_model& model,
                                                             const input_roles& table = {}) {
    const value_roles roles(model, table);
    const stated_kinds stated(model);
    std::vector<stored_weight> weights;
    const auto may_be_weight = [&](id value) {
        return roles.is_used(value) && (!roles.is_only_index(value) || !stated.empty());
    };
    const auto add = [&](id value, const tensor_header& header, bool computed) {
        const auto name = model.value_name(value);
        const auto kind = correct_kind(kind_of_weight(roles, value, name, header, computed),
                                       stated.of(name), is_floating_type(header.data_type));
        if (!kind) {
            return;
        }
        stored_weight weight{value, *kind, header.data_type, header.elements(),
                             data_size(header).value_or(0)};
        const auto stored = bits_of_type(header.data_type);
        const auto packed = is_floating_type(header.data_type) ? 0 : roles.packed_bits(value);
        if (packed != 0 && packed < stored) {
            weight.elements *= stored / packed;
        }
        weights.push_back(weight);
    };
    // Messages are far apart in the file.
    constexpr std::size_t ahead = 32;
    const auto tensors = model.tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (i + ahead < tensors.size()) {
            prefetch(model.bytes().data() + tensors[i + ahead].message.begin);
        }
        if (const auto value = tensors[i].value; value != no_id && may_be_weight(value)) {
            add(value, read_tensor_header(model, tensors[i]),
                is_result_name(model.value_name(value)));
        }
    }
    std::vector<id> constants;
    for (id node = 0; node < model.node_count(); ++node) {
        if (roles.is_constant_node(node) && model.output_count(node) == 1 &&
            may_be_weight(model.first_output(node))) {
            constants.push_back(node);
        }
    }
    for (std::size_t i = 0; i < constants.size(); ++i) {
        if (i + ahead < constants.size()) {
            prefetch(model.bytes().data() + model.message(constants[i + ahead]).begin);
        }
        if (const auto header = read_constant_header(model, constants[i])) {
            add(model.first_output(constants[i]), *header, true);
        }
    }
    return weights;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_FIND_WEIGHTS_HPP
