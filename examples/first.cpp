// SPDX-License-Identifier: Apache-2.0
// Lists each Softmax of a model with its module, cuts out a module, and writes the tagged model.
//
//   first MODEL.onnx PART.onnx TAGGED.onnx
#include <stemma/stemma.hpp>

#include <iostream>

int main(int, char** argv) {
    const auto model = stemma::open(argv[1]);
    for (auto node : model.nodes() | ranges::views::filter(stemma::op_is("Softmax"))) {
        std::cout << node.name() << "  " << node.tag() << "  " << node.provenance() << '\n';
    }
    model.cut("encoder.layer.0.attention").write(argv[2]);
    model.write(argv[3]);
}
