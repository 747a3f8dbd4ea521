// SPDX-License-Identifier: Apache-2.0
// Writes a folder of inputs for every fuzz target. All are small, so that a target tries thousands
// in a second: models of a few nodes, and what is at the beginning of fixtures.
//
//   fuzz_seeds FOLDER
#include "../checkpoint_files.hpp"
#include "../model_files.hpp"
#include "../model_with_metadata.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/error.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/numerics/detail/npz.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t longest_file = 1000;
constexpr std::size_t longest_text = 400;

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

/// Models of a few nodes, one for each thing that a file may hold.
std::vector<std::string> small_models() {
    using namespace test;
    const auto branch = [](const char* to) { return graph({node("Relu", {"x"}, {to})}, {}, {to}); };
    const std::vector<message> models{
        model(graph({node("Relu", {"x"}, {"y"})}, {"x"}, {"y"})),
        model(graph({node("MatMul", {"x", "a.fc.weight"}, {"t"}, "/a/fc/MatMul"),
                     node("Add", {"t", "a.fc.bias"}, {"u"}, "/a/fc/Add"),
                     node("Relu", {"u"}, {"y"}, "/a/act/Relu")},
                    {"x"}, {"y"}, {"a.fc.weight", "a.fc.bias"})),
        model(graph({owner_node("If", {"c"}, {"y"},
                                {graph_attribute("then_branch", branch("p")),
                                 graph_attribute("else_branch", branch("q"))})},
                    {"c", "x"}, {"y"})),
        model(graph({owner_node("Loop", {"n", "c", "x"}, {"y"},
                                {graph_attribute("body", graph({node("Relu", {"v"}, {"w"})},
                                                               {"i", "k", "v"}, {"k", "w"}))})},
                    {"n", "c", "x"}, {"y"})),
        model(graph({node("f", {"x"}, {"y"}, "/a/f", "local")}, {"x"}, {"y"}))
            .inner(25, function("local", "f", {"a"}, {"b"}, {node("Relu", {"a"}, {"b"})})),
        model(graph({node("Identity", {"s"}, {"y"})}, {}, {"y"}).inner(15, sparse_tensor("s"))),
        model(graph({node("Identity", {"w"}, {"y"})}, {}, {"y"})
                  .inner(5, tensor("w", {2}).inner(13, entry("location", "data")).number(14, 1))),
        model(graph({node("Constant", {}, {"k"}).inner(5, text_attribute("value_string", "a")),
                     node("Identity", {"k"}, {"y"})},
                    {}, {"y"})
                  .inner(13, value_info("k"))),
    };
    std::vector<std::string> bytes;
    for (const auto& one : models) {
        bytes.push_back(one.bytes());
    }
    bytes.push_back(chain_of({dynamo({"a", "a.fc", "mm"}, {"zoo.A", "torch.nn.Linear", "aten.mm"}),
                              builder({"a", "a.act"}, {"zoo.A", "torch.nn.ReLU"})}));
    return bytes;
}

void write_model(const std::string& bytes, writer& out) {
    if (bytes.size() <= longest_file) {
        for (const auto* target : {"wire_scan", "tagging", "scan_differential"}) {
            out.write(target, bytes);
        }
    }
}

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

void write_sketch(const std::string& bytes, writer& out) {
    const test::tagged_model tagged(bytes);
    const auto stored = stemma::detail::sketch_of(tagged.model, tagged.found.attributions);
    std::string lines;
    for (const auto& type : stored.types) {
        lines.append(lines.empty() ? "" : "\t").append(type);
    }
    out.write("graph_sketch", lines + "\n" + stored.nodes + "\n" + stored.modules);
    out.write("graph_sketch", stemma::detail::to_json(stored));
}

/// Returns: the beginning of every list in it.
nlohmann::json beginning_of(const nlohmann::json& whole, std::size_t length) {
    auto part = whole;
    if (part.is_array() && part.size() > length) {
        part.erase(part.begin() + static_cast<std::ptrdiff_t>(length), part.end());
    }
    if (part.is_structured()) {
        for (auto& inside : part) {
            inside = beginning_of(inside, length);
        }
    }
    return part;
}

/// The longest beginning of a capture that is short enough, and is one.
void write_capture(const std::string& path, writer& out) {
    const auto whole = nlohmann::json::parse(test::read_bytes(path));
    for (std::size_t length = 8; length > 0; --length) {
        const auto text = beginning_of(whole, length).dump();
        if (text.size() > 2 * longest_file) {
            continue;
        }
        try {
            stemma::detail::capture_reader().read(text, "capture");
            out.write("capture", text);
            return;
        } catch (const stemma::error&) {
            continue;
        }
    }
}

/// Values in each format, preceded by a byte that selects it.
void write_values(const std::string& folder, writer& out) {
    const std::string elements("\0\0\x80\x3f\0\0\0\x40", 8);
    const std::vector<std::int64_t> two{2};
    out.write("values", "\1" + stemma::detail::npy_header(1, two) + elements);
    out.write("values",
              "\1" + stemma::detail::npy_header(10, std::vector<std::int64_t>{2, 2}) + elements);
    const auto tensor = test::tensor("w", {2}).number(2, 1).text(9, elements);
    out.write("values", "\2" + tensor.bytes());
    const auto path = folder + "/seed.npz";
    {
        stemma::output_file file(path);
        stemma::detail::npz_writer archive(file, path);
        archive.add("/a/b", 1, two, elements);
        archive.add("c", 7, {}, elements);
        archive.finish();
        file.commit(false);
    }
    out.write("values", std::string(1, '\0') + test::read_bytes(path));
    std::filesystem::remove(path);
}

/// Checkpoints of each format; of those with a byte in front, it says what the rest is.
void write_checkpoints(writer& out) {
    using namespace test::pickled;
    const std::string data(16, '\1');
    out.write("safetensors",
              std::string(1, '\0') +
                  test::safetensors(R"({"a.w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                    R"("b":{"dtype":"I64","shape":[],"data_offsets":[8,16]}})",
                                    data));
    out.write("safetensors",
              "\1"
              R"({"metadata":{},"weight_map":{"a.w":"1.safetensors","b":"2.safetensors"}})");
    const auto weight = tensor(storage("FloatStorage", "0", 4), 0, {2, 2}, {1, 2});
    const auto state = dict({{"a.w", weight}});
    const auto modules = dict({{"_metadata", dict({{"", "}"}, {"a", "}"}})}});
    const auto with_modules = "}" + text("a.w") + weight + "s" + modules + "b";
    const auto rebuild = global("torch._utils", "_rebuild_parameter");
    const auto script = global("__torch__", "M") + ")\x81" + dict({{"w", weight}}) + "b";
    for (const auto& value : {state, with_modules, dict({{"model", state}, {"n", integer(1)}}),
                              dict({{"p", call(rebuild, {weight, "\x88"})}})}) {
        out.write("torch_archive", test::torch_archive(value, data));
        out.write("pickle", std::string(1, '\0') + document(value));
    }
    out.write("pickle", "\1" + document(script));
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    writer out(argv[1]);
    for (const auto& bytes : small_models()) {
        write_model(bytes, out);
        write_model(test::tag(bytes, test::carriers_of(test::carrier_sets - 1)), out);
        write_texts(stemma::wire_model(bytes), out);
        write_sketch(bytes, out);
    }
    auto models = test::model_files();
    for (const auto& file : std::filesystem::directory_iterator(STEMMA_TEST_DATA "/dialects")) {
        if (file.path().extension() == ".onnx") {
            models.push_back(file.path().string());
        }
    }
    for (const auto& path : models) {
        const auto bytes = test::read_bytes(path);
        write_model(bytes, out);
        write_texts(stemma::wire_model(bytes, path), out);
    }
    for (const auto* name : {"modules.json", "fx.json", "trace.json"}) {
        for (const auto& path : test::files_called(name, ".json")) {
            write_capture(path, out);
        }
    }
    for (const auto* text :
         {"encoder.layer.{0,1}.**", "class:Attention and op:MatMul", "not class:Lin* or head",
          "reads:**.weight", "/Net/Block.*", "(op:Add or op:Mul) and depth>2", "confidence<=0.5",
          "name:'a b' and conflict", "from:scope", "**", "\"quoted\\\" text\"", "#3"}) {
        out.write("query", text);
    }
    for (const auto* text :
         {"File \"/a/net.py\", line 3, in f\n    x = 1\n  File \"b.py\", line 4, in <lambda>\n",
          "  File \"/a/net.py\", line 3\n    y = f(x)\n        ~~~~ <--- HERE\n",
          "/v/torch/nn/x.py(3): forward\n/a/net.py(4): f\n/v/torch/jit/_trace.py(1): g\n",
          "# /a/net.py:3:4",
          R"({"schema": "stemma.sources/1", "files": ["a.py"], "functions": ["f"],)"
          R"("frames": [[0, 3, 0, 0, 7]], "chains": [[null, 0], [0, 0]], "nodes": [[2, 1]],)"
          R"("modules": [[0, 0]]})"}) {
        out.write("stacks", text);
    }
    write_values(argv[1], out);
    write_checkpoints(out);
}
