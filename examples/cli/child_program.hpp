// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_CHILD_PROGRAM_HPP
#define STEMMA_EXAMPLES_CLI_CHILD_PROGRAM_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// The output and exit status of another program.
struct child_answer {
    std::string text;
    std::optional<int> status; ///< nothing if it did not exit
    std::string problem;       ///< why not: "crashed (Segmentation fault)"
    bool ran = false;          ///< whether it was found and started
};

/// Runs a program, found via PATH, with `input` on its standard input, and waits for it. Its
/// standard error is shown only on request.
child_answer run_child(const std::string& program, std::vector<std::string> arguments,
                       std::string_view input, bool shows_errors = false);

/// Runs this program again on the same terminal, and waits for it. Returns: an error that it could
/// not report itself, or "".
std::string run_self(std::vector<std::string> arguments);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_CHILD_PROGRAM_HPP
