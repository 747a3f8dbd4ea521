// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/onnx/external_data.hpp>
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
    output_options output{.path = ""};
    std::string carriers = "metadata,mark";
    std::string sidecar;
    std::string oracle;
    bool name_nodes = false;

    [[nodiscard]] bool prints_text() const { return common.format == "text" && !common.quiet; }
};

int tag(const tag_options& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto carriers = stemma::carrier_set::named(options.carriers);
    static_cast<void>(sources_to_write(options.output)); // refused before anything is read
    if (carriers.attribute) {
        note(options.common, "the ONNX checker and ONNX Runtime reject models with the attributes "
                             "of --carrier attribute");
    }
    // The tags in the file are about to be replaced; its module tree is kept.
    auto common = options.common;
    common.attribution.retag = true;
    common.attribution.digest = !options.output.path.empty();
    auto opened = open_model(common);
    const bool replaced = !common.captures.empty() && !opened->tree_from_model();
    if (const auto lost = opened->lost_classes(); lost > 0 && !replaced) {
        note(common, fmt::format("{}: loses the classes of {} modules, known only from its record",
                                 common.model, lost));
    }
    const bool sums_up = common.format != "text" || !common.quiet || !options.sidecar.empty() ||
                         !options.oracle.empty();
    auto summary = sums_up ? stemma::summarize(*opened, options.oracle) : stemma::tag_summary();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    summary.seconds = elapsed.count();
    if (options.prints_text()) {
        print_summary(summary, summary.nodes);
    } else if (options.common.format == "text") {
        print_accuracy(summary); // asked for, and no message
    }
    if (!options.sidecar.empty()) {
        stemma::write_sidecar(options.sidecar, *opened, summary, writing(options.output));
        if (options.prints_text()) {
            print_row("sidecar", options.sidecar);
        }
    }
    if (const auto& output = options.output.path; !output.empty()) {
        warn_of_external_data(common, options.output.path, opened->model(), options.output.data);
        const auto parameters = parameters_to_write(options.output, *opened);
        opened->forget_evidence();
        auto how = writing(options.output);
        how.name_nodes = options.name_nodes;
        how.parameters = parameters.empty() ? nullptr : &parameters;
        const auto bytes = stemma::write_tagged(*opened, output, carriers, how);
        if (options.prints_text()) {
            print_row("written", fmt::format("{}, {} bytes, carrier {}", output, grouped(bytes),
                                             options.carriers));
        }
    }
    if (common.format == "json") {
        standard_output out;
        stemma::write_json(out, summary);
    }
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
                takes.written("-o,--output", options.output.path, "OUT",
                              "write the tagged model; without it only the report is printed");
            takes.value("--carrier", options.carriers, "C,...",
                        "how tags are stored: metadata, mark, attribute, doc-string, namespace, "
                        "model",
                        "metadata,mark");
            takes
                .flag("--name-nodes", options.name_nodes,
                      "name unnamed nodes, for tools that identify nodes by name")
                ->needs(output);
            takes.written("--sidecar", options.sidecar, "FILE", "write everything known as JSON");
            takes.with(options.output);
            takes.oracle(options.oracle);
            takes.data(options.output);
            takes.no_sync(options.output.no_sync);
            takes.needs_output(options.output.path, options.sidecar);
            takes.footer(
                "Examples:\n  stemma tag model.onnx\n  stemma tag model.onnx -o tagged.onnx\n"
                "  stemma tag model.onnx -m modules.json -o tagged.onnx --sidecar tags.json");
        });
}

} // namespace cli
