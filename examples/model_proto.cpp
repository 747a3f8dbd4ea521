// SPDX-License-Identifier: Apache-2.0
// Tags an onnx::ModelProto in place, changes the graph, tags it again, and strips it.
//
//   model_proto MODEL.onnx MODULES.json
#include <stemma/capture/captures.hpp>
#include <stemma/proto/attributed_proto.hpp>

#include <onnx/onnx_pb.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

/// Tags the model as it is now, and says how many nodes there are and what became of one of them.
void tag(onnx::ModelProto& model, const std::string& capture, std::string_view example) {
    stemma::attributed_proto opened(model, {.captures = stemma::captures({capture})});
    const auto& tagged = opened.tags();
    const auto nodes = opened.model().node_count();
    std::cout << nodes << " nodes\n";
    for (stemma::id node = 0; node < nodes; ++node) {
        if (opened.model().name(node) == example) {
            std::cout << example << "\n  " << tagged.tags.text(tagged.selected(node)) << " ("
                      << to_string(tagged.attributions[node].source) << ")\n";
        }
    }
    opened.tag();
}

/// What this program is really for: here, it looks at the queries of the first layer.
void add_probe(onnx::GraphProto& graph) {
    auto& probe = *graph.add_node();
    probe.set_name("probe");
    probe.set_op_type("ReduceMax");
    probe.add_input("/encoder/layer.0/attention/self/query/Add_output_0");
    probe.add_output("largest_query");
}

int run(const char* path, const char* capture) {
    onnx::ModelProto model;
    std::ifstream file(path, std::ios::binary);
    if (!model.ParseFromIstream(&file)) {
        std::cerr << path << ": not an ONNX model\n";
        return 1;
    }

    const auto loaded = model.SerializeAsString();
    tag(model, capture, "/encoder/layer.1/intermediate/dense/MatMul");
    add_probe(*model.mutable_graph());
    tag(model, capture, "probe");

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
