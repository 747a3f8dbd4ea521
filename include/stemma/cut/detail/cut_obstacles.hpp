// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_CUT_OBSTACLES_HPP
#define STEMMA_CUT_DETAIL_CUT_OBSTACLES_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Finds a boundary value of unknown type or rank. Complexity: a lookup per boundary value.
[[nodiscard]] inline std::optional<id> find_untyped(const cut_plan& plan,
                                                    const value_types& types) {
    for (const auto* values : {&plan.inputs, &plan.outputs}) {
        for (auto value : *values) {
            if (!types.has_type(value)) {
                return value;
            }
        }
    }
    return std::nullopt;
}

/// Finds a value with several definitions that a plan reads, produces, or contains in a body or
/// function: the part might use another definition than the whole. Complexity: O(values read and
/// produced) if the model has any, else O(1).
[[nodiscard]] inline std::optional<id> find_redefined(const cut_plan& plan, const wire_model& model,
                                                      const graph_contents& contents) {
    std::unordered_map<std::string_view, std::vector<id>> by_name;
    for (auto value : model.redefined()) {
        by_name[model.value_name(value)].push_back(value);
    }
    if (by_name.empty()) {
        return std::nullopt;
    }
    const auto find = [&](id value) -> std::optional<id> {
        const auto entry = value == no_id ? by_name.end() : by_name.find(model.value_name(value));
        if (entry != by_name.end()) {
            for (auto redefined : entry->second) {
                if (model.graph_of_value(redefined) == model.graph_of_value(value)) {
                    return redefined;
                }
            }
        }
        return std::nullopt;
    };
    const auto look = [&](auto& self, id node) -> std::optional<id> {
        for (auto value : model.inputs(node)) {
            if (const auto redefined = find(value)) {
                return redefined;
            }
        }
        for (id i = 0; i < model.output_count(node); ++i) {
            if (const auto redefined = find(model.first_output(node) + i)) {
                return redefined;
            }
        }
        for (auto inside : contents.inner_nodes(node)) {
            if (const auto redefined = self(self, inside)) {
                return redefined;
            }
        }
        return std::nullopt;
    };
    for (auto node : plan.nodes) {
        if (const auto redefined = look(look, node)) {
            return redefined;
        }
    }
    for (auto f : plan.functions) {
        for (auto node : contents.nodes(model.functions()[f].graph)) {
            if (const auto redefined = look(look, node)) {
                return redefined;
            }
        }
    }
    return std::nullopt;
}

/// Returns: two values with one name that a plan for nodes of a body brings together, as it takes
/// along one of an enclosing graph; empty if there are none. Complexity: O(values of the plan).
[[nodiscard]] inline std::vector<id> find_shadowed(const cut_plan& plan, const wire_model& model) {
    std::unordered_map<std::string_view, id> by_name;
    std::vector<id> both;
    const auto look = [&](id value) {
        const auto name = model.value_name(value);
        if (both.empty() && !name.empty() && model.kind(value) != value_kind::undefined) {
            const auto first = by_name.emplace(name, value).first->second;
            if (first != value) {
                both = {first, value};
            }
        }
    };
    if (model.graph(plan.graph).kind == graph_kind::body) {
        std::for_each(plan.inputs.begin(), plan.inputs.end(), look);
        std::for_each(plan.initializers.begin(), plan.initializers.end(), look);
        for (auto node : plan.nodes) {
            for (id i = 0; i < model.output_count(node); ++i) {
                look(model.first_output(node) + i);
            }
        }
    }
    return both;
}

/// Finds a node of a plan, or in its bodies, with an attribute that only a call of the enclosing
/// function binds.
/// Complexity: O(fields of the nodes).
[[nodiscard]] inline std::optional<id> find_unbound(const cut_plan& plan, const wire_model& model,
                                                    const graph_contents& contents) {
    if (model.graph(contents.root(plan.graph)).kind != graph_kind::function) {
        return std::nullopt;
    }
    const auto find = [&](auto& self, id node) -> std::optional<id> {
        if (node_attributes(model, node).has_reference()) {
            return node;
        }
        for (auto inside : contents.inner_nodes(node)) {
            if (const auto unbound = self(self, inside)) {
                return unbound;
            }
        }
        return std::nullopt;
    };
    for (auto node : plan.nodes) {
        if (const auto unbound = find(find, node)) {
            return unbound;
        }
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_CUT_OBSTACLES_HPP
