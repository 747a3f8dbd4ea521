// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_OPERATOR_COSTS_HPP
#define STEMMA_COST_DETAIL_OPERATOR_COSTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/cost_rules.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/einsum_equation.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The cost of running an operator once.
struct operator_cost {
    polynomial macs;  ///< multiply-accumulates
    polynomial flops; ///< two per MAC, plus all other operations
};

/// Computes costs by the formulas of `cost_rules`; unknown if not applicable.
class operator_costs {
public:
    /// Requires: all outlive this. Complexity: O(operators).
    operator_costs(const wire_model& model, const cost_rules& rules) : model_(model) {
        for (id op = 0; op < model.operator_count(); ++op) {
            rules_.push_back(rules.find(model.operator_domain(op), model.operator_type(op)));
        }
    }

    /// Called before the first node. Requires: `facts` outlive this.
    void begin(const fact_table& facts) {
        facts_ = &facts;
        algebra_ = &facts.algebra();
    }

    /// Returns: the rule of a node; null if its operator is not listed.
    [[nodiscard]] const cost_rules::rule* rule(id node) const {
        return rules_[model_.operator_id(node)];
    }

    /// Whether the output of a node is a view of its input.
    [[nodiscard]] bool is_alias(id node) const {
        return rule(node) != nullptr && rule(node)->formula == "alias";
    }

    /// Returns: the cost of a node that has a rule. Complexity: O(inputs + fields).
    [[nodiscard]] operator_cost cost(id node) const {
        static const std::unordered_map<std::string_view, formula> formulas{
            {"alias", &operator_costs::nothing},
            {"moves", &operator_costs::nothing},
            {"each", &operator_costs::each},
            {"sum", &operator_costs::sum},
            {"input", &operator_costs::each_input},
            {"pool", &operator_costs::pool},
            {"product", &operator_costs::matrix_product},
            {"packed", &operator_costs::packed},
            {"gemm", &operator_costs::gemm},
            {"convolution", &operator_costs::convolution},
            {"transposed", &operator_costs::transposed},
            {"recurrence", &operator_costs::recurrence},
            {"einsum", &operator_costs::einsum},
            {"attention", &operator_costs::attention},
            {"weighted_attention", &operator_costs::weighted_attention},
            {"head_attention", &operator_costs::head_attention},
            {"group_attention", &operator_costs::group_attention},
        };
        const auto* row = rule(node);
        const auto chosen =
            row == nullptr ? formulas.end() : formulas.find(std::string_view(row->formula));
        return chosen == formulas.end() ? unknown() : (this->*chosen->second)(node, *row);
    }

    /// Returns: the number of elements of a value.
    [[nodiscard]] polynomial elements(id value) const { return elements((*facts_)[value]); }

private:
    using formula = operator_cost (operator_costs::*)(id, const cost_rules::rule&) const;

    [[nodiscard]] static operator_cost unknown() {
        return {polynomial::unknown(), polynomial::unknown()};
    }

    [[nodiscard]] static operator_cost products(const polynomial& macs,
                                                const polynomial& others = {}) {
        return {macs, macs * 2 + others};
    }

    [[nodiscard]] polynomial elements(const tensor_facts& facts) const {
        return facts.ranked() ? algebra_->product(*facts.dims) : polynomial::unknown();
    }
    [[nodiscard]] const tensor_facts& input(id node, std::size_t slot) const {
        return facts_->input(node, slot);
    }
    [[nodiscard]] polynomial read(id node, std::size_t slot) const {
        return elements(input(node, slot));
    }
    [[nodiscard]] polynomial made(id node, id slot = 0) const {
        return slot < model_.output_count(node)
                   ? elements((*facts_)[model_.first_output(node) + slot])
                   : polynomial::unknown();
    }
    /// Returns: an extent of an input; a negative axis counts from the end.
    [[nodiscard]] polynomial extent(id node, std::size_t slot, std::int64_t axis) const {
        const auto& facts = input(node, slot);
        const auto at = facts.ranked() ? axis_of(axis, facts.rank()) : std::nullopt;
        return at ? algebra_->value((*facts.dims)[*at]) : polynomial::unknown();
    }
    [[nodiscard]] std::size_t rank(id node, std::size_t slot) const {
        return input(node, slot).ranked() ? input(node, slot).rank() : 0;
    }
    [[nodiscard]] node_attributes attributes(id node) const { return {model_, node}; }

    /// Whether an operator computes shapes or indices rather than data.
    [[nodiscard]] bool is_index(id node) const {
        const auto type = input(node, 0).data_type;
        return type == int64_type || type == bool_type;
    }

    [[nodiscard]] operator_cost nothing(id, const cost_rules::rule&) const { return {}; }

    [[nodiscard]] operator_cost each(id node, const cost_rules::rule& rule) const {
        return {{}, is_index(node) ? polynomial() : made(node) * rule.numbers[0]};
    }

    [[nodiscard]] operator_cost sum(id node, const cost_rules::rule&) const {
        const auto others = static_cast<std::int64_t>(model_.inputs(node).size()) - 1;
        return {{}, is_index(node) ? polynomial() : made(node) * std::max<std::int64_t>(others, 0)};
    }

    [[nodiscard]] operator_cost each_input(id node, const cost_rules::rule& rule) const {
        return {{}, is_index(node) ? polynomial() : read(node, 0) * rule.numbers[0]};
    }

    [[nodiscard]] operator_cost pool(id node, const cost_rules::rule& rule) const {
        polynomial window(rule.numbers[0]);
        for (auto extent : attributes(node).wholes("kernel_shape").value_or(extents{})) {
            window *= extent;
        }
        return {{}, made(node) * window};
    }

    /// Numbers: slots of both factors, operations per element of the result, and the slot of a bias
    /// or other addend.
    [[nodiscard]] operator_cost matrix_product(id node, const cost_rules::rule& rule) const {
        const auto a = static_cast<std::size_t>(rule.numbers[0]);
        const auto b = static_cast<std::size_t>(rule.numbers[1]);
        const bool turned = attributes(node).whole("transA").value_or(0) != 0 && rank(node, a) > 1;
        // A transposed batch moves the first extent before the last.
        const bool batch = attributes(node).whole("transBatchA").value_or(0) != 0;
        auto inner = extent(node, a, !turned ? -1 : batch ? 0 : -2);
        if (!inner.is_known()) {
            const bool other = attributes(node).whole("transB").value_or(0) != 0;
            inner = extent(node, b, rank(node, b) < 2 || other ? -1 : -2);
        }
        return products(made(node) * inner, made(node) * rule.numbers[3]);
    }

    /// Packed weights: an attribute gives their number per row.
    [[nodiscard]] operator_cost packed(id node, const cost_rules::rule&) const {
        const auto inner = attributes(node).whole("K");
        return products(made(node) * (inner ? polynomial(*inner) : extent(node, 0, -1)));
    }

    /// Numbers: slots of both factors and of the bias, operations per element of the result.
    [[nodiscard]] operator_cost gemm(id node, const cost_rules::rule& rule) const {
        const bool turned = attributes(node).whole("transA").value_or(0) != 0;
        const auto inner = extent(node, static_cast<std::size_t>(rule.numbers[0]), turned ? 0 : -1);
        const bool adds = facts_->has_input(node, static_cast<std::size_t>(rule.numbers[2]));
        return products(made(node) * inner, made(node) * (rule.numbers[3] + (adds ? 1 : 0)));
    }

    /// Numbers: slots of kernel and bias, operations per element of the result.
    [[nodiscard]] operator_cost convolution(id node, const cost_rules::rule& rule) const {
        return convolved(node, rule, made(node), rule.numbers[2]);
    }

    /// Each input element is multiplied with a kernel of all output channels.
    [[nodiscard]] operator_cost transposed(id node, const cost_rules::rule& rule) const {
        return convolved(node, rule, read(node, 0), 0);
    }

    /// `count` elements are multiplied with the kernel, and `more` operations made per element of
    /// the result, besides the bias.
    [[nodiscard]] operator_cost convolved(id node, const cost_rules::rule& rule,
                                          const polynomial& count, std::int64_t more) const {
        const auto& w = input(node, static_cast<std::size_t>(rule.numbers[0]));
        if (!w.ranked() || w.rank() < 2) {
            return unknown();
        }
        const bool adds = facts_->has_input(node, static_cast<std::size_t>(rule.numbers[1]));
        return products(count * algebra_->product(extents(w.dims->begin() + 1, w.dims->end())),
                        made(node) * (more + (adds ? 1 : 0)));
    }

    /// Each step multiplies the input and the state for each gate. Numbers: operations per element
    /// of the state.
    [[nodiscard]] operator_cost recurrence(id node, const cost_rules::rule& rule) const {
        const auto rows = extent(node, 0, 0) * extent(node, 0, 1);
        const auto state = attributes(node).whole("hidden_size");
        const auto size = state ? polynomial(*state) : extent(node, 2, -1);
        return products(rows * (read(node, 1) + read(node, 2)),
                        rows * extent(node, 2, 0) * size * rule.numbers[0]);
    }

    /// One pass over all letters per factor beyond the first.
    [[nodiscard]] operator_cost einsum(id node, const cost_rules::rule&) const {
        const auto count = facts_->model().inputs(node).size();
        std::vector<std::size_t> ranks;
        for (std::size_t slot = 0; slot < count && input(node, slot).ranked(); ++slot) {
            ranks.push_back(input(node, slot).rank());
        }
        const auto equation = einsum_equation::read(attributes(node).text("equation"), ranks);
        if (!equation || ranks.size() < count) {
            return unknown();
        }
        std::map<char, polynomial> letters;
        for (std::size_t slot = 0; slot < count; ++slot) {
            for (std::size_t i = 0; i < ranks[slot]; ++i) {
                const auto size = extent(node, slot, static_cast<std::int64_t>(i));
                const auto letter = letters.try_emplace(equation->operands[slot][i], size).first;
                if (!letter->second.is_known() || letter->second == polynomial(1)) {
                    letter->second = size;
                }
            }
        }
        polynomial all(1);
        for (const auto& [letter, size] : letters) {
            all *= size;
        }
        return count == 1 ? operator_cost{{}, all}
                          : products(all * (static_cast<std::int64_t>(count) - 1));
    }

    /// Scores, then a weighted sum of the values; 6 operations per score for scaling and softmax.
    [[nodiscard]] static operator_cost attended(const polynomial& scores, const polynomial& width,
                                                const polynomial& value_width,
                                                const polynomial& heads) {
        return products(scores * (width + value_width), scores * heads * 6);
    }

    /// The standard's: queries, keys and values, and past ones.
    [[nodiscard]] operator_cost attention(id node, const cost_rules::rule&) const {
        const auto given = attributes(node);
        const bool split = rank(node, 0) == 4; // [batch, heads, rows, width]
        const auto heads =
            split ? extent(node, 0, 1) : polynomial(given.whole("q_num_heads").value_or(0));
        const auto groups = rank(node, 1) == 4
                                ? extent(node, 1, 1)
                                : polynomial(given.whole("kv_num_heads").value_or(0));
        auto columns = extent(node, 1, -2);
        if (facts_->has_input(node, 4)) {
            columns += extent(node, 4, -2);
        }
        const auto width = split ? heads * extent(node, 0, 3) : extent(node, 0, 2);
        const auto each = rank(node, 2) == 4 ? polynomial(1) : groups;
        const auto value = (extent(node, 2, -1) * heads).divided_by(each);
        return attended(extent(node, 0, 0) * extent(node, 0, -2) * columns, width,
                        value.value_or(polynomial::unknown()), heads);
    }

    /// ONNX Runtime's, which projects the input first: [batch, rows, width], or without padding
    /// [all rows, width] with their places as [batch, rows], and a matrix of queries, keys and
    /// values.
    [[nodiscard]] operator_cost weighted_attention(id node, const cost_rules::rule& rule) const {
        const auto weights = static_cast<std::size_t>(rule.numbers[0]);
        const auto given = attributes(node);
        const auto all = extent(node, weights, -1);
        const auto sizes = given.wholes("qkv_hidden_sizes");
        const auto third = all.divided_by(3).value_or(polynomial::unknown());
        const bool sized = sizes && sizes->size() == 3;
        const auto width = sized ? polynomial((*sizes)[0]) : third;
        const auto value = sized ? polynomial((*sizes)[2]) : third;
        const bool packed = rank(node, 0) == 2;
        const auto rows = packed ? extent(node, 0, 0) : extent(node, 0, 0) * extent(node, 0, 1);
        const std::size_t past = model_.op_type(node) == "QAttention" ? 8 : 4;
        auto columns = extent(node, packed ? 3 : 0, 1);
        if (!packed && facts_->has_input(node, past)) {
            columns += extent(node, past, 3);
        }
        auto cost = attended(rows * columns, width, value,
                             polynomial(given.whole("num_heads").value_or(0)));
        const auto projection = products(read(node, 0) * all, rows * all);
        return {cost.macs + projection.macs, cost.flops + projection.flops};
    }

    /// Separate queries, keys and values: [batch, rows, width], or keys as [batch, heads, rows,
    /// width], or packed as [batch, rows, heads, 3, width].
    [[nodiscard]] operator_cost head_attention(id node, const cost_rules::rule&) const {
        const auto heads = polynomial(attributes(node).whole("num_heads").value_or(0));
        const auto rows = extent(node, 0, 0) * extent(node, 0, 1);
        if (rank(node, 0) == 5) {
            const auto width = extent(node, 0, 2) * extent(node, 0, 4);
            return attended(rows * extent(node, 0, 1), width, width, heads);
        }
        const bool split = rank(node, 1) == 4;
        auto columns = extent(node, 1, split ? 2 : 1);
        if (rank(node, 1) == 5) { // packed keys and values: [batch, rows, heads, 2, width]
            return attended(rows * columns, extent(node, 0, 2), extent(node, 0, 2), heads);
        }
        if (facts_->has_input(node, 6)) {
            columns += extent(node, 6, 2);
        }
        const auto value =
            rank(node, 2) == 4 ? extent(node, 2, 1) * extent(node, 2, 3) : extent(node, 2, 2);
        return attended(rows * columns, extent(node, 0, 2), value, heads);
    }

    /// Several heads share keys and values; without keys, all three are packed in the first input.
    [[nodiscard]] operator_cost group_attention(id node, const cost_rules::rule&) const {
        const auto given = attributes(node);
        const auto heads = given.whole("num_heads").value_or(0);
        const auto groups = given.whole("kv_num_heads").value_or(0);
        auto width = extent(node, 0, 2);
        if (!facts_->has_input(node, 1)) {
            width = (width * heads)
                        .divided_by(polynomial(heads) + polynomial(groups) * 2)
                        .value_or(polynomial::unknown());
        }
        auto columns = extent(node, 0, 1);
        if (facts_->has_input(node, 3)) {
            columns += extent(node, 3, 2);
        }
        return attended(extent(node, 0, 0) * extent(node, 0, 1) * columns, width, width,
                        polynomial(heads));
    }

    const wire_model& model_;
    std::vector<const cost_rules::rule*> rules_; // by number of the operator
    const fact_table* facts_ = nullptr;
    const extent_algebra* algebra_ = nullptr;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_OPERATOR_COSTS_HPP
