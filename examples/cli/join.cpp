// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <stemma/cut/join_folder.hpp>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>

namespace cli {

namespace {

struct join_request {
    std::string folder;
    std::string output;
    bool quiet = false;
    bool no_sync = false;
};

int join(const join_request& asked) {
    const auto joined = stemma::join_folder(asked.folder, asked.output, !asked.no_sync);
    if (asked.quiet) {
        return done;
    }
    put("{}: {}\n", asked.output,
        joined.edited.empty()
            ? fmt::format("identical to {}", joined.source)
            : fmt::format("joined with changes in {}", fmt::join(joined.edited, ", ")));
    for (const auto& name : joined.missing) {
        print_error(fmt::format("{}: its weights in '{}' are not beside it", asked.output, name));
    }
    return done;
}

} // namespace

void add_join(CLI::App& app, action& chosen) {
    add_command<join_request>(
        app, chosen, "join", "join the parts of a split model", join,
        [](command_line takes, join_request& asked) {
            takes
                .value("folder", asked.folder, "DIR",
                       "the folder written by `stemma split`; parts may be edited")
                ->required();
            takes.output(asked.output, "the model");
            takes.quiet(asked.quiet, "print only errors");
            takes.no_sync(asked.no_sync);
            takes.footer("Unchanged parts restore the model byte for byte.\n\n"
                         "Example:\n  stemma join parts -o model.onnx");
        });
}

} // namespace cli
