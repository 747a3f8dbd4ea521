// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/fold/unfold_file.hpp>

#include <fmt/core.h>

namespace cli {

namespace {

struct unfold_options {
    common_options common;
    output_options output;
    bool as_called = false;
};

int unfold(const unfold_options& options) {
    const auto& output = options.output.path;
    const auto report = stemma::unfold_file(options.common.model, output,
                                            options.as_called ? stemma::unfolded_names::as_called
                                                              : stemma::unfolded_names::as_before,
                                            writing(options.output));
    warn_of_external_data(options.common, output, report.left_behind);
    if (!report.problem.empty()) {
        note(options.common, report.problem + "; functions are inlined at their calls");
    }
    if (report.lost_tags) {
        note(options.common, fmt::format("{}: tags were removed; tag {} to get new ones",
                                         options.common.model, output));
    }
    if (!options.common.quiet) {
        put("{}: {} bytes, {}\n", output, grouped(report.bytes),
            report.is_restored ? "restored" : counted(report.calls, "call") + " inlined");
    }
    return done;
}

} // namespace

void add_unfold(CLI::App& app, action& chosen) {
    add_command<unfold_options>(app, chosen, "unfold", "inline functions", unfold,
                                [](command_line takes, unfold_options& options) {
                                    takes.model(options.common.model);
                                    takes.in_place();
                                    takes.output(options.output.path, "the result");
                                    takes.flag("--as-called", options.as_called,
                                               "name results after the call, even if the file "
                                               "records the original names");
                                    takes.data(options.output);
                                    takes.no_sync(options.output.no_sync);
                                    takes.quiet(options.common.quiet);
                                    takes.footer(
                                        "Example:\n  stemma unfold folded.onnx -o model.onnx");
                                });
}

} // namespace cli
