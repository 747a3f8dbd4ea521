// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_PICTURE_NOTES_HPP
#define STEMMA_REPORT_DETAIL_PICTURE_NOTES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/short_number.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/column_direction.hpp>
#include <stemma/report/detail/dot_text.hpp>
#include <stemma/report/detail/shape_arithmetic.hpp>
#include <stemma/report/overlay_table.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_description.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Colours for one column of an overlay: white for the best value, red for the worst.
class overlay_colours {
public:
    /// `column` is the name of a numeric column; "" means the first. Throws: `error` of `refused`
    /// if there is none. Complexity: O(rows).
    overlay_colours(const overlay_table& table, std::string_view column) {
        const auto number = find_column(table, column);
        const auto& shown = table.columns[number];
        unit_ = shown.unit.empty() ? shown.name : shown.unit;
        rises_ = shown.better == column_direction::higher;
        for (const auto& row : table.modules) {
            note(row, number, modules_, row.of != 0 || !shown.additive);
        }
        for (const auto& row : table.nodes) {
            note(row, number, nodes_, true);
        }
    }

    /// Returns: the colour of a module; "" if unknown. Complexity: O(1), as below.
    [[nodiscard]] std::string of_module(id m) const { return colour(modules_, m); }
    [[nodiscard]] std::string of_node(id v) const { return colour(nodes_, v); }

    /// Returns: the number as text, with its unit or the name of the column: `1.2 k MACs`; "" if
    /// unknown.
    [[nodiscard]] std::string text_of_module(id m) const { return text(modules_, m); }
    [[nodiscard]] std::string text_of_node(id v) const { return text(nodes_, v); }

private:
    using numbers = std::unordered_map<id, double>;

    [[nodiscard]] static bool has_numbers(const overlay_table& table, std::size_t column) {
        const auto has = [&](const overlay_table::row& row) {
            return column < row.cells.size() && std::holds_alternative<double>(row.cells[column]);
        };
        return std::any_of(table.modules.begin(), table.modules.end(), has) ||
               std::any_of(table.nodes.begin(), table.nodes.end(), has);
    }

    [[nodiscard]] static std::size_t find_column(const overlay_table& table,
                                                 std::string_view wanted) {
        std::string names;
        for (std::size_t c = 0; c < table.columns.size(); ++c) {
            const auto& name = table.columns[c].name;
            if (has_numbers(table, c)) {
                if (wanted.empty() || name == wanted) {
                    return c;
                }
                names.append(names.empty() ? "" : ", ").append(name);
            }
        }
        STEMMA_THROW(error(error_code::refused, table.title, "",
                           names.empty() ? std::string("has no column of numbers")
                                         : "no numeric column is named '" + std::string(wanted) +
                                               "'; known: " + names));
    }

    void note(const overlay_table::row& row, std::size_t column, numbers& values, bool counts) {
        const auto* number =
            column < row.cells.size() ? std::get_if<double>(&row.cells[column]) : nullptr;
        if (number != nullptr && std::isfinite(*number)) {
            values.insert_or_assign(row.of, *number);
            if (counts) { // the root would make everything else pale
                least_ = std::min(least_, *number);
                most_ = std::max(most_, *number);
            }
        }
    }

    [[nodiscard]] std::string colour(const numbers& values, id of) const {
        const auto entry = values.find(of);
        if (entry == values.end()) {
            return {};
        }
        const auto from = rises_ ? least_ : std::min(least_, 0.0);
        const auto width = most_ - from;
        const auto place = width > 0 ? std::clamp((entry->second - from) / width, 0.0, 1.0)
                           : rises_  ? 1.0
                                     : 0.0;
        const auto heat = rises_ ? 1 - place : place;
        const auto part = [&](int white, int red) {
            return static_cast<unsigned>(white + static_cast<int>(heat * (red - white)));
        };
        std::array<char, 8> text{};
        std::snprintf(text.data(), text.size(), "#%02x%02x%02x", part(255, 248), part(255, 113),
                      part(255, 113));
        return text.data();
    }

    [[nodiscard]] std::string text(const numbers& values, id of) const {
        const auto entry = values.find(of);
        if (entry == values.end()) {
            return {};
        }
        constexpr std::string_view thousands = " kMGTPE";
        auto number = entry->second;
        std::size_t power = 0;
        for (; std::abs(number) >= 1000 && power + 1 < thousands.size(); ++power) {
            number /= 1000;
        }
        return short_text(number, 3) + " " +
               (power == 0 ? std::string() : std::string(1, thousands[power]).append(" ")) + unit_;
    }

    numbers modules_;
    numbers nodes_;
    std::string unit_;
    bool rises_ = false;
    double least_ = std::numeric_limits<double>::infinity();
    double most_ = -std::numeric_limits<double>::infinity();
};

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
        for (auto value : model_->outputs(node)) {
            if (leaves_[value]) {
                f(value);
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
