// SPDX-License-Identifier: Apache-2.0
#include "onnx_plugin.h"

#include <stemma/onnx/proto/check.hpp>
#include <stemma/onnx/proto/infer_types.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <string_view>

namespace {

bool parse(const char* bytes, size_t size, onnx::ModelProto& model) {
    if (size > static_cast<size_t>(std::numeric_limits<int>::max())) {
        return false;
    }
    google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes),
                                                  static_cast<int>(size));
    stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
    return model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

int answer(int status, std::string_view text, char* message, size_t size) {
    if (size > 0) {
        const auto length = std::min(text.size(), size - 1);
        std::memcpy(message, text.data(), length);
        message[length] = '\0';
    }
    return status;
}

} // namespace

int stemma_plugin_version() {
    return STEMMA_PLUGIN_VERSION;
}

int stemma_infer_types(const char* model, size_t size, stemma_take_type take, void* user,
                       char* message, size_t message_size) {
    onnx::ModelProto parsed;
    if (!parse(model, size, parsed)) {
        return answer(1, "protobuf cannot parse the model", message, message_size);
    }
    const auto reason = stemma::infer_types(
        parsed, [&](std::uint32_t graph, const std::string& name, const std::string& type) {
            take(user, graph, name.data(), name.size(), type.data(), type.size());
        });
    return answer(reason.empty() ? 0 : 1, reason, message, message_size);
}

int stemma_check_model(const char* model, size_t size, const char* path, char* message,
                       size_t message_size) {
    onnx::ModelProto parsed;
    if (!parse(model, size, parsed)) {
        return answer(1, "protobuf cannot parse the model", message, message_size);
    }
    if (const auto newer = stemma::find_newer_version(parsed)) {
        return answer(2, *newer, message, message_size);
    }
    try {
        // By path, so that external data are looked for in the model's folder.
        onnx::checker::check_model(std::string(path));
    } catch (const std::exception& refusal) {
        return answer(1, refusal.what(), message, message_size);
    }
    return 0;
}
