// SPDX-License-Identifier: Apache-2.0
// Runs a pass that ignores tags, here libonnx's version converter, over a tagged model, and carries
// the tags over, even if the pass drops names.
//
//   convert_version MODEL.onnx MODULES.json FROM TO
#include <stemma/capture/captures.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/proto/attributed_proto.hpp>

#include <onnx/onnx_pb.h>
#include <onnx/version_converter/convert.h>

#include <cstddef>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

/// Carries what is known of the original over to what a pass made of it, and says how many nodes
/// have the tag that the one of their name had.
void carry(const std::shared_ptr<stemma::attributed_model>& original, onnx::ModelProto& converted,
           const std::vector<std::string>& names) {
    std::map<std::string, std::string> tag_of;
    for (stemma::id node = 0; node < original->model().node_count(); ++node) {
        tag_of.emplace(original->model().name(node),
                       original->tags().tags.text(original->tags().selected(node)));
    }
    stemma::attributed_proto carried(converted, {.captures = stemma::carried_from(original)});
    std::size_t same = 0;
    std::size_t tagged = 0;
    for (stemma::id node = 0; node < carried.model().node_count(); ++node) {
        const auto before = tag_of.find(names[node]);
        tagged += before == tag_of.end() ? 0U : 1U;
        same += before != tag_of.end() &&
                        carried.tags().tags.text(carried.tags().selected(node)) == before->second
                    ? 1U
                    : 0U;
    }
    std::cout << same << " of " << tagged << " nodes keep their tag\n";
    carried.tag();
}

int run(const char* path, const char* capture, int from, int to) {
    onnx::ModelProto model;
    std::ifstream file(path, std::ios::binary);
    if (!model.ParseFromIstream(&file)) {
        std::cerr << path << ": not an ONNX model\n";
        return 1;
    }
    // What the operators of this model do did not change since.
    model.mutable_opset_import(0)->set_version(from);
    const auto original = std::make_shared<stemma::attributed_model>(
        stemma::mapped_file::holding(model.SerializeAsString(), path),
        stemma::attribution_options{.captures = stemma::captures({capture})});

    auto converted = onnx::version_conversion::ConvertVersion(model, to);
    std::vector<std::string> names;
    for (const auto& node : converted.graph().node()) {
        names.push_back(node.name());
    }
    std::cout << "opset " << from << " to " << converted.opset_import(0).version() << ": ";
    carry(original, converted, names);

    // Not all passes leave names.
    stemma::strip(converted);
    for (auto& node : *converted.mutable_graph()->mutable_node()) {
        node.clear_name();
    }
    std::cout << "without names of nodes: ";
    carry(original, converted, names);
    return 0;
}

} // namespace

int main(int argc, char** argv) try {
    return argc == 5 ? run(argv[1], argv[2], std::stoi(argv[3]), std::stoi(argv[4])) : 2;
} catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 1;
}
