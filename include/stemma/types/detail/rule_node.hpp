// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_RULE_NODE_HPP
#define STEMMA_TYPES_DETAIL_RULE_NODE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A node as seen by a rule: facts about inputs, and where to note those about outputs.
class rule_node {
public:
    using numbers_type = std::optional<std::vector<polynomial>>;

    /// Requires: `table` outlives this.
    rule_node(fact_table& table, id node) : table_(&table), node_(node) {}

    /// Returns: the facts about an input; unknown for an omitted one.
    [[nodiscard]] const tensor_facts& input(std::size_t slot) const {
        return table_->input(node_, slot);
    }
    [[nodiscard]] bool has_input(std::size_t slot) const { return table_->has_input(node_, slot); }
    [[nodiscard]] std::size_t input_count() const { return table_->model().inputs(node_).size(); }
    [[nodiscard]] std::size_t output_count() const { return table_->model().output_count(node_); }

    /// Returns: the node that makes an input; nothing if none does.
    [[nodiscard]] std::optional<rule_node> producer(std::size_t slot) const {
        const auto value = has_input(slot) ? value_of(slot) : no_id;
        const auto made_by = value == no_id ? no_id : table_->model().producer(value);
        table_->look_beyond();
        return made_by == no_id ? std::nullopt : std::optional(rule_node(*table_, made_by));
    }
    [[nodiscard]] id value_of(std::size_t slot) const {
        return table_->model().inputs(node_)[slot];
    }
    [[nodiscard]] std::string_view op_type() const { return table_->model().op_type(node_); }

    /// Returns: the opset of the standard domain, for this node.
    [[nodiscard]] std::int64_t opset() const { return table_->opset_of(node_); }
    [[nodiscard]] node_attributes attributes() const { return table_->attributes(node_); }
    [[nodiscard]] std::int64_t whole(std::string_view name, std::int64_t otherwise) const {
        return attributes().whole(name).value_or(otherwise);
    }
    [[nodiscard]] bool is_set(std::string_view name) const { return whole(name, 0) != 0; }

    [[nodiscard]] extent_algebra& algebra() const { return table_->algebra(); }

    /// Returns: the numbers in an input: those of a constant with their signs, extents otherwise.
    [[nodiscard]] numbers_type numbers(std::size_t slot) const {
        if (!has_input(slot)) {
            return std::nullopt;
        }
        if (const auto constant = table_->literal(value_of(slot))) {
            return numbers_type(std::in_place, constant->begin(), constant->end());
        }
        const auto& inferred = input(slot).numbers;
        if (!inferred) {
            return std::nullopt;
        }
        numbers_type result(std::in_place);
        for (auto extent : *inferred) {
            result->push_back(algebra().value(extent));
        }
        return result;
    }
    /// Returns: the same, or the attribute that older opsets use instead.
    [[nodiscard]] numbers_type numbers(std::size_t slot, std::string_view name) const {
        if (has_input(slot)) {
            return numbers(slot);
        }
        const auto given = attributes().wholes(name);
        return given ? numbers_type(std::in_place, given->begin(), given->end()) : std::nullopt;
    }
    /// Returns: as `numbers`, if all are plain ones.
    [[nodiscard]] std::optional<extents> literal(std::size_t slot) const {
        return plain(numbers(slot));
    }
    [[nodiscard]] std::optional<extents> literal(std::size_t slot, std::string_view name) const {
        return plain(numbers(slot, name));
    }
    /// Returns: the elements of a small constant input of float32.
    [[nodiscard]] std::optional<std::vector<float>> reals(std::size_t slot) const {
        return has_input(slot) ? table_->reals(value_of(slot)) : std::nullopt;
    }

    /// Returns: the extents of an elementwise result. Before opset 7, an attribute fits the second
    /// input to the first.
    [[nodiscard]] std::optional<extents> broadcast_inputs() const {
        auto dims = input(0).dims;
        const auto count = opset() < 7 && is_set("broadcast") ? 1 : input_count();
        for (std::size_t slot = 1; slot < count; ++slot) {
            dims = algebra().broadcast(dims, input(slot).dims);
        }
        return dims;
    }

    /// Adds facts about an output, if the node has it; known facts stay.
    void set(std::size_t output, tensor_facts facts) const {
        table_->set(node_, output, std::move(facts));
    }
    void set(std::size_t output, std::int64_t data_type, std::optional<extents> dims) const {
        set(output, made(data_type, std::move(dims)));
    }
    /// Notes that an output has the element type of an input.
    void set_type_like(std::size_t output, std::size_t slot) const {
        set(output, input(slot).data_type, std::nullopt);
    }
    /// Notes that an output has type and extents of an input.
    void set_like(std::size_t output, std::size_t slot) const {
        set(output, input(slot).data_type, input(slot).dims);
    }

private:
    [[nodiscard]] static std::optional<extents> plain(const numbers_type& numbers) {
        if (!numbers) {
            return std::nullopt;
        }
        extents result;
        for (const auto& number : *numbers) {
            const auto constant = number.constant();
            if (!constant) {
                return std::nullopt;
            }
            result.push_back(*constant);
        }
        return result;
    }

    fact_table* table_;
    id node_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_RULE_NODE_HPP
