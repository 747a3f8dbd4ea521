// SPDX-License-Identifier: Apache-2.0
// Uses stemma::stemma like a user's program: reads an ONNX file.
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <nlohmann/json.hpp>

#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    const stemma::mapped_file file(argv[1]);
    const stemma::wire_model model(file.bytes());
    std::cout << nlohmann::json{{"nodes", model.node_count()}} << "\n";
    return model.node_count() > 0 ? 0 : 1;
}
