// SPDX-License-Identifier: Apache-2.0
// Prints the module of every Softmax of a model, with the evidence.
//
//   tag_model MODEL.onnx MODULES.json
#include <stemma/capture/captures.hpp>
#include <stemma/open/attributed_model.hpp>

#include <iostream>

int main(int, char** arguments) {
    const stemma::attributed_model opened(arguments[1],
                                          {.captures = stemma::captures({arguments[2]})});
    const auto& model = opened.model();
    const auto& tagged = opened.tags();
    for (stemma::id node = 0; node < model.node_count(); ++node) {
        if (model.op_type(node) == "Softmax") {
            const auto& origin = tagged.attributions[node];
            std::cout << model.name(node) << " (evidence: " << to_string(origin.source) << ")\n  "
                      << tagged.tags.text(origin.module) << "\n";
        }
    }
}
