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
    tag_output output;
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
    const auto carriers = stemma::carrier_set::named(options.output.carriers);
    static_cast<void>(sources_to_write(options.output.file)); // refused before anything is read
    auto before = options.common;
    before.model = options.original;
    before.attribution.min_confidence = 0;
    std::shared_ptr<stemma::attributed_model> original = open_model(before);
    original->forget_evidence();
    auto how = options.common.policies.found_in(known_policies(), options.common.attribution);
    how.digest = !options.output.file.path.empty();
    auto opened = stemma::carry_tags(std::move(original), options.common.model, std::move(how));
    for (const auto& text : opened->capture_notes()) {
        print_error(options.original + ": " + text);
    }
    auto summary = stemma::summarize(*opened, "");
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    summary.seconds = elapsed.count();
    if (prints_text(options.common)) {
        print_summary(summary, summary.nodes);
        print_counts(*opened);
    }
    write_tags(options.common, options.output, *opened, summary, carriers);
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
            takes.written("-o,--output", options.output.file.path, "OUT",
                          "write CHANGED with its tags; without it only the report is printed");
            takes.value("--carrier", options.output.carriers, "C,...",
                        "how tags are stored: metadata, mark, attribute, doc-string, namespace, "
                        "model",
                        "metadata,mark");
            takes.written("--sidecar", options.output.sidecar, "FILE",
                          "write everything known as JSON");
            takes.with(options.output.file);
            takes.data(options.output.file);
            takes.no_sync(options.output.file.no_sync);
            takes.needs_output(options.output.file.path, options.output.sidecar);
            takes.footer("Examples:\n  stemma carry model.onnx optimized.onnx -o tagged.onnx\n"
                         "  stemma carry model.onnx int8.onnx -m modules.json --sidecar tags.json");
        });
}

} // namespace cli
