// SPDX-License-Identifier: Apache-2.0
// What people write who have protobuf at hand: parse the model, give every node a tag, and save it.
// Nodes without a scope in their names take that of a reader. Two metadata entries a node are
// written, which is less than `stemma tag` writes.
#include <onnx/onnx_pb.h>

#include <google/protobuf/arena.h>
#include <google/protobuf/unknown_field_set.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace {

void add_entry(onnx::NodeProto& node, std::string_view key, std::string_view value) {
    onnx::StringStringEntryProto entry;
    entry.set_key(std::string(key));
    entry.set_value(std::string(value));
    // The installed schema may not know the field yet.
    node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(
        9, entry.SerializeAsString());
}

} // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::cerr << "usage: protobuf_tag IN.onnx OUT.onnx\n";
        return 2;
    }
    google::protobuf::Arena arena;
    auto* model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
    {
        std::ifstream in(words[1], std::ios::binary);
        if (!model->ParseFromIstream(&in)) {
            std::cerr << words[1] << ": no model\n";
            return 3;
        }
    }
    auto& nodes = *model->mutable_graph()->mutable_node();
    std::unordered_map<std::string_view, std::string_view> of_value; // the scope of a reader
    for (int i = nodes.size(); i-- > 0;) {
        auto& node = nodes[i];
        const std::string_view name = node.name();
        const auto slash = name.rfind('/');
        std::string_view scope;
        if (slash != name.npos) {
            scope = name.substr(0, slash);
        } else {
            for (const auto& output : node.output()) {
                const auto found = of_value.find(output);
                scope = found == of_value.end() ? scope : found->second;
            }
        }
        for (const auto& input : node.input()) {
            of_value[input] = scope;
        }
        add_entry(node, "pkg.stemma.source_module", scope);
        add_entry(node, "pkg.stemma.module", scope);
    }
    std::ofstream out(words[2], std::ios::binary);
    if (!model->SerializeToOstream(&out) || !out.flush()) {
        std::cerr << words[2] << ": cannot be written\n";
        return 4;
    }
    return 0;
}
