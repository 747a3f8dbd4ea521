// SPDX-License-Identifier: Apache-2.0
// Writes a folder of inputs for every fuzz target, taken from the fixtures.
//
//   fuzz_seeds FOLDER
#include "../model_files.hpp"

#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

// What is longer makes a target slow, and says nothing that a shorter one does not.
constexpr std::size_t longest_file = 60000;
constexpr std::size_t longest_text = 8000;

class writer {
public:
    explicit writer(const std::string& folder) : folder_(folder) {}

    void write(const std::string& target, const std::string& text) {
        if (!text.empty()) {
            std::filesystem::create_directories(folder_ + "/" + target);
            std::ofstream(folder_ + "/" + target + "/" + std::to_string(count_++), std::ios::binary)
                << text;
        }
    }

private:
    std::string folder_;
    std::size_t count_ = 0;
};

void write_texts(const stemma::wire_model& model, writer& out) {
    const stemma::onnx_operators ops(model);
    std::string names;
    std::string metadata;
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        if (names.size() < longest_text) {
            names += std::string(ops.name(node)) + "\t" + std::string(ops.op_type(node));
            ops.for_each_parameter(
                node, [&](stemma::id p) { names += "\t" + std::string(ops.parameter_name(p)); });
            names += "\n";
        }
        if (metadata.size() < longest_text) {
            const auto before = metadata.size();
            ops.for_each_metadata(node, [&](std::string_view key, std::string_view value) {
                metadata.append(key).append("\t").append(value).append("\n");
            });
            metadata += metadata.size() > before ? "\n" : "";
        }
    }
    out.write("scope_names", names);
    out.write("metadata", metadata);
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    writer out(argv[1]);
    auto models = test::model_files();
    for (const auto& file : std::filesystem::directory_iterator(STEMMA_TEST_DATA "/dialects")) {
        if (file.path().extension() == ".onnx") {
            models.push_back(file.path().string());
        }
    }
    for (const auto& path : models) {
        const auto bytes = test::read_bytes(path);
        if (bytes.size() <= longest_file) {
            out.write("wire_scan", bytes);
            out.write("scan_differential", bytes);
        }
        write_texts(stemma::wire_model(bytes, path), out);
    }
    for (const auto& path : test::capture_files()) {
        if (const auto text = test::read_bytes(path); text.size() <= longest_file) {
            out.write("capture", text);
        }
    }
    for (const auto* text :
         {"encoder.layer.{0,1}.**", "class:Attention and op:MatMul", "not class:Lin* or head",
          "reads:**.weight", "/Net/Block.*", "(op:Add or op:Mul) and depth>2", "confidence<=0.5",
          "name:'a b' and conflict", "from:scope", "**", "\"quoted\\\" text\"", "#3"}) {
        out.write("query", text);
    }
}
