// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_VALUE_NUMBERS_HPP
#define STEMMA_ALIGN_DETAIL_VALUE_NUMBERS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Value numbering: operators and values with equal numbers compute the same from the same. An
/// `Identity` has the number of its input.
class value_numbers {
public:
    /// Stands for an omitted input.
    static constexpr std::uint64_t left_out = 0x51ed'270b'ab2c'9e6dU;

    /// Requires: the graph outlives this. Complexity: O(operators + inputs).
    explicit value_numbers(const comparable_graph& graph)
        : graph_(graph)
        , of_value_(graph.value_count())
        , of_operator_(graph.operator_count())
        , next_(graph.operator_count(), no_id)
        , last_(graph.operator_count())
        , data_(graph.value_count()) {
        std::iota(last_.begin(), last_.end(), id{0});
        for (const auto text : texts(graph)) {
            types_.push_back(hash_bytes(text));
        }
        for (id value = 0; value < graph.value_count(); ++value) {
            of_value_[value] = of_source(value);
            data_[value] = graph.role(value) == comparable_graph::value_role::given;
        }
        index_.reserve(graph.operator_count());
        for (id op = 0; op < graph.operator_count(); ++op) {
            number(op);
        }
        last_ = {};
    }

    /// Returns: the number of a value.
    [[nodiscard]] std::uint64_t of_value(id value) const noexcept { return of_value_[value]; }
    /// Returns: the number of an operator.
    [[nodiscard]] std::uint64_t of_operator(id op) const noexcept { return of_operator_[op]; }
    /// Returns: the first operator with a number, or `no_id`.
    [[nodiscard]] id find(std::uint64_t number) const {
        return index_.find(number, [&](id op) { return of_operator_[op] == number; });
    }
    /// Returns: the next operator with the same number, or `no_id`.
    [[nodiscard]] id next_equal(id op) const noexcept { return next_[op]; }
    /// Whether a value depends on inputs beyond their shapes.
    [[nodiscard]] bool is_data(id value) const { return data_[value]; }

    /// Returns: the number of an operator whose inputs have the numbers `of(value)`; for a
    /// constant, by its contents.
    template <class Of>
    [[nodiscard]] static std::uint64_t number_of(const comparable_graph& graph, id op,
                                                 std::uint64_t type, Of of) {
        auto number = hash_mix(type, graph.attributes(op));
        if (const auto outputs = graph.outputs(op);
            graph.constant(op) && !outputs.empty() && outputs[0] != no_id) {
            number = hash_mix(number, graph.content(outputs[0]));
        }
        for (const auto value : graph.inputs(op)) {
            number = hash_mix(number, value == no_id ? left_out : of(value));
        }
        return hash_mix(number, graph.outputs(op).size());
    }

    /// Returns: the number of an operator's output at a slot.
    [[nodiscard]] static std::uint64_t of_output(std::uint64_t number, std::size_t slot) noexcept {
        return hash_mix(number, slot + 1);
    }

private:
    [[nodiscard]] static std::vector<std::string_view> texts(const comparable_graph& graph) {
        std::vector<std::string_view> result;
        for (id type = 0; type < graph.type_count(); ++type) {
            result.push_back(graph.type_text(type));
        }
        return result;
    }

    /// For a value without a producer, or without one so far: itself, or its contents.
    [[nodiscard]] std::uint64_t of_source(id value) const {
        const auto content = graph_.content(value);
        return content != 0 ? content : hash_mix(0x9d8a'61d3'7e11'6b27U, value);
    }

    void number(id op) {
        const auto outputs = graph_.outputs(op);
        const auto inputs = graph_.inputs(op);
        bool data = false;
        for (const auto value : inputs) {
            data = data || (value != no_id && data_[value]);
        }
        data = (data || graph_.opaque(op)) && !graph_.hides_data(op);
        const auto self = graph_.opaque(op) ? hash_mix(0x2c1b'3c6d'0e44'5a1fU, op)
                                            : number_of(graph_, op, types_[graph_.type(op)],
                                                        [&](id value) { return of_value_[value]; });
        of_operator_[op] = self;
        const auto first =
            index_.insert(self, op, [&](id other) { return of_operator_[other] == self; });
        if (first != op) {
            next_[last_[first]] = op;
            last_[first] = op;
        }
        const bool passes = graph_.type_text(graph_.type(op)) == "Identity" && inputs.size() == 1 &&
                            inputs[0] != no_id;
        for (std::size_t slot = 0; slot < outputs.size(); ++slot) {
            const auto value = outputs[slot];
            if (value == no_id) {
                continue;
            }
            data_[value] = data;
            if (graph_.content(value) == 0) {
                of_value_[value] = passes ? of_value_[inputs[0]] : of_output(self, slot);
            }
        }
    }

    const comparable_graph& graph_;
    std::vector<std::uint64_t> of_value_;
    std::vector<std::uint64_t> of_operator_;
    std::vector<std::uint64_t> types_;
    std::vector<id> next_; // by operator: the next with the same number
    std::vector<id> last_; // by the first with a number; until all have one
    std::vector<bool> data_;
    flat_index index_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_VALUE_NUMBERS_HPP
