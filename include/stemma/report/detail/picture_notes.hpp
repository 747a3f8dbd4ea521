// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_PICTURE_NOTES_HPP
#define STEMMA_REPORT_DETAIL_PICTURE_NOTES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/short_number.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/detail/dot_text.hpp>
#include <stemma/report/detail/overlay_colours.hpp>
#include <stemma/report/detail/shape_arithmetic.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_description.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Annotations of pictures: weights and attributes of operators, parameters of modules, inputs and
/// outputs of the model.
template <value_describer Describe>
class picture_notes {
public:
    /// With `colours`, boxes are coloured and show the numbers. Requires: all outlive this.
    /// Complexity: O(values).
    picture_notes(const wire_model& model, const module_statistics& counts,
                  const Describe& describe, const overlay_colours* colours = nullptr)
        : colours_(colours)
        , model_(&model)
        , counts_(&counts)
        , describe_(&describe)
        , attributes_(model)
        , quiet_(find_shape_arithmetic(model))
        , leaves_(model.value_count()) {
        for (auto value : model.graph(0).outputs) {
            if (value != no_id) {
                leaves_[value] = true;
            }
        }
    }

    /// Returns: the weights that a node reads, with their shapes. Complexity: O(inputs).
    [[nodiscard]] std::string operator_note(id node) const {
        std::string note;
        for (auto value : model_->inputs(node)) {
            if (value == no_id || !model_->is_initializer(value)) {
                continue;
            }
            const value_description weight = (*describe_)(value);
            const std::string_view name = weight.name;
            const auto dot = name.find_last_of("./:");
            if (weight.shape.size() <= 2) { // omit the shape of large ones
                continue;
            }
            note.append(note.empty() ? "" : ", ");
            if (name.find("::") == name.npos) { // otherwise a generated name
                note.append(dot == name.npos ? name : name.substr(dot + 1)).append(" ");
            }
            note.append(detail::shape_label(weight.shape));
        }
        const auto number = colours_ == nullptr ? std::string() : colours_->text_of_node(node);
        note.append(note.empty() || number.empty() ? "" : ", ").append(number);
        return note;
    }

    /// Returns: the attributes of a node: `group=1, strides=[2,2]`.
    /// Complexity: that of `describe_attributes`.
    [[nodiscard]] std::string operator_attributes(id node) const { return attributes_(node); }

    /// Returns: the overlay's colour of a node, and of a module.
    [[nodiscard]] std::string operator_colour(id node) const {
        return colours_ == nullptr ? std::string() : colours_->of_node(node);
    }
    [[nodiscard]] std::string module_colour(id m) const {
        if (colours_ == nullptr) {
            return {};
        }
        // Without class colours, and none for the root.
        auto colour = m == 0 ? std::string() : colours_->of_module(m);
        return colour.empty() ? "#f8fafc" : colour;
    }

    /// Whether a node is shape arithmetic.
    [[nodiscard]] bool is_quiet(id node) const { return quiet_[node]; }

    /// Returns: the number of parameters in and below a module.
    [[nodiscard]] std::string module_note(id m) const {
        const auto count = counts_->parameters[m];
        auto note = count == 0 ? std::string()
                               : short_number(static_cast<std::int64_t>(count)) + " parameters";
        const auto number = colours_ == nullptr ? std::string() : colours_->text_of_module(m);
        return note.append(note.empty() || number.empty() ? "" : ", ").append(number);
    }

    /// Calls `f(value)` for every model input that a node reads, with repetition.
    /// Complexity: O(inputs).
    template <class Function>
    void for_each_input(id node, Function f) const {
        for (auto value : model_->inputs(node)) {
            if (value != no_id && model_->kind(value) == value_kind::input) {
                f(value);
            }
        }
    }

    /// Calls `f(value)` for every model output that a node produces. Complexity: O(outputs).
    template <class Function>
    void for_each_output(id node, Function f) const {
        for (id i = 0; i < model_->output_count(node); ++i) {
            if (leaves_[model_->first_output(node) + i]) {
                f(model_->first_output(node) + i);
            }
        }
    }

private:
    const overlay_colours* colours_;
    const wire_model* model_;
    const module_statistics* counts_;
    const Describe* describe_;
    attribute_texts attributes_;
    std::vector<bool> quiet_;  // by node
    std::vector<bool> leaves_; // by value: whether it is a model output
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_PICTURE_NOTES_HPP
