// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_FACT_TABLE_HPP
#define STEMMA_DETAIL_FACT_TABLE_HPP

#include <stemma/core/id.hpp>
#include <stemma/detail/tensor_facts.hpp>
#include <stemma/detail/tensor_types.hpp>
#include <stemma/onnx/plain_domain.hpp>
#include <stemma/onnx/wire/node_attributes.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>
#include <stemma/onnx/wire/value_types.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::detail {

/// What is known of all values of a model, and what its nodes say of their operands.
class fact_table {
public:
    /// Starts with declared types and what initializers are.
    fact_table(const wire_model& model, value_types& types)
        : model_(&model), facts_(model.value_count()) {
        for (const auto& opset : model.opset_imports()) {
            if (plain_domain(opset.domain).empty()) {
                opset_ = opset.version;
            }
        }
        for (id value = 0; value < model.value_count(); ++value) {
            if (const auto type = types.type_of(value)) {
                facts_[value] = types_.read(*type);
                forget_monsters(facts_[value]);
            }
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            const auto& tensor = tensors[i];
            tensor_of_.emplace(tensor.value, i);
            auto& known = facts_[tensor.value];
            const auto header = read_tensor_header(model, tensor);
            known.data_type = header.data_type;
            if (!tensor.sparse) {
                known.dims = as_extents(header.dims);
                note_numbers(known, read_whole_numbers(model.reader(tensor.message)));
            }
            forget_monsters(known);
        }
    }

    [[nodiscard]] const wire_model& model() const noexcept { return *model_; }
    /// Returns: the opset of the standard domain, 0 when the model imports none.
    [[nodiscard]] std::int64_t opset() const noexcept { return opset_; }

    [[nodiscard]] tensor_facts& operator[](id value) noexcept { return facts_[value]; }
    [[nodiscard]] const tensor_facts& operator[](id value) const noexcept { return facts_[value]; }

    /// Returns: the TypeProto that the facts on a value make.
    /// Requires: they are ranked.
    [[nodiscard]] std::string type_of(id value) const { return types_.write(facts_[value]); }

    /// Returns: what is known of an input; nothing for one that is left out.
    [[nodiscard]] const tensor_facts& input(id node, std::size_t slot) const {
        static const tensor_facts unknown;
        const auto inputs = model_->inputs(node);
        return slot < inputs.size() && inputs[slot] != no_id ? facts_[inputs[slot]] : unknown;
    }

    [[nodiscard]] bool has_input(id node, std::size_t slot) const {
        return slot < model_->inputs(node).size() && model_->inputs(node)[slot] != no_id;
    }

    /// Notes what is learned of an output; what was known before stays.
    void set(id node, std::size_t output, tensor_facts facts) {
        if (output >= model_->output_count(node)) {
            return;
        }
        forget_monsters(facts);
        auto& known = facts_[model_->first_output(node) + output];
        if (known.data_type == 0) {
            known.data_type = facts.data_type;
        }
        if (!known.ranked()) {
            known.dims = std::move(facts.dims);
        } else if (facts.ranked() && facts.rank() == known.rank()) {
            for (std::size_t i = 0; i < known.rank(); ++i) {
                auto& extent = (*known.dims)[i];
                extent = extent == any_extent ? (*facts.dims)[i] : extent;
            }
        }
        if (!known.numbers) {
            known.numbers = std::move(facts.numbers);
        }
    }

    [[nodiscard]] std::optional<extents> broadcast_inputs(id node) const {
        std::optional<extents> dims = input(node, 0).dims;
        for (std::size_t slot = 1; slot < model_->inputs(node).size(); ++slot) {
            dims = broadcast(dims, input(node, slot).dims);
        }
        return dims;
    }

    /// Returns: the numbers in an input, or those of an attribute that older opsets have instead.
    [[nodiscard]] std::optional<extents> numbers_of(id node, std::size_t slot,
                                                    std::string_view name) const {
        if (has_input(node, slot)) {
            const auto value = model_->inputs(node)[slot];
            return literal(value);
        }
        return node_attributes(*model_, node).wholes(name);
    }

    /// Returns: the elements of a small constant, signs and all.
    [[nodiscard]] std::optional<extents> literal(id value) const {
        if (model_->is_initializer(value)) {
            const auto& tensor = model_->tensors()[tensor_of_.at(value)];
            if (tensor.sparse) {
                return std::nullopt;
            }
            auto numbers = read_whole_numbers(model_->reader(tensor.message));
            return numbers.known ? std::optional(std::move(numbers.values)) : std::nullopt;
        }
        const auto producer = model_->producer(value);
        if (producer == no_id || model_->op_type(producer) != "Constant" ||
            !model_->domain(producer).empty()) {
            return std::nullopt;
        }
        const node_attributes attributes(*model_, producer);
        if (auto tensor = attributes.tensor("value")) {
            return tensor->known ? std::optional(std::move(tensor->values)) : std::nullopt;
        }
        if (const auto whole = attributes.whole("value_int")) {
            return extents{*whole};
        }
        auto numbers = attributes.wholes("value_ints");
        return numbers && numbers->size() <= max_extents ? numbers : std::nullopt;
    }

    /// Returns: how many elements a small one-dimensional input has.
    [[nodiscard]] static std::optional<std::size_t> length_of(const tensor_facts& facts) {
        if (facts.ranked() && facts.rank() == 1 && facts.dims->front() >= 0 &&
            facts.dims->front() <= static_cast<std::int64_t>(max_extents)) {
            return static_cast<std::size_t>(facts.dims->front());
        }
        return std::nullopt;
    }

    /// Returns: the shape that a tensor of extents asks for.
    [[nodiscard]] static std::optional<extents> shape_in(const tensor_facts& facts) {
        if (facts.numbers) {
            return facts.numbers;
        }
        const auto length = length_of(facts);
        return length ? std::optional(extents(*length, any_extent)) : std::nullopt;
    }

    static void note_numbers(tensor_facts& facts, whole_numbers tensor) {
        if (tensor.known && tensor.dims.size() <= 1 && tensor.data_type != bool_type) {
            facts.numbers = as_extents(std::move(tensor.values));
        }
    }

private:
    static void forget_monsters(tensor_facts& facts) {
        if (facts.ranked() && facts.rank() > max_extents) {
            facts.dims.reset();
        }
        if (facts.numbers && facts.numbers->size() > max_extents) {
            facts.numbers.reset();
        }
    }

    const wire_model* model_;
    std::vector<tensor_facts> facts_;      // by value
    std::unordered_map<id, id> tensor_of_; // by initializer: its number
    tensor_types types_;
    std::int64_t opset_ = 0;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_FACT_TABLE_HPP
