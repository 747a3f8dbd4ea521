// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "graphviz.hpp"
#include "output.hpp"
#include "report.hpp"

#include <stemma/error.hpp>
#include <stemma/io/dot.hpp>
#include <stemma/io/graphml.hpp>
#include <stemma/onnx/explorer_overlay.hpp>
#include <stemma/onnx/html_report.hpp>
#include <stemma/onnx/model_explorer.hpp>
#include <stemma/onnx/module_statistics.hpp>
#include <stemma/onnx/picture_notes.hpp>
#include <stemma/onnx/wire/value_descriptions.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <string>
#include <string_view>

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
};

void write_graphml(const export_options& options, const stemma::attributed_model& opened) {
    const stemma::value_descriptions describe(opened.model());
    write_output(options.output, [&](auto& sink) {
        stemma::write_graphml(
            sink, opened.operators(), opened.modules(), opened.tags(),
            options.flat ? stemma::graphml_form::flat : stemma::graphml_form::nested, describe);
    });
}

void write_picture(const export_options& options, const stemma::attributed_model& opened) {
    stemma::fold_options fold;
    fold.depth = options.depth;
    fold.max_boxes = options.max_boxes;
    if (!options.module.empty()) {
        const auto found = find_modules(opened, options.module);
        if (found.size() > 1) {
            throw stemma::error(stemma::error_code::refused, "--module", "",
                                fmt::format("'{}' asks for {} modules; a picture shows one",
                                            options.module, found.size()));
        }
        fold.root = found.front();
    }
    const stemma::value_descriptions describe(opened.model());
    const auto counts = stemma::collect_statistics(opened.model(), opened.modules(), opened.tags());
    const stemma::picture_notes notes(opened.model(), counts, describe);
    stemma::string_sink dot;
    stemma::write_dot(dot, opened.operators(), opened.modules(), opened.tags(), fold, describe,
                      notes);
    const auto picture = options.to == "svg" ? draw_svg(dot.text) : dot.text;
    write_output(options.output, [&](auto& sink) { sink.write(picture); });
}

void write_explorer(const export_options& options, const stemma::attributed_model& opened) {
    const auto& model = opened.model();
    const stemma::value_descriptions describe(model);
    const auto counts = stemma::collect_statistics(model, opened.modules(), opened.tags());
    const auto label = std::filesystem::path(opened.file().path()).filename().string();
    write_output(options.output, [&](auto& sink) {
        stemma::write_model_explorer(sink, label, model, opened.modules(), opened.tags(), counts,
                                     describe);
    });
    if (!options.node_counts.empty()) {
        write_output({options.node_counts, options.output.no_sync}, [&](auto& sink) {
            stemma::write_explorer_overlay(sink, model, [](stemma::id) { return 1; });
        });
    }
    if (!options.weight_bytes.empty()) {
        const auto bytes = stemma::weight_bytes(model);
        write_output({options.weight_bytes, options.output.no_sync}, [&](auto& sink) {
            stemma::write_explorer_overlay(sink, model,
                                           [&](stemma::id node) { return bytes[node]; });
        });
    }
}

void write_report(const export_options& options, stemma::attributed_model& opened) {
    const auto& model = opened.model();
    const stemma::value_descriptions describe(model);
    const auto counts = stemma::collect_statistics(model, opened.modules(), opened.tags());
    const auto summary = summarize(opened, "");
    write_output(options.output, [&](auto& sink) {
        stemma::write_html_report(sink, model, opened.operators().graph(), opened.modules(),
                                  opened.tags(), counts, summary, describe);
    });
}

/// Throws when an option is given that says nothing about what is written.
void refuse_misplaced(const export_options& options) {
    const auto refuse = [&](bool given, std::string_view option, std::string_view fits) {
        if (given && fits.find(options.to) == fits.npos) {
            throw stemma::error(stemma::error_code::refused, "", option,
                                fmt::format("says nothing about --to {}", options.to));
        }
    };
    refuse(options.flat, "--flat", "graphml");
    refuse(!options.module.empty(), "--module", "dot svg");
    refuse(options.depth != stemma::no_id, "--depth", "dot svg");
    refuse(!options.node_counts.empty(), "--node-counts", "model-explorer");
    refuse(!options.weight_bytes.empty(), "--weight-bytes", "model-explorer");
}

int run_export(const export_options& options) {
    refuse_misplaced(options);
    const auto opened = open_model(options.common);
    if (options.to == "graphml") {
        write_graphml(options, *opened);
    } else if (options.to == "model-explorer") {
        write_explorer(options, *opened);
    } else if (options.to == "html") {
        write_report(options, *opened);
    } else {
        write_picture(options, *opened);
    }
    return done;
}

} // namespace

void add_export(CLI::App& app, action& chosen) {
    auto options = std::make_shared<export_options>();
    auto& command = *app.add_subcommand("export", "write a model with its modules for a viewer");
    add_common_options(command, options->common, "text");
    add_output_options(command, options->output);
    command.add_option("--to", options->to, "what is written")
        ->required()
        ->type_name("graphml|dot|svg|model-explorer|html")
        ->check(CLI::IsMember({"graphml", "dot", "svg", "model-explorer", "html"}));
    command.add_flag("--flat", options->flat, "graphml: no graphs within graphs");
    command.add_option("--module", options->module, "dot, svg: the module that is shown")
        ->type_name("QUERY");
    command
        .add_option("--depth", options->depth,
                    "dot, svg: so many levels below it are open; without it as many as fit")
        ->type_name("N");
    command.add_option("--max-nodes", options->max_boxes, "dot, svg: most boxes in the picture")
        ->type_name("N")
        ->check(CLI::Range(2, 100000))
        ->default_str("60");
    command
        .add_option("--node-counts", options->node_counts,
                    "model-explorer: write an overlay that counts nodes")
        ->type_name("FILE");
    command
        .add_option("--weight-bytes", options->weight_bytes,
                    "model-explorer: write an overlay with the bytes of weights")
        ->type_name("FILE");
    command.footer(
        "Examples:\n  stemma export model.onnx --to svg -o model.svg\n"
        "  stemma export model.onnx --to svg --module encoder.layer.0 -o layer.svg\n"
        "  stemma export model.onnx -m modules.json --to html -o model.html\n"
        "  stemma export model.onnx --to model-explorer -o model.json --weight-bytes w.json");
    command.callback([&chosen, options] { chosen = [options] { return run_export(*options); }; });
}

} // namespace cli
