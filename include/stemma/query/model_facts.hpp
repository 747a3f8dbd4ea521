// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_MODEL_FACTS_HPP
#define STEMMA_QUERY_MODEL_FACTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/onnx/detail/find_weights.hpp>
#include <stemma/onnx/detail/pass_on.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/query/alike_modules.hpp>
#include <stemma/query/query_facts.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/tagging/tag_operators.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Facts about an ONNX model for queries: attributes, types, weights and sizes. Collected lazily;
/// not thread-safe.
class model_facts {
public:
    /// Requires: all outlive this. `lines` finds source lines; its result outlives this, too.
    /// Complexity: O(1).
    model_facts(const wire_model& model, const module_tree& modules, const tagging& tagged,
                std::function<const source_lines&()> lines = {})
        : model_(&model), modules_(&modules), tags_(&tagged), lines_(std::move(lines)) {}

    /// Returns: the source line of a node, if known. Complexity: O(1), after `lines`.
    [[nodiscard]] std::optional<source_position> source(id node) const {
        return lines_ ? lines_().of(node) : std::nullopt;
    }

    /// Returns: the full path of that line's file, if known. Complexity: O(1), after `lines`.
    [[nodiscard]] std::string_view source_path(id node) const {
        const auto frame = lines_ ? lines_().frame_of(node) : no_id;
        return frame == no_id ? std::string_view() : lines_().path(lines_().frames()[frame].file);
    }

    /// Returns: the position of a node, as `position_text`. Complexity: O(depth of its graph).
    [[nodiscard]] std::string position(id node) const { return position_text(*model_, node); }

    /// Returns: the attributes of a node. Complexity: that of `describe_attributes`.
    [[nodiscard]] std::vector<attribute_fact> attributes(id node) const {
        constexpr described_attribute::limits limits{64, 4096};
        std::vector<attribute_fact> facts;
        for (auto& one : describe_attributes(*model_, node, limits)) {
            facts.push_back(
                {std::move(one.name), std::move(one.text), one.number, one.type == "float"});
        }
        return facts;
    }

    /// Returns: the outputs of a node. Complexity: O(outputs).
    [[nodiscard]] std::vector<id> values_of(id node) const {
        std::vector<id> values;
        for (auto value : model_->outputs(node)) {
            if (!model_->value_name(value).empty()) {
                values.push_back(value);
            }
        }
        return values;
    }

    /// Returns: the parameters that a node reads, each once, without one that it only passes on to
    /// other nodes. Complexity: O(inputs * log inputs), after `find_weights`.
    [[nodiscard]] std::vector<id> weights_of(id node) const {
        const auto& weights = found_parameters();
        std::vector<id> values;
        for (auto value : model_->inputs(node)) {
            if (value != no_id && weights.of_value[value] != no_id &&
                value != weights.passed[node]) {
                values.push_back(weights.of_value[value]);
            }
        }
        return detail::range::each_once(std::move(values));
    }

    /// Returns: type and shape of a value, declared, stored or inferred.
    /// Complexity: O(rank), after `infer_shapes`.
    [[nodiscard]] value_fact value(id value) const {
        if (!types_) {
            types_.emplace(*model_);
        }
        return fact_of(types_->type_of(value));
    }

    /// Returns: elements of the parameters of a module with its descendants.
    /// Complexity: O(1), after `collect_statistics`, as below.
    [[nodiscard]] std::uint64_t parameters(id m) const { return statistics().parameters[m]; }

    /// Returns: bytes of these in the file.
    [[nodiscard]] std::uint64_t weight_bytes(id m) const { return statistics().bytes[m]; }

    /// Returns: the modules with the same function as one, see `alike_modules::like`.
    [[nodiscard]] std::vector<id> like(id m) const {
        if (!alike_) {
            alike_.emplace(*model_, *modules_, tags_->attributions);
        }
        return alike_->like(m, alike_modules::likeness::function);
    }

    /// Nodes, parameters and operators of all modules.
    [[nodiscard]] const module_statistics& statistics() const {
        if (!statistics_) {
            statistics_ = collect_statistics(*model_, *modules_, *tags_);
        }
        return *statistics_;
    }

private:
    struct known_parameters {
        explicit known_parameters(const wire_model& model) : of_value(model.value_count(), no_id) {
            for (const auto& weight : detail::find_weights(model)) {
                if (weight.kind == weight_kind::parameter) {
                    of_value[weight.value] = weight.value;
                }
            }
            passed = detail::pass_on(model, of_value);
        }

        std::vector<id> of_value; // the parameter that it is, also if it was passed on
        std::vector<id> passed;   // by node: the input that it only passes on, or no_id
    };

    [[nodiscard]] static value_fact fact_of(const described_type& type) {
        value_fact fact{type.name, type.has_shape, {}, std::nullopt};
        tensor_header header; // to know its size
        bool sized = type.has_shape;
        for (std::int64_t number = 1; number < 27 && header.data_type == 0; ++number) {
            header.data_type = data_type_name(number) == type.name ? number : 0;
        }
        for (const auto& extent : type.shape) {
            if (const auto* number = std::get_if<std::int64_t>(&extent)) {
                fact.extents.push_back(*number < 0 ? "?" : std::to_string(*number));
                header.dims.push_back(*number);
                sized = sized && *number >= 0;
            } else {
                fact.extents.push_back(std::get<std::string>(extent));
                sized = false;
            }
        }
        fact.bytes = sized ? detail::data_size(header) : std::nullopt;
        return fact;
    }

    [[nodiscard]] const known_parameters& found_parameters() const {
        if (!parameters_) {
            parameters_.emplace(*model_);
        }
        return *parameters_;
    }

    const wire_model* model_;
    const module_tree* modules_;
    const tagging* tags_;
    std::function<const source_lines&()> lines_;
    mutable std::optional<alike_modules> alike_;
    mutable std::optional<value_descriptions> types_;
    mutable std::optional<known_parameters> parameters_;
    mutable std::optional<module_statistics> statistics_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_QUERY_MODEL_FACTS_HPP
