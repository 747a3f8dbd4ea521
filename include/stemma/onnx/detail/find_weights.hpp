// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_FIND_WEIGHTS_HPP
#define STEMMA_ONNX_DETAIL_FIND_WEIGHTS_HPP

#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/python_text.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/onnx/detail/input_roles.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
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
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What a file says a tensor is, if anything.
enum class stated_kind : std::uint8_t {
    none,
    parameter, ///< of a PyTorch module: learned
    fixed,     ///< a buffer of one, or a tensor that its code makes
};

/// Returns: the kind that torch.export calls by this name. Complexity: O(1).
[[nodiscard]] constexpr stated_kind exported_kind(std::string_view name) noexcept {
    return name == "PARAMETER"                             ? stated_kind::parameter
           : name == "BUFFER" || name == "CONSTANT_TENSOR" ? stated_kind::fixed
                                                           : stated_kind::none;
}

/// Calls `f(name, kind)` for every tensor in the text of a graph signature, which has a line
/// `b_mask: BUFFER target='mask'` for each, or is one Python expression with
/// `InputSpec(kind=<InputKind.BUFFER: 3>, arg=..., target='mask', ...)`. Complexity: O(length).
template <class Function>
void for_each_in_signature(std::string_view text, Function f) {
    constexpr std::string_view target = " target=";
    constexpr std::string_view input_kind = "InputKind.";
    std::string name;
    for (auto at = text.find(target); at != text.npos; at = text.find(target)) {
        auto before = text.substr(0, at);
        text.remove_prefix(at + target.size());
        if (const auto kind = before.rfind(input_kind); kind != before.npos) {
            before = before.substr(kind + input_kind.size());
            before = before.substr(0, before.find(':'));
        } else {
            before.remove_prefix(before.rfind(' ') + 1);
        }
        const auto kind = exported_kind(before);
        if (kind != stated_kind::none && read_python_string(text, name) > 0) {
            f(std::string_view(name), kind);
        }
    }
}

/// What torch's exporter says of a model's initializers: parameter or buffer.
class stated_kinds {
public:
    /// Complexity: O(fields of graphs, and of initializers and value infos with metadata).
    explicit stated_kinds(const wire_model& model) {
        using at = onnx_fields::graph;
        for (const auto& [field, g] : model.graph_fields()) {
            if (field.is_bytes(at::metadata_props)) {
                const auto [key, text] = wire_model::read_entry(
                    model.reader({field.content, field.size(), no_id}), field);
                if (key == "pkg.torch.export.ExportedProgram.graph_signature") {
                    for_each_in_signature(text, [&](std::string_view name, stated_kind kind) {
                        kinds_.insert_or_assign(std::string(name), kind);
                    });
                }
            }
        }
        model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
            if (const auto kind = exported_kind(text);
                kind != stated_kind::none &&
                key == "pkg.torch.export.graph_signature.InputSpec.kind") {
                kinds_.insert_or_assign(std::string(model.value_name(value)), kind);
            }
        });
    }

    /// Whether nothing is said of any tensor.
    [[nodiscard]] bool empty() const noexcept { return kinds_.empty(); }

    /// Returns: the kind of the tensor with this name. Complexity: O(length).
    [[nodiscard]] stated_kind of(std::string_view name) const {
        if (empty()) {
            return stated_kind::none;
        }
        const auto kind = kinds_.find(std::string(name));
        return kind == kinds_.end() ? stated_kind::none : kind->second;
    }

private:
    std::unordered_map<std::string, stated_kind> kinds_; // by name
};

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
