// SPDX-License-Identifier: Apache-2.0
#include "onnx_protocol.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/proto/check.hpp>
#include <stemma/proto/infer_types.hpp>

#include <google/protobuf/io/coded_stream.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <sys/resource.h>

namespace {

namespace protocol = cli::onnx_protocol;

bool parse(std::string_view bytes, onnx::ModelProto& model) {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
        return false;
    }
    google::protobuf::io::CodedInputStream stream(
        reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
    return model.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

void write(std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

void write_type(std::uint32_t graph, std::string_view name, std::string_view type) {
    const protocol::type_record record{graph, static_cast<std::uint32_t>(name.size()),
                                       static_cast<std::uint32_t>(type.size())};
    std::fwrite(&record, sizeof record, 1, stdout);
    write(name);
    write(type);
}

int infer() {
    const stemma::mapped_file file("/dev/stdin");
    onnx::ModelProto model;
    const auto reason = parse(file.bytes(), model) ? stemma::infer_types(model, write_type)
                                                   : "protobuf cannot parse the model";
    write_type(0, reason, "");
    return protocol::valid;
}

int check(const std::string& path) {
    const stemma::mapped_file file(path);
    onnx::ModelProto model;
    if (!parse(file.bytes(), model)) {
        write("protobuf cannot parse the model");
        return protocol::invalid;
    }
    const auto result = stemma::check(model, path);
    write(result.text);
    return result.verdict == stemma::check_verdict::valid     ? protocol::valid
           : result.verdict == stemma::check_verdict::invalid ? protocol::invalid
                                                              : protocol::cannot_judge;
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3 || argv[1] != std::to_string(protocol::version)) {
        std::fputs("stemma-onnx: run by stemma of the same version, not by hand\n", stderr);
        return protocol::another_version;
    }
    // A crash counts as an answer here; no core dump.
    const rlimit no_dump{0, 0};
    setrlimit(RLIMIT_CORE, &no_dump);
    try {
        const std::string_view question = argv[2];
        const int status = question == "infer"               ? infer()
                           : question == "check" && argc > 3 ? check(argv[3])
                                                             : protocol::failed;
        return std::fflush(stdout) == 0 ? status : protocol::failed;
    } catch (const std::exception& e) {
        write(e.what());
        return protocol::failed;
    }
}
