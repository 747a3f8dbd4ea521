// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/model_notes.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"
#include "../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::open_model_notes {

namespace {

std::vector<std::string> codes_of(const std::string& model,
                                  const stemma::attribution_options& options = {}) {
    stemma::attributed_model opened(model, options);
    std::vector<std::string> codes;
    for (const auto& note : stemma::model_notes(opened)) {
        CHECK(!note.text.empty());
        const bool of_capture = note.code.starts_with("capture.");
        CHECK(note.place == (of_capture ? options.captures.name() : model));
        codes.push_back(note.code);
    }
    return codes;
}

bool has(const std::vector<std::string>& codes, const std::string& code) {
    return std::find(codes.begin(), codes.end(), code) != codes.end();
}

} // namespace

TEST_CASE("model_notes: is empty if all is well") {
    for (const auto* fixture : {"bert_micro", "mlp", "control_flow"}) {
        const auto folder = test::fixture(fixture);
        CHECK(codes_of(folder + "/model.onnx").empty());
        CHECK(codes_of(folder + "/model.onnx",
                       {.captures = stemma::captures({folder + "/modules.json"})})
                  .empty());
    }
}

TEST_CASE("model_notes: reports a capture of another model") {
    const auto codes =
        codes_of(test::fixture("bert_micro/model.onnx"),
                 {.captures = stemma::captures({test::fixture("mlp/modules.json")})});
    CHECK((has(codes, "capture.unused") || has(codes, "capture.misfit")));
}

TEST_CASE("model_notes: scopes that lead nowhere do not make a capture foreign, if weights fit") {
    const test::scratch_folder folder;
    std::string modules = R"({"name": "", "class_name": "N"}, {"name": "h", "class_name": "D"},
                                {"name": "o", "class_name": "Linear"})";
    std::vector<test::message> nodes;
    std::vector<std::string> weights;
    std::string read = "x";
    for (const std::string name : {"a/b", "c/d", "e/f"}) {
        modules += R"(, {"name": "h.)" + name + R"(", "class_name": "Linear"})";
        weights.push_back("h." + name + ".weight");
        nodes.push_back(
            test::node("MatMul", {read, weights.back()}, {name}, "/" + name + "/MatMul"));
        read = name;
    }
    nodes.push_back(test::node("MatMul", {read, "o.weight"}, {"y"}, "/o/MatMul"));
    weights.push_back("o.weight");
    const auto model =
        folder.make("model.onnx", test::model(test::graph(nodes, {"x"}, {"y"}, weights)).bytes());
    const auto capture = folder.make(
        "modules.json", R"({"schema": "stemma.capture/1", "modules": [)" + modules + "]}");
    const stemma::attributed_model opened(model, {.captures = stemma::captures({capture})});
    for (const auto& note : stemma::model_notes(opened)) {
        INFO(note.text);
        CHECK(note.text.find("another model") == std::string::npos);
    }
}

TEST_CASE("model_notes: reports tags of a changed graph") {
    const test::scratch_folder folder;
    stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    auto bytes = stemma::tagged_bytes(opened);
    const auto relu = bytes.find("Relu");
    REQUIRE(relu != std::string::npos);
    for (auto at = relu; at != std::string::npos; at = bytes.find("\x22\x04Relu", at + 1)) {
        if (bytes.compare(at, 6, "\x22\x04Relu") == 0) {
            bytes.replace(at, 6, "\x22\x04Tanh"); // the type of an operator
        }
    }
    CHECK(has(codes_of(folder.make("changed.onnx", bytes)), "tags.stale"));
}

TEST_CASE("model_notes: reports a model that names no module") {
    // A graph with one unnamed node: ModelProto.graph.node{op_type}.
    const std::string node = "\x0a\x01x\x12\x01y\x22\x04Relu";
    const std::string graph = std::string("\x0a") + static_cast<char>(node.size()) + node;
    const test::scratch_folder folder;
    const auto codes = codes_of(
        folder.make("bare.onnx", std::string("\x3a") + static_cast<char>(graph.size()) + graph));
    CHECK(has(codes, "tree.unnamed"));
    CHECK(has(codes, "model.no_opsets"));
    CHECK(has(codes, "value.undefined"));
}

} // namespace test::open_model_notes
