// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/compare/compare_models.hpp>
#include <stemma/onnx/value_definitions.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cli {

namespace {

using stemma::id;
using stemma::no_id;

struct compare_options {
    common_options common;
    std::string other;
    std::vector<std::string> only;
    std::size_t rows = 20;

    [[nodiscard]] bool wants(const std::string& part) const {
        return only.empty() || std::find(only.begin(), only.end(), part) != only.end();
    }
};

std::string verdict(bool equal) {
    return equal ? "identical" : shaded("different", shade::bad);
}

/// Some nodes around the difference, for context.
void print_context(const char* label, const stemma::onnx_model& model, id node) {
    if (node == no_id) {
        return;
    }
    const id first = node < 2 ? 0 : node - 2;
    const auto end = std::min<id>(node + 2, model.node_count());
    for (id each = first; each < end; ++each) {
        put("  {} {} {} {}\n", fitted(each == first ? label : "", 7), each == node ? ">" : " ",
            model.op_type(each), stemma::place_of(model, each));
    }
}

void print_structure(const stemma::model_comparison& comparison,
                     const stemma::attributed_model& opened_first,
                     const stemma::attributed_model& opened_second) {
    const auto& first = opened_first.model();
    const auto& second = opened_second.model();
    if (!comparison.structure) {
        const auto names =
            comparison.renamed_nodes == 0
                ? std::string()
                : fmt::format(", {} with another name", counted(comparison.renamed_nodes, "node"));
        put("structure    identical: {}{}\n", counted(first.node_count(), "node"), names);
        return;
    }
    const auto& difference = *comparison.structure;
    const bool in_first = difference.first != no_id;
    const auto& opened = in_first ? opened_first : opened_second;
    const auto node = in_first ? difference.first : difference.second;
    const auto module = node == no_id
                            ? std::string()
                            : " in " + path_text(opened, opened.tags().attributions[node].module);
    put("structure    {}{}: {} {}\n", verdict(false), module,
        !in_first ? "the first model" : stemma::place_of(first, difference.first), difference.text);
    print_context("first", first, difference.first);
    print_context("second", second, difference.second);
}

void print_initializers(const stemma::model_comparison& comparison, std::size_t rows) {
    const auto& list = comparison.initializers;
    put("initializers {}: {} the same\n", verdict(list.empty()),
        grouped(comparison.same_initializers));
    print_first(list, rows, [](const auto& one) {
        put("  {} {}{} ({})\n", fitted(to_string(one.change), 8), in_one_line(one.name),
            one.other.empty() ? std::string() : " to " + in_one_line(one.other), one.text);
    });
}

void print_tags(const stemma::tag_comparison& tags, const stemma::onnx_model& first,
                std::size_t rows) {
    put("tags         {}: {} with equal tags\n", verdict(tags.is_equal()),
        counted(tags.same, "node"));
    if (tags.only_first + tags.only_second > 0) {
        put("  {} of the first model and {} of the second have no partner\n",
            counted(tags.only_first, "node"), grouped(tags.only_second));
    }
    std::size_t shown = 0;
    const auto row = [&](const std::string& text) {
        if (++shown <= rows) {
            put("  {}\n", text);
        }
    };
    for (const auto& one : tags.vanished) {
        row(fmt::format("vanished {} ({})", one.tag, counted(one.nodes, "node")));
    }
    for (const auto& one : tags.appeared) {
        row(fmt::format("appeared {} ({})", one.tag, counted(one.nodes, "node")));
    }
    for (const auto& one : tags.moves) {
        row(fmt::format("moved    {} from {}\n           to {}",
                        one.nodes == 1 ? stemma::place_of(first, one.example)
                                       : counted(one.nodes, "node"),
                        one.from, one.to));
    }
    print_rest(shown, rows);
}

int compare(const compare_options& options) {
    const auto first = open_model(options.common);
    auto other = options.common;
    other.model = options.other;
    const auto second = open_model(other);
    const auto comparison = stemma::compare_models(
        *first, *second,
        {options.wants("structure"), options.wants("initializers"), options.wants("tags")});
    if (!print_json(options.common.format, comparison, *first, *second)) {
        if (comparison.parts.structure) {
            print_structure(comparison, *first, *second);
        }
        if (comparison.parts.initializers) {
            print_initializers(comparison, options.rows);
        }
        if (comparison.tags) {
            print_tags(*comparison.tags, first->model(), options.rows);
        }
    }
    return comparison.is_equal() ? done : found_something;
}

} // namespace

void add_compare(CLI::App& app, action& chosen) {
    add_command<compare_options>(
        app, chosen, "compare", "check whether two models are the same graph, with the same tags",
        compare, [](command_line takes, compare_options& options) {
            takes.common(options.common);
            takes.argument("OTHER", options.other, "the model to compare with");
            takes
                .list("--only", options.only, "PART,...",
                      "compare only: structure, initializers, tags")
                ->check(CLI::IsMember({"structure", "initializers", "tags"}));
            takes.value("--rows", options.rows, "N",
                        "maximum number of differences printed per kind", "20");
            takes.applies_to("--rows", options.common, "text");
            takes.footer("Exits with 1 if the models differ.\n\n"
                         "Examples:\n  stemma compare model.onnx optimized.onnx\n"
                         "  stemma compare old.onnx new.onnx --only structure,initializers");
        });
}

} // namespace cli
