// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_FIND_WEIGHTS_HPP
#define STEMMA_ONNX_FIND_WEIGHTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/stated_kinds.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/input_roles.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The purpose of a stored tensor in the model.
enum class weight_kind : std::uint8_t {
    parameter,  ///< what training learns: kernels, matrices, biases, lookup tables
    buffer,     ///< what it does not: running statistics, masks, initial states, position tables
    scale,      ///< of quantized values
    zero_point, ///< of quantized values
};

/// Returns: `parameter`, `buffer`, `scale` or `zero_point`.
[[nodiscard]] constexpr std::string_view to_string(weight_kind kind) noexcept {
    constexpr std::array<std::string_view, 4> names{"parameter", "buffer", "scale", "zero_point"};
    return names[static_cast<std::size_t>(kind)];
}

/// A tensor in the file that is a weight, or belongs to one.
struct stored_weight {
    id value = no_id;                          ///< an initializer, or the output of a Constant
    weight_kind kind = weight_kind::parameter; ///< its purpose in the model
    std::int64_t data_type = 0;                ///< element type: a number in TensorProto.DataType
    std::uint64_t elements = 0;                ///< counting each of several packed into one
    std::uint64_t bytes = 0;                   ///< of its data
};

namespace detail {

/// The roles in which each value is used by its readers, including those behind operators and calls
/// that pass it on.
class value_roles {
public:
    /// Requires: `model` and `table` outlive this.
    /// Complexity: O(nodes + reads).
    value_roles(const wire_model& model, const input_roles& table)
        : model_(model), taken_(model.value_count(), 0), packer_(model.value_count(), no_id) {
        for (id op = 0; op < model.operator_count(); ++op) {
            rows_.push_back(model.operator_callee(op) != no_id
                                ? nullptr
                                : table.find(model.operator_domain(op), model.operator_type(op)));
        }
        find_constants();
        list_calls();
        for (id node = 0; node < model.node_count(); ++node) {
            read(node);
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            for (auto value : model.graph(g).outputs) {
                if (value != no_id) {
                    taken_[value] |= used;
                }
            }
        }
        while (!open_.empty()) {
            const auto value = open_.back();
            open_.pop_back();
            pass_on(value);
        }
    }

    /// Whether some reader of a value uses it in that role. Complexity: O(1).
    [[nodiscard]] bool taken_for(id value, input_role role) const noexcept {
        return (taken_[value] & bit(role)) != 0;
    }

    /// Whether a value is read or returned. Complexity: O(1).
    [[nodiscard]] bool is_used(id value) const noexcept { return (taken_[value] & used) != 0; }

    /// Whether the value is read by an operator that is neither standard nor listed.
    [[nodiscard]] bool read_by_unknown(id value) const noexcept {
        return (taken_[value] & unknown) != 0;
    }

    /// Returns: the number of bits of the elements packed into each of a value's, according to the
    /// first reader that unpacks them; 0 if none does. Complexity: O(fields of the node).
    [[nodiscard]] unsigned packed_bits(id value) const {
        if (packer_[value] == no_id) {
            return 0;
        }
        const auto& row = *row_of(packer_[value]);
        const auto bits = node_attributes(model_, packer_[value]).whole(row.bits_attribute);
        return bits && *bits > 0 && *bits <= 64 ? static_cast<unsigned>(*bits) : row.bits;
    }

private:
    using roles = std::uint16_t;
    static constexpr roles used = 1U << 14U;
    static constexpr roles unknown = 1U << 15U;

    [[nodiscard]] static constexpr roles bit(input_role role) noexcept {
        return static_cast<roles>(1U << static_cast<unsigned>(role));
    }

    [[nodiscard]] const operator_roles* row_of(id node) const {
        return rows_[model_.operator_id(node)];
    }

    [[nodiscard]] static bool moves(input_role role) noexcept {
        return role == input_role::moved || role == input_role::dequantized;
    }

    /// Calls `f(value)` for what a node moves into its results.
    template <class Function>
    void for_each_moved(id node, Function f) const {
        const auto* row = row_of(node);
        const auto inputs = model_.inputs(node);
        for (std::size_t slot = 0; row != nullptr && slot < inputs.size(); ++slot) {
            if (inputs[slot] != no_id && moves(row->input(slot))) {
                f(inputs[slot], row->input(slot));
            }
        }
    }

    /// Finds the nodes that move only constants: the readers of their results determine what those
    /// are. An unknown function's input may be one if it is the only input.
    void find_constants() {
        constant_.assign(model_.value_count(), 0);
        for (id value = 0; value < model_.value_count(); ++value) {
            const bool formal =
                model_.kind(value) == value_kind::formal &&
                model_.graph(model_.graph_of_value(value)).kind == graph_kind::function;
            constant_[value] = model_.is_initializer(value) ? 2 : formal ? 1 : 0;
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            std::uint8_t least = 2;
            std::size_t count = 0;
            for_each_moved(node, [&](id value, input_role) {
                least = std::min(least, constant_[value]);
                ++count;
            });
            const bool constant = is_constant_node(model_, node);
            const bool keeps = count > 0 && (least == 2 || (least == 1 && count == 1));
            for (id i = 0; (constant || keeps) && i < model_.output_count(node); ++i) {
                constant_[model_.first_output(node) + i] = constant ? 2 : least;
            }
        }
    }

    /// Lists what calls pass to each formal input of a function.
    void list_calls() {
        for (id node = 0; node < model_.node_count(); ++node) {
            if (const auto f = model_.callee(node); f != no_id) {
                const auto& formals = model_.graph(model_.functions()[f].graph).inputs;
                const auto inputs = model_.inputs(node);
                for (std::size_t i = 0; i < std::min(formals.size(), inputs.size()); ++i) {
                    if (formals[i] != no_id && inputs[i] != no_id) {
                        given_.emplace_back(formals[i], inputs[i]);
                    }
                }
            }
        }
        std::sort(given_.begin(), given_.end());
    }

    void take(id value, roles more, id packer) {
        const bool packs = packer != no_id && packer_[value] == no_id;
        if (packs) {
            packer_[value] = packer;
        }
        if (const auto all = static_cast<roles>(taken_[value] | more);
            packs || all != taken_[value]) {
            taken_[value] = all;
            open_.push_back(value);
        }
    }

    void read(id node) {
        const auto* row = row_of(node);
        const auto inputs = model_.inputs(node);
        bool scales = false;
        for (auto value : inputs) {
            if (value != no_id) {
                taken_[value] |= used;
                scales = scales || is_made_scale(value);
            }
        }
        if (row == nullptr && model_.callee(node) != no_id) {
            return; // determined by the body
        }
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            const auto value = inputs[slot];
            auto role = row == nullptr ? input_role::operand : row->input(slot);
            if (value == no_id || role == input_role::moved) {
                continue;
            }
            if (role == input_role::factor && scales) {
                role = input_role::scale;
            }
            const bool packs = row != nullptr && row->bits != 0 &&
                               (role == input_role::weight || role == input_role::zero_point);
            const bool odd = row == nullptr && !model_.domain(node).empty();
            take(value, static_cast<roles>(bit(role) | (odd ? unknown : 0U)), packs ? node : no_id);
        }
    }

    [[nodiscard]] bool is_made_scale(id value) const {
        const auto producer = model_.producer(value);
        const auto* row = producer == no_id ? nullptr : row_of(producer);
        return row != nullptr &&
               row->output(value - model_.first_output(producer)) == input_role::scale;
    }

    /// Propagates a value's roles to the values it is made from.
    void pass_on(id value) {
        if (const auto producer = model_.producer(value);
            producer != no_id && constant_[value] != 0) {
            for_each_moved(producer,
                           [&](id from, input_role) { take(from, taken_[value], packer_[value]); });
        }
        for (auto call = std::lower_bound(given_.begin(), given_.end(), std::pair(value, id{0}));
             call != given_.end() && call->first == value; ++call) {
            take(call->second, taken_[value], packer_[value]);
        }
    }

    const wire_model& model_;
    std::vector<const operator_roles*> rows_; // by number of the operator
    std::vector<roles> taken_;                // by value
    std::vector<id> packer_;                  // by value: a node that unpacks it
    std::vector<std::uint8_t> constant_;      // by value: 2 certainly, 1 possibly
    std::vector<std::pair<id, id>> given_;    // formal input of a function, argument of a call
    std::vector<id> open_;                    // values with roles not yet propagated
};

/// Whether an integer type is narrow enough to represent real numbers: at most 16 bits.
[[nodiscard]] constexpr bool is_narrow_type(std::int64_t data_type) noexcept {
    const auto name = data_type_name(data_type);
    return (name.starts_with("int") || name.starts_with("uint")) && bits_of_type(data_type) <= 16;
}

/// Returns: the kind of a tensor according to its readers, that of a Constant or `computed` by one
/// before; nothing if it is not a weight.
[[nodiscard]] inline std::optional<weight_kind> kind_of_weight(const value_roles& roles, id value,
                                                               std::string_view name,
                                                               const tensor_header& header,
                                                               bool computed) {
    const auto type = data_type_name(header.data_type);
    const bool real = is_floating_type(header.data_type);
    const bool narrow = is_narrow_type(header.data_type);
    const bool wide = type == "int32" || type == "uint32";
    if (!roles.is_used(value) || (!real && !narrow && !wide)) {
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

} // namespace detail

/// Finds the weights of a model: parameters, and what is stored along with them. docs/formats.md
/// defines parameters; stemma uses no other definition.
///
/// Each tensor counts once, however many nodes read it; unread ones do not count. In file order:
/// initializers, then Constants. Complexity: O(nodes + reads + fields of tensors).
[[nodiscard]] inline std::vector<stored_weight> find_weights(const wire_model& model,
                                                             const input_roles& table = {}) {
    const detail::value_roles roles(model, table);
    const detail::stated_kinds stated(model);
    std::vector<stored_weight> weights;
    const auto add = [&](id value, const tensor_header& header, bool computed) {
        const auto name = model.value_name(value);
        const auto kind =
            detail::correct_kind(detail::kind_of_weight(roles, value, name, header, computed),
                                 stated.of(name), detail::is_floating_type(header.data_type));
        if (!kind || !roles.is_used(value)) {
            return;
        }
        stored_weight weight{value, *kind, header.data_type, header.elements(),
                             detail::data_size(header).value_or(0)};
        const auto stored = detail::bits_of_type(header.data_type);
        const auto packed =
            detail::is_floating_type(header.data_type) ? 0 : roles.packed_bits(value);
        if (packed != 0 && packed < stored) {
            weight.elements *= stored / packed;
        }
        weights.push_back(weight);
    };
    for (const auto& tensor : model.tensors()) {
        if (tensor.value != no_id) {
            add(tensor.value, read_tensor_header(model, tensor),
                detail::is_result_name(model.value_name(tensor.value)));
        }
    }
    for (id node = 0; node < model.node_count(); ++node) {
        if (detail::is_constant_node(model, node) && model.output_count(node) == 1) {
            if (const auto tensor = model.constant_tensor(node)) {
                add(model.first_output(node), read_tensor_header(model.reader(*tensor)), true);
            }
        }
    }
    return weights;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_FIND_WEIGHTS_HPP
