// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_VALUE_ROLES_HPP
#define STEMMA_ONNX_DETAIL_VALUE_ROLES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/call_arguments.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/input_roles.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The roles in which each value is used by its readers, including those behind operators and calls
/// that pass it on.
class value_roles {
public:
    /// Requires: `model` and `table` outlive this.
    /// Complexity: O(nodes + reads).
    value_roles(const wire_model& model, const input_roles& table)
        : model_(model)
        , taken_(model.value_count(), 0)
        , packer_(model.value_count(), no_id)
        , given_(model) {
        for (id op = 0; op < model.operator_count(); ++op) {
            operators_.push_back(look_up(op, table));
            any_makes_scales_ = any_makes_scales_ || operators_.back().makes_scales;
        }
        find_constants();
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

    /// Whether readers use a value as an index, and none as a weight or with one: it is none then.
    [[nodiscard]] bool is_only_index(id value) const noexcept {
        const auto of_weights = bit(input_role::weight) | bit(input_role::buffer) |
                                bit(input_role::scale) | bit(input_role::zero_point);
        return taken_for(value, input_role::index) && (taken_[value] & of_weights) == 0;
    }

    /// Whether a node is a standard Constant. Complexity: O(1).
    [[nodiscard]] bool is_constant_node(id node) const noexcept { return use_by(node).is_constant; }

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

    /// What is known about an operator, without reading the letters of its entry again.
    struct operator_use {
        const operator_roles* row = nullptr; ///< its entry; null if it is not listed
        bool is_constant = false;            ///< a standard Constant
        bool may_move = false; ///< its results may be inputs passed on, also by dequantizing them
        bool scales = false;   ///< has factors
        bool makes_scales = false; ///< some output is a scale
        bool is_unknown = false;   ///< neither standard nor listed
    };

    [[nodiscard]] operator_use look_up(id op, const input_roles& table) const {
        const auto domain = model_.operator_domain(op);
        const auto type = model_.operator_type(op);
        operator_use use;
        use.row = model_.operator_callee(op) != no_id ? nullptr : table.find(domain, type);
        use.is_constant = is_constant_operator(model_, op);
        if (use.row == nullptr) {
            use.is_unknown = !domain.empty();
            return use;
        }
        for (std::size_t slot = 0; slot < use.row->inputs.size(); ++slot) {
            const auto role = use.row->input(slot);
            use.may_move = use.may_move || moves(role) || role == input_role::factor ||
                           role == input_role::difference;
            use.scales = use.scales || role == input_role::factor;
        }
        for (std::size_t slot = 0; slot < use.row->outputs.size(); ++slot) {
            use.makes_scales = use.makes_scales || use.row->output(slot) == input_role::scale;
        }
        return use;
    }

    [[nodiscard]] const operator_use& use_by(id node) const {
        return operators_[model_.operator_id(node)];
    }

    [[nodiscard]] const operator_roles* row_of(id node) const { return use_by(node).row; }

    [[nodiscard]] static bool moves(input_role role) noexcept {
        return role == input_role::moved || role == input_role::dequantized;
    }

    /// Returns: the role of an input, which the others may decide. Complexity: O(1), expected.
    [[nodiscard]] input_role role_of(id node, const operator_roles& row, std::size_t slot) const {
        const auto role = row.input(slot);
        const auto entry = quantized_.empty() ? quantized_.end() : quantized_.find(node);
        if (entry == quantized_.end()) {
            return role;
        }
        const auto& [quantized, sure] = entry->second;
        return slot == quantized ? (sure ? input_role::dequantized : input_role::moved)
               : role == input_role::difference ? input_role::zero_point
                                                : input_role::scale;
    }

    /// What a node without that name dequantizes. A mask may be multiplied by a single number, too:
    /// then it takes a reader that uses the product as a weight.
    struct dequantization {
        std::size_t slot = 0;
        bool sure = true;
    };

    /// Notes a node that multiplies a constant of narrow integers by its scale, or subtracts its
    /// zero point, instead of a DequantizeLinear. Complexity: that of `integers_in`.
    void note_quantized(id node) {
        const auto* row = row_of(node);
        const auto inputs = model_.inputs(node);
        if (row == nullptr || inputs.size() != 2 || !is_constant(inputs[0]) ||
            !is_constant(inputs[1])) {
            return;
        }
        const auto role = row->input(0);
        if (role != input_role::difference && role != input_role::factor) {
            return;
        }
        const bool first = integers_in(inputs[0]) != integers::none;
        if (role == input_role::difference && first) {
            quantized_.emplace(node, dequantization{0, true});
        } else if (role == input_role::factor &&
                   first != (integers_in(inputs[1]) != integers::none)) {
            quantized_.emplace(node,
                               dequantization{first ? 0U : 1U, !is_scalar(inputs[first ? 1 : 0])});
        }
    }

    /// Whether a constant is stored as a single number. Requires: a call of `integers_in`.
    [[nodiscard]] bool is_scalar(id value) const {
        const auto node = model_.producer(value);
        const auto header = node != no_id && is_constant_node(node)
                                ? read_constant_header(model_, node)
                                : std::nullopt;
        return node == no_id ? scalar_[value] : header && header->elements() == 1;
    }

    [[nodiscard]] bool is_constant(id value) const noexcept {
        return value != no_id && constant_[value] == 2;
    }

    /// What a constant is made from, as far as narrow integers are concerned.
    enum class integers : std::uint8_t { unknown, none, unscaled, scaled };

    /// Returns: whether a constant is made from narrow integers, and multiplied by their scale.
    /// Complexity: O(nodes that made it), once for each; the first call O(values + fields of
    /// initializers).
    [[nodiscard]] integers integers_in(id value) {
        const auto of_type = [](std::int64_t type) {
            return is_narrow_type(type) ? integers::unscaled : integers::none;
        };
        if (integers_.empty()) {
            integers_.resize(model_.value_count());
            scalar_.resize(model_.value_count());
            for (const auto& tensor : model_.tensors()) {
                if (tensor.value != no_id) {
                    const auto header = read_tensor_header(model_, tensor);
                    integers_[tensor.value] = of_type(header.data_type);
                    scalar_[tensor.value] = header.elements() == 1;
                }
            }
        }
        std::vector<id> made; // from one tensor, the last first
        while (integers_[value] == integers::unknown) {
            made.push_back(value);
            const auto node = model_.producer(value);
            auto from = no_id;
            if (node == no_id) {
                integers_[value] = integers::none;
            } else if (is_constant_node(node)) {
                const auto header = read_constant_header(model_, node);
                integers_[value] = header ? of_type(header->data_type) : integers::none;
            } else {
                for_each_moved(node, [&](id one) { from = from == no_id ? one : from; });
                integers_[value] = from == no_id ? integers::none : integers::unknown;
            }
            value = from == no_id ? value : from;
        }
        auto in = integers_[value];
        for (auto it = made.rbegin(); it != made.rend(); ++it) {
            const auto node = model_.producer(*it);
            const bool scales = node != no_id && quantized_.count(node) != 0 &&
                                row_of(node)->input(0) == input_role::factor;
            in = in == integers::unscaled && scales ? integers::scaled : in;
            integers_[*it] = in;
        }
        return in;
    }

    /// Whether a value is the product of a weight of narrow integers that nothing has scaled.
    /// Complexity: that of `integers_in`.
    [[nodiscard]] bool is_unscaled_product(id value) {
        const auto producer = model_.producer(value);
        const auto* row = producer == no_id ? nullptr : row_of(producer);
        if (row == nullptr) {
            return false;
        }
        bool unscaled = false;
        const auto inputs = model_.inputs(producer);
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            if (row->input(slot) == input_role::scale) {
                return false;
            }
            unscaled =
                unscaled || (row->input(slot) == input_role::weight && is_constant(inputs[slot]) &&
                             integers_in(inputs[slot]) == integers::unscaled);
        }
        return unscaled;
    }

    /// Calls `f(value)` for what a node moves into its results.
    template <class Function>
    void for_each_moved(id node, Function f) const {
        const auto* row = row_of(node);
        const auto inputs = model_.inputs(node);
        for (std::size_t slot = 0; row != nullptr && slot < inputs.size(); ++slot) {
            if (inputs[slot] != no_id && moves(role_of(node, *row, slot))) {
                f(inputs[slot]);
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
            const auto& use = use_by(node);
            std::uint8_t least = 2;
            std::size_t count = 0;
            if (use.may_move) {
                note_quantized(node);
                for_each_moved(node, [&](id value) {
                    least = std::min(least, constant_[value]);
                    ++count;
                });
            }
            const bool keeps = count > 0 && (least == 2 || (least == 1 && count == 1));
            for (id i = 0; (use.is_constant || keeps) && i < model_.output_count(node); ++i) {
                constant_[model_.first_output(node) + i] = use.is_constant ? 2 : least;
            }
        }
    }

    void take(id value, roles more, id packer) {
        const bool packs = packer != no_id && packer_[value] == no_id;
        if (packs) {
            packer_[value] = packer;
        }
        if (const auto all = static_cast<roles>(taken_[value] | more);
            packs || all != taken_[value]) {
            taken_[value] = all;
            if (constant_[value] != 0 || !given_.empty()) {
                open_.push_back(value);
            }
        }
    }

    void read(id node) {
        const auto& use = use_by(node);
        const auto inputs = model_.inputs(node);
        const bool calls = use.row == nullptr && model_.callee(node) != no_id;
        bool scales = false;
        for (auto value : inputs) {
            if (value != no_id) {
                taken_[value] |= used;
                scales = scales || (use.scales && is_scaled_by(*use.row, value));
            }
        }
        for (std::size_t slot = 0; !calls && slot < inputs.size(); ++slot) { // else the body says
            const auto value = inputs[slot];
            auto role = use.row == nullptr ? input_role::operand : role_of(node, *use.row, slot);
            if (value == no_id || role == input_role::moved) {
                continue;
            }
            if (role == input_role::factor && scales) {
                role = input_role::scale;
            }
            const bool packs = use.row != nullptr && use.row->bits != 0 &&
                               (role == input_role::weight || role == input_role::zero_point);
            take(value, static_cast<roles>(bit(role) | (use.is_unknown ? unknown : 0U)),
                 packs ? node : no_id);
        }
    }

    /// Whether other factors beside this one are scales.
    [[nodiscard]] bool is_scaled_by(const operator_roles& row, id value) {
        value = given_.behind(value);
        return value != no_id &&
               ((any_makes_scales_ && is_made_scale(value)) ||
                (row.input(0) == input_role::factor && is_unscaled_product(value)));
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
            for_each_moved(producer, [&](id from) { take(from, taken_[value], packer_[value]); });
        }
        given_.for_each(value, [&](id argument) { take(argument, taken_[value], packer_[value]); });
    }

    const wire_model& model_;
    std::vector<operator_use> operators_;
    bool any_makes_scales_ = false;
    std::vector<roles> taken_;           // by value
    std::vector<id> packer_;             // by value: a node that unpacks it
    std::vector<std::uint8_t> constant_; // by value: 2 certainly, 1 possibly
    call_arguments given_;
    std::vector<id> open_;                             // values with roles not yet propagated
    std::unordered_map<id, dequantization> quantized_; // nodes that dequantize a constant
    std::vector<integers> integers_;                   // by value, once asked
    std::vector<bool> scalar_;                         // by initializer, likewise
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_VALUE_ROLES_HPP
