// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <stemma/core/id_set_pool.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/onnx/graph_sketch.hpp>
#include <stemma/onnx/module_statistics.hpp>
#include <stemma/onnx/sidecar.hpp>
#include <stemma/onnx/value_tags.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/rewrite.hpp>
#include <stemma/onnx/wire/tag_model.hpp>

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace cli {

namespace {

struct tag_options {
    common_options common;
    std::string output;
    std::string carriers = "metadata,mark";
    std::string sidecar;
    std::string oracle;
    std::string data = "keep";
    bool no_sync = false;
    bool force = false;
};

/// Returns: what puts the tags in.
stemma::tag_editor<stemma::carrier_set> editor_of(stemma::attributed_model& opened,
                                                  const stemma::carrier_set& carriers,
                                                  stemma::thread_limit threads) {
    const auto& model = opened.model();
    std::string record;
    std::string sketch;
    std::vector<stemma::id_set> values;
    const bool carries_values =
        carriers.metadata && !(model.tensors().empty() && model.value_infos().empty());
    stemma::run_tasks(threads.parts_of_operators(model.node_count()),
                      {[&] { record = stemma::to_json(opened.record(carriers), opened.modules()); },
                       [&] {
                           if (carries_values) {
                               values =
                                   stemma::find_value_tags(model, opened.modules(), opened.tags());
                           }
                       }});
    if (carriers.mark) {
        sketch = stemma::to_json(stemma::sketch_of(model, opened.tags().attributions, threads));
    }
    const auto table =
        carriers.model ? stemma::to_json(stemma::to_table(opened.tags())) : std::string();
    return {model, opened.modules(), opened.tags(), carriers, std::move(values), record, table,
            sketch};
}

void write_model(const tag_options& options, stemma::attributed_model& opened,
                 const stemma::carrier_set& carriers) {
    const auto& model = opened.model();
    const auto threads = threads_of(options.common);
    auto editor = editor_of(opened, carriers, threads);
    stemma::rewrite plan(model, editor, threads);
    stemma::output_file output(options.output);
    plan.write(opened.file(), output);
    stemma::place_external_data(model, options.output,
                                stemma::parse_data_placement(options.data).value(), options.force);
    output.commit(!options.no_sync);
    if (options.common.format == "text" && !options.common.quiet) {
        print_row("written",
                  fmt::format("{}, {} bytes, carrier {}", options.output,
                              grouped(static_cast<std::uint64_t>(plan.size())), options.carriers));
    }
}

void write_sidecar(const tag_options& options, stemma::attributed_model& opened,
                   const stemma::tag_summary& summary) {
    stemma::output_file output(options.sidecar);
    const auto values = stemma::find_value_tags(opened.model(), opened.modules(), opened.tags());
    stemma::write_sidecar(
        output, opened.model(), opened.modules(), opened.tags(),
        stemma::collect_statistics(opened.model(), opened.modules(), opened.tags()), values,
        summary);
    output.commit(!options.no_sync);
    if (options.common.format == "text" && !options.common.quiet) {
        print_row("sidecar", options.sidecar);
    }
}

/// External data stays where it is unless asked for, and is looked for beside the model.
void warn_of_external_data(const tag_options& options, const stemma::wire_model& model) {
    const auto folder = [](const std::string& path) {
        return std::filesystem::absolute(path).parent_path().lexically_normal();
    };
    if (options.data == "keep" && folder(options.output) != folder(options.common.model)) {
        const auto files = stemma::external_files(model);
        if (!files.empty()) {
            note(options.common,
                 fmt::format("{} keeps its weights in '{}' beside {}; runtimes look for it beside "
                             "{}: use --data link or --data copy",
                             options.output, files.front(), options.common.model, options.output));
        }
    }
}

int tag(const tag_options& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto carriers = stemma::parse_carriers(options.carriers);
    if (!carriers) {
        throw stemma::error(stemma::error_code::refused, "", "carrier",
                            "'" + options.carriers + "' is none that is known");
    }
    if (carriers->attribute) {
        note(options.common, "the ONNX checker and ONNX Runtime refuse models with the attributes "
                             "of --carrier attribute");
    }
    // The tags in the file are about to go; what its record knows of the modules is not.
    auto common = options.common;
    common.attribution.retag = true;
    common.attribution.digest = !options.output.empty();
    auto opened = open_model(common);
    if (const auto lost = opened->lost_classes(); lost > 0 && common.attribution.captures.empty()) {
        note(common,
             fmt::format("{}: classes of {} modules that only the record in it knew are lost",
                         common.model, lost));
    }
    const bool printed = common.format != "text" || !common.quiet;
    auto summary = printed || !options.sidecar.empty() || !options.oracle.empty()
                       ? summarize(*opened, options.oracle)
                       : stemma::tag_summary();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    summary.seconds = taken.count();
    if (options.common.format == "text" && printed) {
        print_summary(summary);
    }
    if (!options.sidecar.empty()) {
        write_sidecar(options, *opened, summary);
    }
    if (!options.output.empty()) {
        warn_of_external_data(options, opened->model());
        opened->forget_evidence();
        write_model(options, *opened, *carriers);
    }
    if (options.common.format == "json") {
        print_summary_json(summary);
    }
    return done;
}

} // namespace

void add_tag(CLI::App& app, action& chosen) {
    auto options = std::make_shared<tag_options>();
    auto& command =
        *app.add_subcommand("tag", "say for every node which module it came from, and write it");
    add_common_options(command, options->common);
    command
        .add_option("-o,--output", options->output,
                    "where the tagged model goes; without it only the report is printed")
        ->type_name("OUT");
    command
        .add_option("--carrier", options->carriers,
                    "how tags are stored: metadata, mark, attribute, doc-string, namespace, model")
        ->type_name("C,...")
        ->default_str("metadata,mark");
    command.add_option("--sidecar", options->sidecar, "write all that is known as JSON")
        ->type_name("FILE");
    command
        .add_option("--oracle", options->oracle,
                    "compare with the truth in a file, or with one source of evidence")
        ->type_name("TRUTH|SOURCE");
    add_data_option(command, options->data);
    command.add_flag("--force", options->force, "replace weight files that exist beside OUT");
    add_no_sync_option(command, options->no_sync);
    command.footer("Examples:\n  stemma tag model.onnx\n  stemma tag model.onnx -o tagged.onnx\n"
                   "  stemma tag model.onnx -m modules.json -o tagged.onnx --sidecar tags.json");
    command.callback([&chosen, options] { chosen = [options] { return tag(*options); }; });
}

} // namespace cli
