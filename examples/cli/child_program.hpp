// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_CHILD_PROGRAM_HPP
#define STEMMA_EXAMPLES_CLI_CHILD_PROGRAM_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// What another program wrote, and how it ended.
struct child_answer {
    std::string text;
    std::optional<int> status; ///< nothing when it did not end by itself
    std::string problem;       ///< why not: "crashed (Segmentation fault)"
    bool ran = false;          ///< whether it was found and started
};

/// Runs a program, which is looked for as shells do, with `input` on its standard input, and waits
/// for its end. What it writes to standard error is shown only on request.
child_answer run_child(const std::string& program, std::vector<std::string> arguments,
                       std::string_view input, bool shows_errors = false);

/// Runs this program again, on the terminal that it has, and waits for its end. Returns: what went
/// wrong, besides what it says itself; "" if nothing did.
std::string run_self(std::vector<std::string> arguments);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_CHILD_PROGRAM_HPP
