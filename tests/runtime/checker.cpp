// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/json_writer.hpp>

#include <google/protobuf/stubs/logging.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>

// Runs the ONNX checker on models, and says where it is too old to have an opinion.

namespace {

struct verdict {
    bool judged = false;
    bool ok = false;
    std::string message;
};

/// Returns: what in the model is newer than the library, "" when nothing is.
std::string newer_part(const onnx::ModelProto& model) {
    if (model.ir_version() > onnx::IR_VERSION) {
        return "IR version " + std::to_string(model.ir_version()) + ", known up to " +
               std::to_string(onnx::IR_VERSION);
    }
    const auto& versions = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    const auto newer = [&](const auto& imports) {
        for (const auto& import : imports) {
            const auto domain = import.domain() == "ai.onnx" ? std::string() : import.domain();
            const auto entry = versions.find(domain);
            if (entry != versions.end() && import.version() > entry->second.second) {
                return "opset " + std::to_string(import.version()) + " of '" + domain +
                       "', known up to " + std::to_string(entry->second.second);
            }
        }
        return std::string();
    };
    auto part = newer(model.opset_import());
    for (int i = 0; part.empty() && i < model.functions_size(); ++i) {
        part = newer(model.functions(i).opset_import());
    }
    return part;
}

verdict check(const std::string& path) {
    try {
        std::ifstream file(path, std::ios::binary);
        if (!file) {
            return {false, false, "cannot judge: the file cannot be opened"};
        }
        onnx::ModelProto model;
        if (!model.ParseFromIstream(&file)) {
            return {true, false, "not a model that protobuf can parse"};
        }
        const auto newer = newer_part(model);
        if (!newer.empty()) {
            return {false, false, "cannot judge: " + newer};
        }
        // By path, so that the files of external data are looked for.
        onnx::checker::check_model(path);
        return {true, true, ""};
    } catch (const std::exception& e) {
        return {true, false, e.what()};
    }
}

/// Prints one line.
verdict judge(const std::string& path) {
    auto result = check(path);
    stemma::string_sink sink;
    stemma::json_writer out(sink);
    out.begin_object(true);
    out.member("file", path);
    out.member("judged", result.judged);
    out.member("ok", result.ok);
    out.member("message", result.message);
    out.end_object();
    out.finish();
    std::fputs(sink.text.c_str(), stdout);
    std::fflush(stdout);
    return result;
}

} // namespace

/// One JSON line per model: file, judged, ok, message; `-` stands for the models that standard
/// input names, one in a line, and each is answered at once. Exit code 0 when all were found valid,
/// 1 when one was refused, 3 when none was refused but one could not be judged.
int main(int argc, char** argv) {
    google::protobuf::SetLogHandler(nullptr);
    bool refused = false;
    bool unknown = false;
    const auto count = [&](const verdict& result) {
        unknown = unknown || !result.judged;
        refused = refused || (result.judged && !result.ok);
    };
    for (int i = 1; i < argc; ++i) {
        if (std::string(argv[i]) != "-") {
            count(judge(argv[i]));
            continue;
        }
        for (std::string path; std::getline(std::cin, path);) {
            count(judge(path));
        }
    }
    if (argc < 2) {
        std::fputs("usage: checker MODEL... | -\n", stderr);
        return 2;
    }
    return refused ? 1 : unknown ? 3 : 0;
}
