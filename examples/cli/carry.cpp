// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "report.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/report/summarize_model.hpp>

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

namespace cli {

namespace {

struct carry_options {
    std::string original;
    common_options common; // of the changed model; captures are of the original
    output_options output{.path = ""};
    std::string carriers = "metadata,mark";
    std::string sidecar;
};

void print_counts(const stemma::attributed_model& opened) {
    std::array<std::size_t, 5> counts{};
    const auto& origins = opened.tags().origins;
    for (stemma::id node = 0; node < opened.model().node_count(); ++node) {
        ++counts[static_cast<std::size_t>(origins.kind(node))];
    }
    using stemma::origin_kind;
    const auto count = [&](origin_kind kind) {
        return grouped(counts[static_cast<std::size_t>(kind)]);
    };
    print_row("carried",
              fmt::format("{} nodes kept, {} replaced, {} inserted, {} of unknown origin",
                          count(origin_kind::kept), count(origin_kind::replaced),
                          grouped(counts[static_cast<std::size_t>(origin_kind::inserted)] +
                                  counts[static_cast<std::size_t>(origin_kind::served)]),
                          count(origin_kind::unknown)));
}

int carry(const carry_options& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto carriers = stemma::carrier_set::named(options.carriers);
    static_cast<void>(sources_to_write(options.output)); // refused before anything is read
    auto before = options.common;
    before.model = options.original;
    before.attribution.min_confidence = 0;
    std::shared_ptr<stemma::attributed_model> original = open_model(before);
    original->forget_evidence();
    auto how = options.common.policies.found_in(known_policies(), options.common.attribution);
    how.digest = !options.output.path.empty();
    auto opened = stemma::carry_tags(std::move(original), options.common.model, std::move(how));
    for (const auto& text : opened->capture_notes()) {
        print_error(options.original + ": " + text);
    }
    const bool prints_text = options.common.format == "text" && !options.common.quiet;
    auto summary = stemma::summarize(*opened, "");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    summary.seconds = elapsed.count();
    if (prints_text) {
        print_summary(summary, summary.nodes);
        print_counts(*opened);
    }
    if (!options.sidecar.empty()) {
        stemma::write_sidecar(options.sidecar, *opened, summary, writing(options.output));
        if (prints_text) {
            print_row("sidecar", options.sidecar);
        }
    }
    if (const auto& output = options.output.path; !output.empty()) {
        warn_of_external_data(options.common, options.output.path, opened->model(),
                              options.output.data);
        const auto parameters = parameters_to_write(options.output, *opened);
        opened->forget_evidence();
        auto storing = writing(options.output);
        storing.parameters = parameters.empty() ? nullptr : &parameters;
        const auto bytes = stemma::write_tagged(*opened, output, carriers, storing);
        if (prints_text) {
            print_row("written", fmt::format("{}, {} bytes, carrier {}", output, grouped(bytes),
                                             options.carriers));
        }
    }
    if (options.common.format == "json") {
        standard_output out;
        stemma::write_json(out, summary);
    }
    return done;
}

} // namespace

void add_carry(CLI::App& app, action& chosen) {
    add_command<carry_options>(
        app, chosen, "carry", "give a tool's output the tags of its original", carry,
        [](command_line takes, carry_options& options) {
            takes.in_place();
            takes.argument("ORIGINAL", options.original,
                           "the ONNX file the tool was given; -m refers to it");
            takes.common(options.common, "text,json", "CHANGED");
            takes.written("-o,--output", options.output.path, "OUT",
                          "write CHANGED with its tags; without it only the report is printed");
            takes.value("--carrier", options.carriers, "C,...",
                        "how tags are stored: metadata, mark, attribute, doc-string, namespace, "
                        "model",
                        "metadata,mark");
            takes.written("--sidecar", options.sidecar, "FILE", "write everything known as JSON");
            takes.with(options.output);
            takes.data(options.output);
            takes.no_sync(options.output.no_sync);
            takes.needs_output(options.output.path, options.sidecar);
            takes.footer("Examples:\n  stemma carry model.onnx optimized.onnx -o tagged.onnx\n"
                         "  stemma carry model.onnx int8.onnx -m modules.json --sidecar tags.json");
        });
}

} // namespace cli
