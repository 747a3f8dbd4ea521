// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_BOUNDARY_TYPES_HPP
#define STEMMA_CUT_DETAIL_BOUNDARY_TYPES_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/detail/cut_obstacles.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <optional>
#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

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
