// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_PROGRAM_HPP
#define STEMMA_EXAMPLES_CLI_PROGRAM_HPP

#include <stemma/open/attribution_options.hpp>

namespace cli {

/// Does what the command line of `stemma` asks for, with policies that it may name. Returns: the
/// exit status. Requires: `known` outlives the call, which is the only one.
int run_program(int argc, char** argv, const stemma::onnx_policy_registry& known);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_PROGRAM_HPP
