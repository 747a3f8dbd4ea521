// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"

#include <stemma/io/file.hpp>
#include <stemma/onnx/wire/map_model.hpp>
#include <stemma/onnx/wire/rewrite.hpp>
#include <stemma/onnx/wire/tag_model.hpp>

#include <fmt/core.h>

namespace cli {

namespace {

struct strip_options {
    common_options common;
    std::string output;
    bool no_sync = false;
};

int strip(const strip_options& options) {
    const auto file = stemma::map_model(options.common.model);
    const stemma::wire_model model(file.bytes(), options.common.model, threads_of(options.common));
    stemma::strip_editor editor(model);
    stemma::rewrite plan(model, editor, threads_of(options.common));
    stemma::output_file output(options.output);
    plan.write(file, output);
    output.commit(!options.no_sync);
    note(options.common,
         fmt::format("{}: {} bytes, {} fewer", options.output,
                     grouped(static_cast<std::uint64_t>(plan.size())),
                     grouped(file.bytes().size() - static_cast<std::uint64_t>(plan.size()))));
    return done;
}

} // namespace

void add_strip(CLI::App& app, action& chosen) {
    auto options = std::make_shared<strip_options>();
    auto& command = *app.add_subcommand("strip", "take everything stemma wrote out of a file");
    command.add_option("MODEL", options->common.model, "an ONNX file")->required();
    command.add_option("-o,--output", options->output, "where the result goes")
        ->type_name("OUT")
        ->required();
    add_no_sync_option(command, options->no_sync);
    command.add_flag("-q,--quiet", options->common.quiet, "no messages besides errors");
    add_threads_option(command, options->common);
    command.footer("Example:\n  stemma strip tagged.onnx -o plain.onnx");
    command.callback([&chosen, options] { chosen = [options] { return strip(*options); }; });
}

} // namespace cli
