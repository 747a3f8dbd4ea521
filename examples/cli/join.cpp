// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"
#include "parts.hpp"
#include "terminal.hpp"

#include <stemma/core/xxh64.hpp>
#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/onnx/wire/external_data.hpp>
#include <stemma/onnx/wire/join_edited.hpp>
#include <stemma/onnx/wire/join_model.hpp>
#include <stemma/onnx/wire/split_folder.hpp>

#include <fmt/core.h>

#include <filesystem>
#include <string>

namespace cli {

namespace {

struct join_options {
    std::string folder;
    std::string output;
    bool quiet = false;
    bool no_sync = false;
};

/// What is no longer as `split` wrote it.
std::string list_edited(const stemma::split_folder& folder) {
    std::string text;
    const auto add = [&](std::string_view name) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
    };
    for (std::size_t p = 0; p < folder.parts().size(); ++p) {
        if (folder.parts()[p].edited) {
            add(folder.manifest().parts[p].at.file);
        }
    }
    if (folder.skeleton().edited) {
        add(folder.manifest().skeleton.file);
    }
    if (folder.weights_edited()) {
        add(folder.manifest().weights.file);
    }
    return text;
}

int join(const join_options& options) {
    const stemma::split_folder folder(options.folder);
    const auto edited = list_edited(folder);
    const auto rope =
        folder.is_edited() ? stemma::edited_join(folder).build() : stemma::follow_recipe(folder);
    if (rope.size() >= std::uint64_t{1} << 32U) {
        throw stemma::error(stemma::error_code::too_large, options.output, "",
                            "the model would have 4 GiB or more");
    }
    if (edited.empty() &&
        stemma::to_hex(stemma::hash_joined(rope, folder)) != folder.manifest().source.hash) {
        throw stemma::error(stemma::error_code::contradiction, options.folder, "",
                            "the parts are as they were written, yet do not make the source");
    }
    stemma::output_file output(options.output);
    stemma::write_joined(rope, folder, output);
    output.commit(!options.no_sync);
    if (!options.quiet) {
        put("{}: {}\n", options.output,
            edited.empty() ? fmt::format("the same bytes as {}", folder.manifest().source.file)
                           : fmt::format("joined with changes in {}", edited));
    }
    const auto external = stemma::external_files(*folder.skeleton().model);
    for (const auto& name : external) {
        if (!options.quiet && !std::filesystem::exists(folder_of(options.output) / name)) {
            print_error(
                fmt::format("{}: its weights in '{}' are not beside it", options.output, name));
        }
    }
    return done;
}

} // namespace

void add_join(CLI::App& app, action& chosen) {
    auto options = std::make_shared<join_options>();
    auto& command = *app.add_subcommand("join", "put the parts of a split model together again");
    command.add_option("folder", options->folder, "what `stemma split` wrote; parts may be edited")
        ->type_name("DIR")
        ->required();
    command.add_option("-o,--output", options->output, "where the model goes")
        ->type_name("OUT")
        ->required();
    command.add_flag("-q,--quiet", options->quiet, "print only errors");
    add_no_sync_option(command, options->no_sync);
    command.footer("Parts that nobody changed give the model back byte for byte.\n\n"
                   "Example:\n  stemma join parts -o model.onnx");
    command.callback([&chosen, options] { chosen = [options] { return join(*options); }; });
}

} // namespace cli
