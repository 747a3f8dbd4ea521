// SPDX-License-Identifier: Apache-2.0
// `stemma tag` on top of protobuf: parses the model, computes the same tags, sets them in the
// messages and serializes these. It writes the same bytes, so the difference in time is the cost of
// the objects.
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/proto/tag_proto.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/tagging/tagger.hpp>

#include <onnx/onnx_pb.h>

#include <google/protobuf/arena.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <utility>

namespace {

/// Returns: the modules of the nodes.
stemma::tagging tag_nodes(const stemma::proto_model& model, stemma::module_tree& modules) {
    const stemma::onnx_operators ops(model);
    auto rebuilt = stemma::rebuild_tree(ops);
    modules = std::move(rebuilt.modules);
    stemma::evidence_context context(ops, modules, std::move(rebuilt.facts));
    return stemma::tag_operators(context, stemma::policies<>{});
}

int tag(const char* from, const char* to) {
    google::protobuf::Arena arena;
    auto* const model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
    {
        std::ifstream in(from, std::ios::binary);
        if (!model->ParseFromIstream(&in)) {
            std::cerr << from << ": not a model\n";
            return 3;
        }
    }
    stemma::module_tree modules;
    auto tags = tag_nodes(stemma::proto_model(*model), modules);
    stemma::detail::model_record about;
    about.from_model = true;
    stemma::tag(*model, modules, tags, {}, about);
    std::ofstream out(to, std::ios::binary);
    if (!model->SerializeToOstream(&out) || !out.flush()) {
        std::cerr << to << ": cannot write\n";
        return 4;
    }
    return 0;
}

} // namespace

int main(int count, char** words) try {
    if (count != 3) {
        std::cerr << "usage: protobuf_tag IN.onnx OUT.onnx\n";
        return 2;
    }
    return tag(words[1], words[2]);
} catch (const std::exception& problem) {
    std::cerr << problem.what() << "\n";
    return 3;
}
