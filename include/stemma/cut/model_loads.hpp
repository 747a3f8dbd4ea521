// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_MODEL_LOADS_HPP
#define STEMMA_CUT_MODEL_LOADS_HPP

#include <stemma/core/id.hpp>
#include <stemma/cost/model_cost.hpp>
#include <stemma/cut/detail/split_skeleton.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/detail/node_attributes.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/detail/tensor_types.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The loads of a model's nodes for a `cost_policy`. Details are read on demand; types that the
/// file does not declare are inferred.
class model_loads final : public load_reader {
public:
    /// `attributions` is by node; `how` says how `work` is counted. Requires: all but `how` outlive
    /// this. Complexity: that of `find_loads`.
    model_loads(const wire_model& model, const module_tree& modules,
                std::span<const attribution> attributions, cost_options how = {})
        : model_(model)
        , modules_(modules)
        , attributions_(attributions)
        , how_(std::move(how))
        , loads_(detail::find_loads(model))
        , types_(model)
        , tensor_of_(model.value_count(), no_id) {
        for (id node = 0; node < model.node_count(); ++node) {
            loads_[node].node = node;
            loads_[node].details = this;
        }
        const auto tensors = model.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            tensor_of_[tensors[i].value] = i;
        }
    }

    // Loads refer to this.
    model_loads(const model_loads&) = delete;
    model_loads& operator=(const model_loads&) = delete;

    /// Returns: the load of each node; valid as long as this.
    [[nodiscard]] std::span<const operator_load> all() const noexcept { return loads_; }

    [[nodiscard]] std::string_view op_type(id node) const override { return model_.op_type(node); }
    /// Returns: "" for the standard domain.
    [[nodiscard]] std::string_view domain(id node) const override { return model_.domain(node); }
    [[nodiscard]] std::string_view name(id node) const override { return model_.name(node); }

    [[nodiscard]] id module(id node) const override { return attributions_[node].module; }
    /// Returns: the path of the deepest module.
    [[nodiscard]] std::string module_path(id node) const override {
        return module(node) == no_id ? std::string() : modules_.path(module(node));
    }

    /// Returns: the inputs of a node. Complexity: O(inputs), plus that of `shape_inference::find`.
    [[nodiscard]] std::vector<load_value> inputs(id node) const override {
        std::vector<load_value> values;
        for (auto value : model_.inputs(node)) {
            values.push_back(value == no_id ? load_value{} : describe(value));
        }
        return values;
    }

    /// Returns: the outputs of a node. Complexity: as above.
    [[nodiscard]] std::vector<load_value> outputs(id node) const override {
        std::vector<load_value> values;
        for (auto value : model_.outputs(node)) {
            values.push_back(describe(value));
        }
        return values;
    }

    [[nodiscard]] std::optional<std::int64_t> whole(id node, std::string_view name) const override {
        return detail::node_attributes(model_, node).whole(name);
    }
    [[nodiscard]] std::optional<std::vector<std::int64_t>>
    /// Returns: an INTS attribute, if there is one.
    wholes(id node, std::string_view name) const override {
        return detail::node_attributes(model_, node).wholes(name);
    }
    /// Returns: a FLOAT attribute, if there is one.
    [[nodiscard]] std::optional<float> real(id node, std::string_view name) const override {
        return detail::node_attributes(model_, node).real(name);
    }
    /// Returns: a STRING attribute, if there is one.
    [[nodiscard]] std::string_view text(id node, std::string_view name) const override {
        return detail::node_attributes(model_, node).text(name);
    }

    /// Returns: the nodes directly in its bodies, and in the function it calls.
    /// Complexity: O(length of the result); the first call O(nodes).
    [[nodiscard]] std::vector<id> inside(id node) const override {
        if (!contents_) {
            contents_.emplace(model_);
        }
        const auto inner = contents_->inner_nodes(node);
        std::vector<id> result(inner.begin(), inner.end());
        if (const auto f = model_.callee(node); f != no_id) {
            const auto called = contents_->own_nodes(model_.functions()[f].graph);
            result.insert(result.end(), called.begin(), called.end());
        }
        return result;
    }

    /// Returns: the work of a node of the main graph. Throws, and complexity of the first call: as
    /// `model_cost`.
    [[nodiscard]] operator_work work(id node) const override {
        if (!cost_) {
            cost_.emplace(
                model_, modules_.index(), [&](id v, id) { return module(v); }, how_);
        }
        const auto whole = [](double number) {
            constexpr double most = 0x1p62; // sums beyond are refused
            return number > 0 ? static_cast<std::uint64_t>(std::min(std::round(number), most)) : 0;
        };
        return {whole(cost_->node_macs(node)), whole(cost_->node_flops(node)),
                whole(cost_->node_activations(node))};
    }

    /// Returns: the cost that `work` is based on; null before the first call.
    [[nodiscard]] const model_cost* counted() const noexcept { return cost_ ? &*cost_ : nullptr; }

private:
    [[nodiscard]] load_value describe(id value) const {
        load_value result;
        result.name = model_.value_name(value);
        if (const auto number = tensor_of_[value]; number != no_id) {
            const auto header = read_tensor_header(model_, model_.tensors()[number]);
            result.element_type = data_type_name(header.data_type);
            result.shape = header.dims;
            result.is_weight = true;
            return result;
        }
        if (!types_.has_type(value)) {
            if (!inference_) {
                inference_.emplace(model_, types_);
            }
            inference_->find(value);
        }
        if (const auto type = types_.type_of(value)) {
            auto facts = detail::tensor_types().read(*type);
            result.element_type = data_type_name(facts.data_type);
            for (auto& extent : facts.dims ? *facts.dims : detail::extents()) {
                extent = extent < 0 ? -1 : extent; // negative: a symbolic dimension
            }
            result.shape = std::move(facts.dims);
        }
        return result;
    }

    const wire_model& model_;
    const module_tree& modules_;
    std::span<const attribution> attributions_;
    cost_options how_;
    std::vector<operator_load> loads_;
    mutable value_types types_;
    mutable std::optional<detail::shape_inference> inference_; // once a type is requested
    mutable std::optional<graph_contents> contents_;           // once bodies are
    mutable std::optional<model_cost> cost_;                   // once work is
    std::vector<id> tensor_of_;                                // by value
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_MODEL_LOADS_HPP
