// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EXACT_SHAPES_HPP
#define STEMMA_TYPES_DETAIL_EXACT_SHAPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/types/detail/exact_operands.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Infers extents of elementwise results, and computed shapes.
class exact_shapes : exact_operands {
public:
    /// Requires: both outlive this.
    exact_shapes(fact_table& table, extent_algebra& algebra) : exact_operands(table, algebra) {}

    /// Returns: whether the operator is one of them, and was inferred.
    bool infer(id node, std::string_view op) {
        static const exact_rules<exact_shapes> rules{
            {"Add", &exact_shapes::elementwise},
            {"Sub", &exact_shapes::elementwise},
            {"Mul", &exact_shapes::elementwise},
            {"Div", &exact_shapes::elementwise},
            {"Mod", &exact_shapes::elementwise},
            {"Pow", &exact_shapes::elementwise},
            {"And", &exact_shapes::elementwise},
            {"Or", &exact_shapes::elementwise},
            {"Xor", &exact_shapes::elementwise},
            {"Max", &exact_shapes::elementwise},
            {"Min", &exact_shapes::elementwise},
            {"Sum", &exact_shapes::elementwise},
            {"Mean", &exact_shapes::elementwise},
            {"Equal", &exact_shapes::comparison},
            {"Greater", &exact_shapes::comparison},
            {"Less", &exact_shapes::comparison},
            {"GreaterOrEqual", &exact_shapes::comparison},
            {"LessOrEqual", &exact_shapes::comparison},
            {"Where", &exact_shapes::choice},
            {"MatMul", &exact_shapes::matrix_product},
            {"Size", &exact_shapes::size},
            {"ConstantOfShape", &exact_shapes::filled},
            {"Reshape", &exact_shapes::reshape},
            {"Flatten", &exact_shapes::flatten},
            {"Expand", &exact_shapes::expand},
            {"Range", &exact_shapes::range},
            {"Tile", &exact_shapes::tile},
            {"Concat", &exact_shapes::concat},
        };
        const auto rule = rules.find(op);
        return rule != rules.end() && (this->*rule->second)(node);
    }

private:
    bool elementwise(id node) {
        const auto& a = input(node, 0);
        auto facts = made(a.data_type, broadcast(node));
        const auto& b = input(node, 1);
        if (a.numbers && b.numbers && table_.model().inputs(node).size() == 2 && facts.ranked() &&
            facts.rank() < 2 &&
            (a.numbers->size() == b.numbers->size() || a.numbers->size() == 1 ||
             b.numbers->size() == 1)) {
            facts.numbers = computed(node, table_.model().op_type(node));
        }
        table_.set(node, 0, std::move(facts));
        return true;
    }

    [[nodiscard]] std::optional<extents> computed(id node, std::string_view op) {
        const auto a = numbers(node, 0);
        const auto b = numbers(node, 1);
        if (!a || !b || a->empty() || b->empty()) {
            return std::nullopt;
        }
        extents result;
        for (std::size_t i = 0; i < std::max(a->size(), b->size()); ++i) {
            const auto& x = (*a)[a->size() == 1 ? 0 : i];
            const auto& y = (*b)[b->size() == 1 ? 0 : i];
            if (op == "Add") {
                result.push_back(algebra_.extent(x + y));
            } else if (op == "Sub") {
                result.push_back(algebra_.extent(x - y));
            } else if (op == "Mul") {
                result.push_back(algebra_.extent(x * y));
            } else if (op == "Div") {
                result.push_back(quotient(x, y, input(node, 0).data_type));
            } else if (op == "Mod" && y.constant().value_or(0) > 0) {
                result.push_back(
                    algebra_.extent(x - algebra_.divide(x, *y.constant()) * *y.constant()));
            } else if (x.constant() && y.constant() && (op == "Max" || op == "Min")) {
                result.push_back(
                    std::max(any_extent, op == "Max" ? std::max(*x.constant(), *y.constant())
                                                     : std::min(*x.constant(), *y.constant())));
            } else {
                result.push_back(any_extent);
            }
        }
        return result;
    }

    /// Floating-point numbers are not rounded down.
    [[nodiscard]] std::int64_t quotient(const polynomial& x, const polynomial& y,
                                        std::int64_t data_type) {
        if (!is_floating_type(data_type)) {
            return algebra_.divide(algebra_.extent(x), algebra_.extent(y));
        }
        const auto exact = x.divided_by(y);
        return exact ? algebra_.extent(*exact) : any_extent;
    }

    bool comparison(id node) {
        set(node, 0, bool_type, broadcast(node));
        return true;
    }

    /// Where also resolves a number that stands for another one, as -1 in shapes for Expand: it
    /// selects 1 in place of -1, and the given extent otherwise.
    bool choice(id node) {
        auto facts = made(input(node, 1).data_type, broadcast(node));
        const auto a = numbers(node, 1);
        const auto b = joined_numbers(node, 2);
        const auto asked = asked_numbers(node, 2);
        if (a && b && asked && a->size() == b->size() &&
            (asked->size() == 1 || asked->size() == b->size()) && facts.ranked() &&
            facts.rank() < 2) {
            facts.numbers.emplace();
            for (std::size_t i = 0; i < a->size(); ++i) {
                const auto& wanted = (*asked)[asked->size() == 1 ? 0 : i];
                facts.numbers->push_back(chosen((*b)[i], wanted, (*a)[i]));
            }
        }
        table_.set(node, 0, std::move(facts));
        return true;
    }

    /// Returns: a number, or `other` in place of `wanted`, as an extent; extents are not negative.
    [[nodiscard]] std::int64_t chosen(const polynomial& number, const polynomial& wanted,
                                      const polynomial& other) {
        if (number.is_known() && number == wanted) {
            return algebra_.extent(other);
        }
        const auto constant = wanted.constant();
        const bool differs = constant && (*constant < 0 || number.constant());
        return differs || number == other ? algebra_.extent(number) : any_extent;
    }

    /// Returns: the numbers with which the condition of a Where compares its input; those that are
    /// computed and unknown are taken as -1, which is no extent.
    [[nodiscard]] std::optional<std::vector<polynomial>> asked_numbers(id node,
                                                                       std::size_t slot) const {
        const auto& model = table_.model();
        const auto inputs = model.inputs(node);
        const auto asks = inputs[0] == no_id ? no_id : model.producer(inputs[0]);
        if (asks == no_id || model.op_type(asks) != "Equal" || model.inputs(asks).size() != 2) {
            return std::nullopt;
        }
        const auto is_input = [&](id value) {
            const auto constant = value == no_id ? std::nullopt : table_.literal(value);
            return value == inputs[slot] || (constant && constant == table_.literal(inputs[slot]));
        };
        const auto compared = model.inputs(asks);
        if (!is_input(compared[0]) && !is_input(compared[1])) {
            return std::nullopt;
        }
        auto asked = numbers(asks, is_input(compared[0]) ? 1 : 0);
        if (asked) {
            std::replace_if(
                asked->begin(), asked->end(), [](const auto& number) { return !number.is_known(); },
                polynomial(-1));
        }
        return asked;
    }

    /// Returns: as `numbers`, with the signs of constants in a Concat, which may be reshaped.
    [[nodiscard]] std::optional<std::vector<polynomial>> joined_numbers(id node,
                                                                        std::size_t slot) const {
        const auto& model = table_.model();
        auto all = numbers(node, slot);
        auto joins = all ? model.producer(model.inputs(node)[slot]) : no_id;
        while (joins != no_id && keeps_numbers(joins)) {
            joins = model.producer(model.inputs(joins)[0]);
        }
        if (joins == no_id || model.op_type(joins) != "Concat") {
            return all;
        }
        std::vector<polynomial> joined;
        for (std::size_t part = 0; part < model.inputs(joins).size(); ++part) {
            const auto values = numbers(joins, part);
            const auto length = fact_table::length_of(input(joins, part)).value_or(0);
            if (values) {
                joined.insert(joined.end(), values->begin(), values->end());
            } else {
                joined.insert(joined.end(), length, polynomial::unknown());
            }
        }
        return joined.size() == all->size() ? joined : all;
    }

    /// Whether a node passes on all numbers of its first input in their order.
    [[nodiscard]] bool keeps_numbers(id node) const {
        const auto op = table_.model().op_type(node);
        return (op == "Reshape" || op == "Identity" || op == "Squeeze" || op == "Unsqueeze") &&
               table_.has_input(node, 0);
    }

    bool matrix_product(id node) { return product(node, 1, 3, input(node, 0).data_type); }

    bool size(id node) {
        const auto& x = input(node, 0);
        auto facts = made(int64_type, extents{});
        if (x.ranked()) {
            facts.numbers = extents{algebra_.extent(algebra_.product(*x.dims))};
        }
        table_.set(node, 0, std::move(facts));
        return true;
    }

    bool filled(id node) {
        const auto value = table_.attributes(node).tensor("value");
        const auto dims = fact_table::shape_in(input(node, 0));
        auto facts = made(value ? value->data_type : float_type, dims);
        if (value && value->known && value->values.size() == 1 && dims && dims->size() <= 1) {
            const auto count = dims->empty() ? 1 : dims->front();
            if (count >= 0 && count <= static_cast<std::int64_t>(max_extents)) {
                facts.numbers =
                    as_extents(extents(static_cast<std::size_t>(count), value->values.front()));
            }
        }
        table_.set(node, 0, std::move(facts));
        return true;
    }

    bool reshape(id node) {
        const auto& x = input(node, 0);
        auto asked = numbers(node, 1, "shape");
        if (!asked) {
            return false;
        }
        const bool keeps_zero = table_.attributes(node).whole("allowzero").value_or(0) != 0;
        extents dims;
        auto open = asked->size();
        std::size_t unknown = 0;
        polynomial rest(1);
        for (std::size_t i = 0; i < asked->size(); ++i) {
            auto& wanted = (*asked)[i];
            if (wanted.is_zero() && !keeps_zero) {
                wanted = x.ranked() && i < x.rank() ? algebra_.value((*x.dims)[i])
                                                    : polynomial::unknown();
            }
            dims.push_back(wanted.constant() == -1 ? any_extent : algebra_.extent(wanted));
            if (dims.back() == any_extent) {
                open = i;
                ++unknown;
            } else {
                rest *= wanted;
            }
        }
        if (unknown == 1 && x.ranked()) {
            const auto all = algebra_.product(*x.dims);
            const auto part = all.divided_by(rest);
            dims[open] = part ? algebra_.extent(*part) : any_extent;
            if (!part && rest.constant().value_or(0) > 0) {
                dims[open] = algebra_.extent(algebra_.divide(all, *rest.constant()));
            }
        }
        const bool same = x.numbers && dims.size() <= 2;
        table_.set(node, 0, {x.data_type, std::move(dims), same ? x.numbers : std::nullopt});
        return true;
    }

    bool flatten(id node) {
        const auto& x = input(node, 0);
        const auto axis = table_.attributes(node).whole("axis").value_or(1);
        const auto rank = x.ranked() ? static_cast<std::int64_t>(x.rank()) : -1;
        const auto at = axis < 0 ? axis + rank : axis;
        if (at < 0 || at > rank) {
            return false;
        }
        const auto middle = x.dims->begin() + at;
        set(node, 0, x.data_type,
            extents{algebra_.extent(algebra_.product(extents(x.dims->begin(), middle))),
                    algebra_.extent(algebra_.product(extents(middle, x.dims->end())))});
        return true;
    }

    bool expand(id node) {
        const auto& x = input(node, 0);
        auto facts =
            made(x.data_type, algebra_.broadcast(x.dims, fact_table::shape_in(input(node, 1))));
        const auto count = fact_table::length_of(facts);
        if (count && x.numbers && x.numbers->size() == 1) {
            facts.numbers.emplace(*count, x.numbers->front());
        }
        table_.set(node, 0, std::move(facts));
        return true;
    }

    bool range(id node) {
        const auto first = numbers(node, 0);
        const auto last = numbers(node, 1);
        const auto step = numbers(node, 2);
        auto count = any_extent;
        if (first && last && step && first->size() == 1 && last->size() == 1 && step->size() == 1 &&
            step->front().constant().value_or(0) > 0) {
            const auto by = *step->front().constant();
            const auto span = last->front() - first->front() + (by - 1);
            const auto number = span.constant();
            count = number ? std::max<std::int64_t>(*number, 0) / by
                           : algebra_.extent(algebra_.divide(span, by));
        }
        set(node, 0, input(node, 0).data_type, extents{count});
        return true;
    }

    bool tile(id node) {
        const auto& x = input(node, 0);
        const auto repeats = numbers(node, 1);
        if (!x.ranked() || !repeats || repeats->size() != x.rank()) {
            return false;
        }
        auto dims = *x.dims;
        for (std::size_t i = 0; i < dims.size(); ++i) {
            dims[i] = algebra_.multiply(dims[i], algebra_.extent((*repeats)[i]));
        }
        set(node, 0, x.data_type, std::move(dims));
        return true;
    }

    /// Only the case left open by the general rule: a sum of named extents.
    bool concat(id node) {
        const auto& x = input(node, 0);
        if (!x.ranked() || x.rank() < 2) {
            return false;
        }
        const auto axis = axis_of(table_.attributes(node).whole("axis").value_or(1), x.rank());
        auto dims = *x.dims;
        for (std::size_t slot = 1; axis && slot < table_.model().inputs(node).size(); ++slot) {
            const auto& part = input(node, slot);
            if (!part.ranked() || part.rank() != dims.size()) {
                return false;
            }
            for (std::size_t i = 0; i < dims.size(); ++i) {
                const auto more = (*part.dims)[i];
                dims[i] = i == *axis                ? algebra_.add(dims[i], more)
                          : dims[i] == any_extent   ? more
                          : dims[i] < 0 && more > 0 ? more
                                                    : dims[i];
            }
        }
        set(node, 0, x.data_type, std::move(dims));
        return axis.has_value();
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EXACT_SHAPES_HPP
