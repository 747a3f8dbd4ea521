// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_ONNX_LIBRARY_HPP
#define STEMMA_EXAMPLES_CLI_ONNX_LIBRARY_HPP

#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/value_types.hpp>

#include <cstdint>
#include <string>

namespace cli {

/// The verdict of the ONNX checker.
struct check_answer {
    enum class verdict : std::uint8_t { valid, invalid, cannot_judge };

    verdict said = verdict::cannot_judge;
    std::string text;
};

/// Adds the types that the ONNX library infers for the values of a model; weights are not read.
///
/// Returns: "" or why nothing could be inferred, for example because the library is missing.
std::string add_inferred_types(const stemma::wire_model& model, stemma::value_types& types);

/// Runs the ONNX checker on the file of a model.
check_answer check_with_onnx(const stemma::wire_model& model);

} // namespace cli

#endif // STEMMA_EXAMPLES_CLI_ONNX_LIBRARY_HPP
