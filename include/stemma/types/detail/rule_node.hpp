// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_RULE_NODE_HPP
#define STEMMA_TYPES_DETAIL_RULE_NODE_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

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
    /// Requires: `table` outlives this.
    rule_node(fact_table& table, id node) : table_(&table), node_(node) {}

    /// Returns: the facts about an input; unknown for an omitted one.
    [[nodiscard]] const tensor_facts& input(std::size_t slot) const {
        return table_->input(node_, slot);
    }
    [[nodiscard]] bool has_input(std::size_t slot) const { return table_->has_input(node_, slot); }
    [[nodiscard]] std::size_t input_count() const { return table_->model().inputs(node_).size(); }
    [[nodiscard]] std::size_t output_count() const { return table_->model().output_count(node_); }

    /// Returns: the opset of the standard domain, for this node.
    [[nodiscard]] std::int64_t opset() const { return table_->opset_of(node_); }
    [[nodiscard]] node_attributes attributes() const { return table_->attributes(node_); }
    [[nodiscard]] std::int64_t whole(std::string_view name, std::int64_t otherwise) const {
        return attributes().whole(name).value_or(otherwise);
    }
    [[nodiscard]] bool is_set(std::string_view name) const { return whole(name, 0) != 0; }

    /// Returns: the elements of a small constant input, including signs.
    /// Requires: `has_input(slot)`.
    [[nodiscard]] std::optional<extents> literal(std::size_t slot) const {
        return table_->literal(table_->model().inputs(node_)[slot]);
    }
    /// Returns: the same, or the attribute that older opsets use instead.
    [[nodiscard]] std::optional<extents> literal(std::size_t slot, std::string_view name) const {
        return table_->numbers_of(node_, slot, name);
    }
    /// Returns: the elements of a small constant input of float32.
    [[nodiscard]] std::optional<std::vector<float>> reals(std::size_t slot) const {
        return has_input(slot) ? table_->reals(table_->model().inputs(node_)[slot]) : std::nullopt;
    }

    /// Returns: the extents of all inputs broadcast to one another.
    [[nodiscard]] std::optional<extents> broadcast_inputs() const {
        return table_->broadcast_inputs(node_);
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
    fact_table* table_;
    id node_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_RULE_NODE_HPP
