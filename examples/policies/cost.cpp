// SPDX-License-Identifier: Apache-2.0
// Cost: what does an operator add to the part it is in? Here what a device with little memory and
// slow calls cares about: bytes, and a price for every operator.
#include <stemma/onnx/cut_planner.hpp>
#include <stemma/onnx/split_plan.hpp>
#include <stemma/onnx/wire/attributed_model.hpp>
#include <stemma/policy/cost.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

struct bytes_and_calls {
    using policy_category = stemma::cost_category;

    std::uint64_t price_of_a_call = 4096;

    [[nodiscard]] std::uint64_t cost(const stemma::operator_load& load) const {
        return load.weight_bytes + price_of_a_call * load.operators;
    }
};

static_assert(stemma::explain_cost_policy<bytes_and_calls>());

int main(int, char** arguments) {
    stemma::attributed_model opened(arguments[1], {.captures = {arguments[2]}});
    const auto& found = opened.tags();
    stemma::cut_planner<> cuts(opened.model());
    // What an operator weighs is asked once; here, every one has a kilobyte.
    const std::vector<stemma::operator_load> loads(opened.model().node_count(),
                                                   stemma::operator_load{1, 256, 1024, 100});
    stemma::split_planner planner(opened.model(), cuts, opened.modules().index(),
                                  found.attributions, loads, bytes_and_calls{});
    for (const auto& part : planner.into(3)) {
        std::cout << part.nodes.size() << " nodes, cost " << part.cost << ", in "
                  << found.tags.text(part.module) << "\n";
    }
}
