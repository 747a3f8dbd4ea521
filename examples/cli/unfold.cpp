// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "terminal.hpp"
#include "untagged.hpp"

#include <stemma/detail/onnx_fields.hpp>
#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/inline_functions.hpp>
#include <stemma/onnx/wire/inlined_names.hpp>
#include <stemma/onnx/wire/map_model.hpp>
#include <stemma/onnx/wire/open_folds.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/onnx/wire/wire_reader.hpp>
#include <stemma/policy/carrier.hpp>

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

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

/// Whether the file says how it was folded.
bool was_folded(std::string_view bytes, const std::string& file) {
    if (bytes.size() >= std::size_t{1} << 32U) {
        return false; // and no model
    }
    stemma::wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), file);
    for (stemma::wire_field field; fields.next(field);) {
        if (field.is_bytes(stemma::detail::onnx_fields::model::metadata_props) &&
            stemma::wire_model::read_entry(fields, field).first == stemma::fold_key) {
            return true;
        }
    }
    return false;
}

void check_functions(const stemma::wire_model& model) {
    if (model.functions().empty()) {
        throw stemma::error(stemma::error_code::not_found, model.file(), "", "has no functions");
    }
}

void finish(const unfold_options& options, const untagged_model& source,
            const stemma::byte_rope& rope, const std::string& what, bool has_tags) {
    const auto& model = source.model();
    write_rope(rope, source.file(), model, options.output, options.data, !options.no_sync);
    const bool had_tags =
        stemma::find_model_metadata(model, stemma::fold_source_tags_key).has_value();
    if (!has_tags && (source.was_tagged() || had_tags)) {
        note(options.common, fmt::format("{}: tags were taken out; tag {} for new ones",
                                         options.common.model, options.output));
    }
    if (!options.common.quiet) {
        put("{}: {} bytes, {}\n", options.output, grouped(rope.size()), what);
    }
}

std::string opened_calls(std::size_t count) {
    return counted(count, "call") + " opened";
}

/// Opens calls by their names alone, or as the file says.
int unfold_by_name(const unfold_options& options, const stemma::mapped_file& file) {
    const stemma::wire_model tagged(file.bytes(), options.common.model);
    check_functions(tagged);
    const untagged_model source(file, tagged, options.output);
    bool has_tags = false;
    if (const auto rope = open_folds(options, source.model(), has_tags)) {
        finish(options, source, *rope, "as before it was folded", has_tags);
        return done;
    }
    stemma::function_inliner inliner(source.model());
    const auto rope = inliner.build();
    finish(options, source, rope, opened_calls(inliner.calls()), false);
    return done;
}

int unfold(const unfold_options& options) {
    auto file = stemma::map_model(options.common.model);
    if (options.as_called || was_folded(file.bytes(), options.common.model)) {
        return unfold_by_name(options, file);
    }
    stemma::attributed_model known(std::move(file), options.common.model, {});
    check_functions(known.model());
    const untagged_model source(known.file(), known.model(), options.output);
    const auto& model = source.model();
    stemma::function_inliner inliner(
        model,
        stemma::inlined_names(model, known.modules(), known.tags().attributions, known.calls()));
    const auto rope = inliner.build();
    finish(options, source, rope, opened_calls(inliner.calls()), false);
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
