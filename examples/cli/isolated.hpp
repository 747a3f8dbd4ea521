// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_ISOLATED_HPP
#define STEMMA_EXAMPLES_CLI_ISOLATED_HPP

#include <cstdio>
#include <functional>
#include <string>

namespace cli {

/// What a process of its own wrote, and why it ended before its time: "" when it did not.
struct isolated_answer {
    std::string text;
    std::string problem;
};

/// Runs a function in a copy of this process, so that a crash in it costs no more than its answer:
/// the ONNX library is known to crash on models that it should refuse.
///
/// Requires: this process has one thread.
isolated_answer run_isolated(const std::function<void(std::FILE*)>& function);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_ISOLATED_HPP
