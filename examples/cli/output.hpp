// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_OUTPUT_HPP
#define STEMMA_EXAMPLES_CLI_OUTPUT_HPP

#include "common.hpp"

#include <stemma/io/file.hpp>

#include <CLI/CLI.hpp>

#include <string>

namespace cli {

/// Where a command writes what it makes.
struct output_options {
    std::string path = "-"; ///< `-`: standard output
    bool no_sync = false;
};

/// Adds `-o` and `--no-sync`.
inline void add_output_options(CLI::App& command, output_options& options) {
    command
        .add_option("-o,--output", options.path,
                    "where the result goes; standard output without it")
        ->type_name("OUT");
    add_no_sync_option(command, options.no_sync);
}

/// Calls `write(sink)` for the file, which appears when that is done, or for standard output.
template <class Write>
void write_output(const output_options& options, Write write) {
    if (options.path == "-") {
        standard_output out;
        write(out);
        return;
    }
    stemma::output_file file(options.path);
    write(file);
    file.commit(!options.no_sync);
}

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_OUTPUT_HPP
