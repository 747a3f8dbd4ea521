// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/open/strip_model.hpp>

#include <fmt/core.h>

namespace cli {

namespace {

struct strip_options {
    common_options common;
    output_options output;
};

int strip(const strip_options& options) {
    const auto& output = options.output.path;
    const auto sizes = stemma::strip_model(options.common.model, output, writing(options.output));
    warn_of_external_data(options.common, output, sizes.left_behind);
    note(options.common, fmt::format("{}: {} bytes, {} fewer", output, grouped(sizes.after),
                                     grouped(sizes.before - sizes.after)));
    return done;
}

} // namespace

void add_strip(CLI::App& app, action& chosen) {
    add_command<strip_options>(app, chosen, "strip", "remove everything stemma wrote into a file",
                               strip, [](command_line takes, strip_options& options) {
                                   takes.model(options.common.model);
                                   takes.in_place();
                                   takes.output(options.output.path, "the result");
                                   takes.data(options.output);
                                   takes.no_sync(options.output.no_sync);
                                   takes.quiet(options.common.quiet);
                                   takes.threads();
                                   takes.footer(
                                       "Example:\n  stemma strip tagged.onnx -o plain.onnx");
                               });
}

} // namespace cli
