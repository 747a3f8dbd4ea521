// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_PROGRAM_HPP
#define STEMMA_EXAMPLES_CLI_PROGRAM_HPP

#include <stemma/open/attribution_options.hpp>

namespace cli {

/// Runs the command line of `stemma`, with policies that it may name. Returns: the exit status.
/// Requires: `policies` outlives the call; called once.
int run_program(int argc, char** argv, const stemma::onnx_policy_registry& policies);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_PROGRAM_HPP
