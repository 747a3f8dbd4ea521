// SPDX-License-Identifier: Apache-2.0
// What protobuf accepts, the scan accepts and reads alike; in the schema that is installed and in a
// newer one.
#include "../proto/told_models.hpp"
#include "fuzz.hpp"

#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const google::protobuf::LogSilencer quiet;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto installed = test::compare<onnx::ModelProto>(bytes).difference;
    fuzz::demand(installed.empty(), installed);
    const auto newer = test::compare<newer_onnx::ModelProto>(bytes).difference;
    fuzz::demand(newer.empty(), newer);
    return 0;
}
