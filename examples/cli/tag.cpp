// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/open/write_tagged.hpp>
#include <stemma/report/summarize_model.hpp>

#include <fmt/core.h>

#include <chrono>
#include <string>
#include <vector>

namespace cli {

namespace {

struct tag_options {
    common_options common;
    tag_output output;
    std::string oracle;
};

int tag(const tag_options& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto carriers = stemma::carrier_set::named(options.output.carriers);
    static_cast<void>(sources_to_write(options.output.file)); // refused before anything is read
    if (carriers.attribute) {
        note(options.common, "the ONNX checker and ONNX Runtime reject models with the attributes "
                             "of --carrier attribute");
    }
    // The tags in the file are about to be replaced; its module tree is kept.
    auto common = options.common;
    common.attribution.retag = true;
    common.attribution.digest = !options.output.file.path.empty();
    auto opened = open_model(common);
    const bool replaced = !common.captures.empty() && !opened->tree_from_model();
    if (const auto lost = opened->lost_classes(); lost > 0 && !replaced) {
        note(common, fmt::format("{}: loses the classes of {} modules, known only from its record",
                                 common.model, lost));
    }
    const bool sums_up = common.format != "text" || !common.quiet ||
                         !options.output.sidecar.empty() || !options.oracle.empty();
    auto summary = sums_up ? stemma::summarize(*opened, options.oracle) : stemma::tag_summary();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    summary.seconds = elapsed.count();
    if (prints_text(options.common)) {
        print_summary(summary, summary.nodes);
    } else if (options.common.format == "text") {
        print_accuracy(summary); // asked for, and no message
    }
    write_tags(common, options.output, *opened, summary, carriers);
    return done;
}

} // namespace

void add_tag(CLI::App& app, action& chosen) {
    add_command<tag_options>(
        app, chosen, "tag", "find the module of every node, and write tags", tag,
        [](command_line takes, tag_options& options) {
            takes.common(options.common);
            takes.in_place();
            auto* output =
                takes.written("-o,--output", options.output.file.path, "OUT",
                              "write the tagged model; without it only the report is printed");
            takes.value("--carrier", options.output.carriers, "C,...",
                        "how tags are stored: metadata, mark, attribute, doc-string, namespace, "
                        "model",
                        "metadata,mark");
            takes
                .flag("--name-nodes", options.output.name_nodes,
                      "name unnamed nodes, for tools that identify nodes by name")
                ->needs(output);
            takes.written("--sidecar", options.output.sidecar, "FILE",
                          "write everything known as JSON");
            takes.with(options.output.file);
            takes.oracle(options.oracle);
            takes.data(options.output.file);
            takes.no_sync(options.output.file.no_sync);
            takes.needs_output(options.output.file.path, options.output.sidecar);
            takes.footer(
                "Examples:\n  stemma tag model.onnx\n  stemma tag model.onnx -o tagged.onnx\n"
                "  stemma tag model.onnx -m modules.json -o tagged.onnx --sidecar tags.json");
        });
}

} // namespace cli
