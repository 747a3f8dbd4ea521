// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EXAMPLES_CLI_ONNX_PROTOCOL_HPP
#define STEMMA_EXAMPLES_CLI_ONNX_PROTOCOL_HPP

#include <stemma/version.hpp>

#include <cstdint>

/// How `stemma` asks `stemma-onnx`, which alone is linked with the ONNX library: other commands
/// start without it, and a crash in it costs its answer only.
///
///     stemma-onnx PROTOCOL infer         a model on standard input, at once
///     stemma-onnx PROTOCOL check FILE
///
/// Both answer on standard output, and end with a status below.
namespace cli::onnx_protocol {

/// What both sides were built from; the last digits are raised whenever an answer changes.
constexpr int version = STEMMA_VERSION * 100 + 2;

/// How `stemma-onnx` ends. `check` says by it what the checker said, and on standard output why.
enum status : int {
    valid = 0,
    invalid = 1,
    cannot_judge = 2,
    another_version = 3,
    failed = 4,
};

/// What stands before each type in the answer to `infer`; the name and the bytes of the TypeProto
/// follow. The last one has no type, and as its name "" or the reason why types are missing.
struct type_record {
    std::uint32_t graph; ///< number of the graph, functions not counted
    std::uint32_t name_size;
    std::uint32_t type_size;
};

} // namespace cli::onnx_protocol

#endif // STEMMA_EXAMPLES_CLI_ONNX_PROTOCOL_HPP
