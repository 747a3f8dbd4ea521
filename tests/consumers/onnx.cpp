// SPDX-License-Identifier: Apache-2.0
// Uses stemma::onnx like a user's program: it has an onnx::ModelProto.
#include <stemma/proto/proto_model.hpp>

#include <onnx/onnx_pb.h>

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
    onnx::ModelProto model;
    std::ifstream file(argc == 2 ? argv[1] : "", std::ios::binary);
    if (!model.ParseFromIstream(&file)) {
        return 2;
    }
    const stemma::proto_model tables(model);
    std::cout << tables.node_count() << " nodes\n";
    return tables.node_count() > 0 ? 0 : 1;
}
