// SPDX-License-Identifier: Apache-2.0
#include "child_program.hpp"
#include "common.hpp"

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/report/export_model.hpp>
#include <stemma/report/overlay_table.hpp>
#include <stemma_report/html_report.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

namespace {

struct export_options {
    common_options common;
    output_options output;
    std::string to;
    bool flat = false;
    std::string module;
    stemma::id depth = stemma::no_id;
    std::size_t max_boxes = 60;
    std::string node_counts;
    std::string weight_bytes;
    std::vector<std::string> overlays;
    std::string column;
};

/// Returns: Graphviz's SVG with cluster titles and edge labels drawn above the lines that cross
/// them, outlined in the cluster's colour or in white.
std::string with_texts_above(std::string svg) {
    std::string texts;
    const auto lift = [&](std::string_view from, std::string_view ends, std::string_view into,
                          auto rim_of) {
        const auto kind = fmt::format("class=\"{}\"", from);
        for (auto at = svg.find(kind); at != svg.npos; at = svg.find(kind, at + 1)) {
            const auto rim =
                fmt::format(" stroke=\"{}\" stroke-width=\"3\" paint-order=\"stroke\"", rim_of(at));
            constexpr std::string_view opens = "<text";
            constexpr std::string_view closes = "</text>\n";
            std::string lifted;
            for (auto begin = svg.find(opens, at); begin < svg.find(ends, at);
                 begin = svg.find(opens, at)) {
                const auto size = svg.find(closes, begin) + closes.size() - begin;
                lifted += svg.substr(begin, size).insert(opens.size(), rim);
                svg.erase(begin, size);
            }
            if (!lifted.empty()) {
                texts += fmt::format("<g class=\"{}\">\n{}</g>\n", into, lifted);
            }
        }
    };
    lift("cluster", "</g>", "title", [&](std::size_t at) {
        const auto fill = svg.find("fill=\"", at) + 6;
        return svg.substr(fill, svg.find('"', fill) - fill);
    });
    lift("edge", "\n<!--", "label", [](std::size_t) { return "white\" stroke-opacity=\"0.8"; });
    return svg.insert(std::min(svg.rfind("</g>"), svg.size()), texts);
}

/// Renders a DOT graph with Graphviz. Throws: `stemma::error` of `cannot_write` if `dot` cannot be
/// run or fails.
std::string draw_svg(std::string_view dot) {
    auto answer = run_child("dot", {"-Tsvg"}, dot, true);
    if (!answer.ran || answer.status.value_or(1) != 0) {
        throw stemma::error(stemma::error_code::cannot_write, "dot", "",
                            answer.ran && answer.status.value_or(1) != 127
                                ? "could not draw the picture"
                                : "cannot run; install Graphviz, or use --to dot");
    }
    return with_texts_above(std::move(answer.text));
}

std::vector<stemma::overlay_table> read_overlays(const export_options& options,
                                                 const stemma::attributed_model& opened) {
    std::vector<stemma::overlay_table> overlays;
    for (const auto& path : options.overlays) {
        const stemma::mapped_file file(path);
        overlays.push_back(stemma::read_overlay(file.bytes(), path, opened));
        if (const auto unmatched = overlays.back().unmatched; unmatched > 0) {
            note(options.common,
                 fmt::format("{}: {} not in the model", path, counted(unmatched, "row")));
        }
    }
    return overlays;
}

void write_picture(const export_options& options, const stemma::attributed_model& opened) {
    stemma::collapse_options fold;
    fold.depth = options.depth;
    fold.max_boxes = options.max_boxes;
    if (!options.module.empty()) {
        const auto modules = stemma::find_modules(opened, options.module);
        if (modules.size() > 1) {
            throw stemma::error(stemma::error_code::refused, "--module", "",
                                fmt::format("'{}' matches {} modules; a picture shows one",
                                            options.module, modules.size()));
        }
        fold.root = modules.front();
    }
    const auto overlays = read_overlays(options, opened);
    stemma::string_sink dot;
    if (overlays.empty()) {
        stemma::write_dot(dot, opened, fold);
    } else {
        stemma::write_dot(dot, opened, fold, overlays.front(), options.column);
    }
    const auto picture = options.to == "svg" ? draw_svg(dot.text) : dot.text;
    write_output(options.output, [&](auto& sink) { sink.write(picture); });
}

void write_explorer(const export_options& options, const stemma::attributed_model& opened) {
    write_output(options.output, [&](auto& sink) { stemma::write_model_explorer(sink, opened); });
    const auto write_overlay = [&](const std::string& path, stemma::overlay what) {
        if (!path.empty()) {
            write_output({.path = path, .no_sync = options.output.no_sync},
                         [&](auto& sink) { stemma::write_explorer_overlay(sink, opened, what); });
        }
    };
    write_overlay(options.node_counts, stemma::overlay::nodes);
    write_overlay(options.weight_bytes, stemma::overlay::weight_bytes);
}

void write_page(const export_options& options, const stemma::attributed_model& opened) {
    const auto overlays = read_overlays(options, opened);
    write_output(options.output,
                 [&](auto& sink) { stemma_report::write_html_report(sink, opened, overlays); });
}

int run_export(const export_options& options) {
    const auto opened = open_model(options.common);
    if (options.to == "graphml") {
        const auto form = options.flat ? stemma::graphml_form::flat : stemma::graphml_form::nested;
        write_output(options.output,
                     [&](auto& sink) { stemma::write_graphml(sink, *opened, form); });
    } else if (options.to == "model-explorer") {
        write_explorer(options, *opened);
    } else if (options.to == "html") {
        write_page(options, *opened);
    } else {
        write_picture(options, *opened);
    }
    return done;
}

} // namespace

void add_export(CLI::App& app, action& chosen) {
    add_command<export_options>(
        app, chosen, "export", "write a model with its modules for a viewer", run_export,
        [](command_line takes, export_options& options) {
            takes.common(options.common, "text");
            takes.output(options.output);
            takes
                .choice("--to", options.to, "graphml|dot|svg|model-explorer|html",
                        "what is written")
                ->required();
            takes.flag("--flat", options.flat, "graphml: no nested graphs");
            takes.value("--module", options.module, "QUERY", "dot, svg: the module to draw");
            takes.value("--depth", options.depth, "N",
                        "dot, svg: levels to expand; as many as fit by default");
            takes
                .value("--max-nodes", options.max_boxes, "N", "dot, svg: maximum number of boxes",
                       "60")
                ->check(CLI::Range(2, 100000));
            takes.written("--node-counts", options.node_counts, "FILE",
                          "model-explorer: write an overlay that counts nodes");
            takes.written("--weight-bytes", options.weight_bytes, "FILE",
                          "model-explorer: write an overlay with the bytes of weights");
            takes
                .value("--overlay", options.overlays, "FILE",
                       "html, dot, svg: numbers to overlay, JSON of analyze --cost, profile, "
                       "numerics, or of docs/overlay.schema.json; repeatable for html")
                ->allow_extra_args(false);
            takes.value("--column", options.column, "NAME",
                        "dot, svg: the column of the overlay that colours the boxes; by default "
                        "the first one with numbers");
            const std::pair<const char*, std::string_view> fitting[]{
                {"--flat", "graphml"},      {"--node-counts", "model-explorer"},
                {"--module", "dot|svg"},    {"--weight-bytes", "model-explorer"},
                {"--depth", "dot|svg"},     {"--overlay", "dot|svg|html"},
                {"--max-nodes", "dot|svg"}, {"--column", "dot|svg"},
            };
            for (const auto& [option, forms] : fitting) {
                takes.applies(
                    option, fmt::format("requires --to {}", forms),
                    [&options, forms = forms] { return forms.find(options.to) != forms.npos; });
            }
            takes.applies("--overlay",
                          "is given more than once; only --to html shows more than one",
                          [&] { return options.to == "html" || options.overlays.size() == 1; });
            takes.applies("--column", "requires --overlay",
                          [&] { return !options.overlays.empty(); });
            takes.footer(
                "Examples:\n  stemma export model.onnx --to svg -o model.svg\n"
                "  stemma export model.onnx --to svg --module encoder.layer.0 -o layer.svg\n"
                "  stemma export model.onnx -m modules.json --to html -o model.html\n"
                "  stemma export model.onnx --to html -o model.html --overlay run.json\n"
                "  stemma export model.onnx --to svg -o model.svg --overlay cost.json --column "
                "MACs\n"
                "  stemma export model.onnx --to model-explorer -o model.json --weight-bytes "
                "w.json");
        });
}

} // namespace cli
