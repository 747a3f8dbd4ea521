// SPDX-License-Identifier: Apache-2.0
// A program that holds an onnx::ModelProto: it asks where nodes come from, writes that into the
// model, changes the graph, asks again, and takes everything back.
//
//   model_proto MODEL.onnx MODULES.json
#include <stemma/io/capture.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/proto/proto_model.hpp>
#include <stemma/onnx/proto/tag_proto.hpp>
#include <stemma/tagger.hpp>

#include <onnx/onnx_pb.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

namespace {

std::string read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Tags the model as it is now, and says how many nodes there are and what became of one of them.
void tag(onnx::ModelProto& model, const stemma::module_tree& modules, std::string_view example) {
    const stemma::proto_model tables(model);
    const stemma::onnx_operators ops(tables);
    auto found = stemma::tag_operators(ops, modules);
    std::cout << tables.node_count() << " nodes\n";
    for (stemma::id node = 0; node < tables.node_count(); ++node) {
        if (tables.name(node) == example) {
            std::cout << example << "\n  " << found.tags.text(found.selected(node)) << " ("
                      << to_string(found.attributions[node].source) << ")\n";
        }
    }
    stemma::tag(model, modules, found);
}

/// What this program is really for: here, it looks at the queries of the first layer.
void add_probe(onnx::GraphProto& graph) {
    auto& probe = *graph.add_node();
    probe.set_name("probe");
    probe.set_op_type("ReduceMax");
    probe.add_input("/encoder/layer.0/attention/self/query/Add_output_0");
    probe.add_output("largest_query");
}

int run(const char* model_path, const char* modules_path) {
    onnx::ModelProto model;
    if (!model.ParseFromString(read(model_path))) {
        std::cerr << model_path << ": not an ONNX model\n";
        return 1;
    }
    stemma::capture_reader capture;
    capture.read(read(modules_path), modules_path);
    const auto modules = capture.tree();

    const auto loaded = model.SerializeAsString();
    tag(model, modules, "/encoder/layer.1/intermediate/dense/MatMul");
    add_probe(*model.mutable_graph());
    tag(model, modules, "probe");

    stemma::strip(model);
    model.mutable_graph()->mutable_node()->RemoveLast();
    std::cout << (model.SerializeAsString() == loaded ? "as it was, to the byte\n" : "changed\n");
    return 0;
}

} // namespace

int main(int argc, char** argv) try {
    return argc == 3 ? run(argv[1], argv[2]) : 2;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
}
