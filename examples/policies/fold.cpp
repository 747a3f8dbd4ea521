// SPDX-License-Identifier: Apache-2.0
// Fold: which modules become functions, and which may share one? Here only the encoder's layers,
// all as calls of one function, in a custom domain.
#include <stemma/capture/captures.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/fold/plan_fold.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/open/attributed_model.hpp>

#include <iostream>
#include <string>

int main(int, char** arguments) {
    const stemma::attributed_model opened(arguments[1],
                                          {.captures = stemma::captures({arguments[2]})});
    const stemma::graph_contents contents(opened.model());
    stemma::node_shapes shapes(opened.model(), contents);
    const stemma::fold_options<> layers_only{
        .selection = [](auto&& modules,
                        stemma::id m) { return modules.class_name(m) == "BertLayer"; },
        .least = 1,
        .name_of =
            [](auto&& modules, stemma::id m) {
                return stemma::function_name{"zoo", std::string(modules.class_name(m))};
            }};
    const auto plan = stemma::plan_fold(opened.model(), contents, opened.modules(),
                                        opened.tags().attributions, shapes, layers_only);
    for (const auto& function : plan.functions) {
        const auto& body = plan.regions[function.region];
        std::cout << function.domain << "::" << function.numbered() << ": " << body.operators
                  << " nodes, " << function.calls << " calls\n";
    }
    for (stemma::id call = 1; call < plan.regions.size(); ++call) {
        const auto& region = plan.regions[call];
        std::cout << opened.modules().path(region.module) << ": " << plan.inputs[call].size()
                  << " inputs, " << plan.outputs[call].size() << " outputs\n";
    }
}
