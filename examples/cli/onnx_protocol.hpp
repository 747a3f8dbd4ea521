// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_ONNX_PROTOCOL_HPP
#define STEMMA_EXAMPLES_CLI_ONNX_PROTOCOL_HPP

#include <stemma/version.hpp>

#include <cstdint>

/// The protocol between `stemma` and `stemma-onnx`, the only program linked with the ONNX library:
/// other commands start without it, and a crash only loses its answer.
///
///     stemma-onnx PROTOCOL infer         a model on standard input, at once
///     stemma-onnx PROTOCOL check FILE
///  Both answer on standard output, and exit with one of the statuses below.
namespace cli::onnx_protocol {

/// The version of both sides; the last digits are raised whenever an answer changes.
constexpr int version = STEMMA_VERSION * 100 + 2;

/// Exit status of `stemma-onnx`. For `check` it is the verdict, explained on standard output.
enum status : int {
    valid = 0,
    invalid = 1,
    cannot_judge = 2,
    another_version = 3,
    failed = 4,
};

/// The header of each type in the answer to `infer`, followed by the name and the bytes of the
/// TypeProto. The last one has no type; its name is "" or the reason why types are missing.
struct type_record {
    std::uint32_t graph; ///< number of the graph, functions not counted
    std::uint32_t name_size;
    std::uint32_t type_size;
};

} // namespace cli::onnx_protocol

#endif // STEMMA_EXAMPLES_CLI_ONNX_PROTOCOL_HPP
