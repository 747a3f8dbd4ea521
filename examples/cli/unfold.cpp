// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"
#include "untagged.hpp"

#include <stemma/error.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/inline_functions.hpp>
#include <stemma/onnx/wire/map_model.hpp>
#include <stemma/onnx/wire/open_folds.hpp>

#include <fmt/core.h>

#include <optional>
#include <string>

namespace cli {

namespace {

struct unfold_options {
    common_options common;
    std::string output;
    std::string data = "keep";
    bool as_called = false;
    bool no_sync = false;
};

/// Returns: the model as it was before it was folded; nothing when that cannot be made any more.
std::optional<stemma::byte_rope> open_folds(const unfold_options& options,
                                            const stemma::wire_model& model, bool& has_tags) {
    const auto record = stemma::find_fold_record(model);
    if (!record || options.as_called) {
        return std::nullopt;
    }
    const stemma::graph_contents contents(model);
    try {
        stemma::fold_opener opener(model, contents, *record);
        auto rope = opener.build();
        has_tags = opener.restored_tags();
        return rope;
    } catch (const stemma::error& e) {
        if (e.code() != stemma::error_code::contradiction) {
            throw;
        }
        note(options.common, std::string(e.what()) + "; functions are put in as they are called");
        return std::nullopt;
    }
}

int unfold(const unfold_options& options) {
    const auto file = stemma::map_model(options.common.model);
    const stemma::wire_model tagged(file.bytes(), options.common.model);
    const untagged_model source(file, tagged, options.output);
    const auto& model = source.model();
    if (model.functions().empty()) {
        throw stemma::error(stemma::error_code::not_found, options.common.model, "",
                            "has no functions");
    }
    bool has_tags = false;
    auto rope = open_folds(options, model, has_tags);
    std::string what = "as before it was folded";
    if (!rope) {
        stemma::function_inliner inliner(model);
        rope = inliner.build();
        what = counted(inliner.calls(), "call") + " opened";
    }
    write_rope(*rope, source.file(), model, options.output, options.data, !options.no_sync);
    const bool had_tags =
        stemma::find_model_metadata(model, stemma::fold_source_tags_key).has_value();
    if (!has_tags && (source.was_tagged() || had_tags)) {
        note(options.common, fmt::format("{}: tags were taken out; tag {} for new ones",
                                         options.common.model, options.output));
    }
    if (!options.common.quiet) {
        put("{}: {} bytes, {}\n", options.output, grouped(rope->size()), what);
    }
    return done;
}

} // namespace

void add_unfold(CLI::App& app, action& chosen) {
    auto options = std::make_shared<unfold_options>();
    auto& command = *app.add_subcommand("unfold", "put functions back where they are called");
    command.add_option("MODEL", options->common.model, "an ONNX file")->required();
    command.add_option("-o,--output", options->output, "where the result goes")
        ->type_name("OUT")
        ->required();
    command.add_flag("--as-called", options->as_called,
                     "name what comes out of a call after it, also where the file says how it was");
    add_data_option(command, options->data);
    add_no_sync_option(command, options->no_sync);
    command.add_flag("-q,--quiet", options->common.quiet, "no messages besides errors");
    command.footer("Example:\n  stemma unfold folded.onnx -o model.onnx");
    command.callback([&chosen, options] { chosen = [options] { return unfold(*options); }; });
}

} // namespace cli
