// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_BOUNDARY_TYPES_HPP
#define STEMMA_CUT_DETAIL_BOUNDARY_TYPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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

/// Returns: the first of `nodes`, or of the nodes in their bodies, that `is_wanted` accepts.
template <class Nodes, class IsWanted>
[[nodiscard]] std::optional<id> find_within(const graph_contents& contents, const Nodes& nodes,
                                            const IsWanted& is_wanted) {
    for (id node : nodes) {
        if (is_wanted(node)) {
            return node;
        }
        if (const auto inside = find_within(contents, contents.inner_nodes(node), is_wanted)) {
            return inside;
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
    std::optional<id> found;
    const auto has_redefined = [&](id node) {
        for (auto value : model.inputs(node)) {
            found = found ? found : find(value);
        }
        for (auto value : model.outputs(node)) {
            found = found ? found : find(value);
        }
        return found.has_value();
    };
    bool done = find_within(contents, plan.nodes, has_redefined).has_value();
    for (auto f : plan.functions) {
        const auto nodes = contents.nodes(model.functions()[f].graph);
        done = done || find_within(contents, nodes, has_redefined);
    }
    return found;
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
            for (auto value : model.outputs(node)) {
                look(value);
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
    return find_within(contents, plan.nodes,
                       [&](id node) { return node_attributes(model, node).has_reference(); });
}

/// Returns: the name of a node, or its position if unnamed: `#7`.
[[nodiscard]] inline std::string node_name(const onnx_model& model, id node) {
    return model.name(node).empty() ? "#" + std::to_string(model.position(node))
                                    : std::string(model.name(node));
}

/// The types of values at part boundaries; undeclared ones are inferred once, on demand.
class boundary_types {
public:
    /// `infer`, if given, is called if types are still missing.
    /// Requires: the model outlives it.
    explicit boundary_types(const wire_model& model, type_inference infer = {})
        : model_(model), types_(model), ask_(std::move(infer)) {}

    [[nodiscard]] const value_types& types() const noexcept { return types_; }

    /// Prepares inference for few or many parts, if the model declares few types.
    void prepare(bool many) {
        if (!inference_ && model_.value_infos().size() < model_.value_count() / 2) {
            inference_.emplace(model_, types_);
            if (many) {
                inference_->look_at_all();
            }
        }
    }

    /// Refuses a plan that cannot be written as a model: with a value of unknown type, or an
    /// attribute that only a call binds. Returns: the reason, if any.
    std::string refuse_unknown(cut_plan& plan, const graph_contents& contents) {
        if (plan.refusal != cut_refusal::none) {
            return {};
        }
        if (const auto redefined = find_redefined(plan, model_, contents)) {
            plan.refusal = cut_refusal::redefined;
            return quoted(*redefined) + " is defined more than once, by " +
                   definers_text(model_, *redefined);
        }
        if (const auto both = find_shadowed(plan, model_); !both.empty()) {
            plan.refusal = cut_refusal::redefined;
            return quoted(both[0]) + " would be defined more than once, by " +
                   definers_text(model_, both);
        }
        if (const auto unbound = find_unbound(plan, model_, contents)) {
            plan.refusal = cut_refusal::function_body;
            return "'" + node_name(model_, *unbound) +
                   "' has an attribute that only a call of the function binds; unfold the model "
                   "first";
        }
        if (const auto untyped = find_untyped(plan)) {
            plan.refusal = cut_refusal::unknown_type;
            return "type or rank of " + quoted(*untyped) + " is unknown" +
                   (problem_.empty() ? "" : ": " + problem_);
        }
        return {};
    }

private:
    [[nodiscard]] std::string quoted(id value) const {
        return "'" + std::string(model_.value_name(value)) + "'";
    }

    [[nodiscard]] std::optional<id> find_untyped(const cut_plan& plan) {
        const auto infer = [&] {
            if (!inference_) {
                inference_.emplace(model_, types_);
            }
            for (const auto* values : {&plan.inputs, &plan.outputs}) {
                for (auto value : *values) {
                    inference_->find(value);
                }
            }
            return stemma::detail::find_untyped(plan, types_);
        };
        auto untyped = stemma::detail::find_untyped(plan, types_);
        if (untyped) {
            untyped = infer();
        }
        if (untyped && ask_) {
            problem_ = std::exchange(ask_, {})(model_, types_);
            inference_.reset(); // the new types may suffice
            untyped = infer();
        }
        return untyped;
    }

    const wire_model& model_;
    value_types types_;
    std::optional<shape_inference> inference_; // once a type is missing
    type_inference ask_;                       // until called
    std::string problem_;                      // of `ask_`
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_BOUNDARY_TYPES_HPP
