// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_DETAIL_READERS_HPP
#define STEMMA_QUERY_DETAIL_READERS_HPP

#include <stemma/core/glob.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/stored_name.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/query/detail/module_matcher.hpp>

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Operators that are the nodes of a model with values: parameters are values, and so are inputs.
template <class Ops>
concept reads_values = parameter_readers<Ops> && requires(const Ops& ops, id number) {
    { ops.parameter_value(number) } -> std::convertible_to<id>;
    { ops.model().value_count() } -> std::convertible_to<std::size_t>;
    ops.model().value_name(number);
    ops.model().inputs(number);
    ops.model().producer(number);
    ops.model().graph(number).inputs;
};

/// Calls `f(value)` for the inputs of the main graph.
template <reads_values Ops, class Function>
void for_each_input(const Ops& ops, Function f) {
    for (auto value : ops.model().graph(0).inputs) {
        if (value != no_id) {
            f(value);
        }
    }
}

/// Returns: by vertex index, whether an operator reads a parameter, or an input of the model, whose
/// name matches a pattern; parameters that an Identity passes on have its name and the original
/// one, those that are dequantized the original one. Complexity: O(parameters + inputs of all
/// nodes).
template <named_operators Ops>
[[nodiscard]] vertex_marks find_readers(const Ops& ops, std::string_view asked) {
    const glob pattern(asked, '.');
    vertex_marks reads(num_vertices(ops.graph()), 0);
    if constexpr (reads_values<Ops>) {
        const auto& model = ops.model();
        std::vector<bool> fits(model.value_count(), false);
        const auto parameters = static_cast<id>(ops.parameter_count());
        for (id p = 0; p < parameters; ++p) {
            fits[ops.parameter_value(p)] = pattern.matches(stored_parameter_name(ops, p));
        }
        for_each_input(ops, [&](id value) {
            fits[value] = fits[value] || pattern.matches(model.value_name(value));
        });
        for (id p = 0; p < parameters; ++p) {
            // What a node passes on, its first input, has a lower number.
            const auto value = ops.parameter_value(p);
            const auto node = model.producer(value);
            if (node != no_id && !model.inputs(node).empty()) {
                fits[value] = fits[value] || fits[model.inputs(node)[0]];
            }
        }
        for (id node = 0; node < reads.size(); ++node) {
            for (auto value : model.inputs(node)) {
                if (value != no_id && fits[value]) {
                    reads[node] = 1;
                }
            }
        }
    } else if constexpr (parameter_readers<Ops>) {
        vertex_marks fits(ops.parameter_count(), 0);
        for (id p = 0; p < fits.size(); ++p) {
            fits[p] = pattern.matches(stored_parameter_name(ops, p)) ? 1 : 0;
        }
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            auto& one = reads[index_of(ops.graph(), *it)];
            ops.for_each_parameter(*it, [&](id p) { one |= fits[p]; });
        }
    }
    return reads;
}

/// Returns: what the value of a name is, and the term that matches the nodes that read it, as the
/// end of a sentence; "" if no value has the name. Complexity: O(values).
template <class Ops, class Facts>
[[nodiscard]] std::string explain_value(const Ops& ops, const Facts& facts, std::string_view name) {
    const std::string quoted = "'" + std::string(name) + "'";
    std::string text;
    if constexpr (reads_values<Ops> && requires { facts.position(id{}); }) {
        const auto& model = ops.model();
        for_each_input(ops, [&](id value) {
            if (model.value_name(value) == name) {
                text = "; " + quoted + " is an input: 'reads:" + std::string(name) +
                       "' matches the nodes that read it";
            }
        });
        const auto values = static_cast<id>(model.value_count());
        for (id value = 0; text.empty() && !name.empty() && value < values; ++value) {
            if (const auto node = model.producer(value);
                node != no_id && model.value_name(value) == name) {
                const std::string position = facts.position(node);
                text.append("; node ").append(position).append(" makes ").append(quoted);
                text.append(": 'fed-by:")
                    .append(position)
                    .append("' matches the nodes that read it");
            }
        }
    }
    return text;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_QUERY_DETAIL_READERS_HPP
