// SPDX-License-Identifier: Apache-2.0
// Cost: what does an operator cost? Here multiplications: of products and convolutions by shape,
// one per element elsewhere.
#include <stemma/capture/captures.hpp>
#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/model_loads.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/split_planner.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/open/attributed_model.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>

struct multiplications {
    using policy_category = stemma::cost_category;

    std::uint64_t of_unknown = 8; ///< for an extent that is not known: the batch, say

    [[nodiscard]] std::uint64_t cost(const stemma::operator_load& load) const {
        std::uint64_t count = 0;
        for (const auto& value : load.outputs()) {
            count += product(value, 0);
        }
        return count * for_each_element(load);
    }

    [[nodiscard]] std::uint64_t for_each_element(const stemma::operator_load& load) const {
        const auto type = load.op_type();
        const auto inputs = load.inputs();
        if (type == "Conv" && inputs.size() > 1) { // the channels of a group, and the kernel
            return product(inputs[1], 1);
        }
        if ((type == "MatMul" || type == "Gemm") && !inputs.empty()) {
            const auto& left = inputs[0].shape;
            const bool turned = load.whole("transA").value_or(0) != 0;
            return left && !left->empty() ? extent(turned ? left->front() : left->back())
                                          : of_unknown;
        }
        return 1;
    }

    /// Returns: the product of the extents from number `first` on.
    [[nodiscard]] std::uint64_t product(const stemma::load_value& value, std::size_t first) const {
        std::uint64_t count = 1;
        for (std::size_t i = first; value.shape && i < value.shape->size(); ++i) {
            count *= extent((*value.shape)[i]);
        }
        return count;
    }

    [[nodiscard]] std::uint64_t extent(std::int64_t size) const {
        return size < 0 ? of_unknown : static_cast<std::uint64_t>(size);
    }
};

static_assert(stemma::explain_policy<stemma::cost_category, multiplications>());

int main(int, char** arguments) {
    const stemma::attributed_model opened(arguments[1],
                                          {.captures = stemma::captures({arguments[2]})});
    const auto& tagged = opened.tags();
    const stemma::model_loads loads(opened.model(), opened.modules(), tagged.attributions);
    stemma::cut_planner<> cuts(opened.model());
    stemma::split_planner planner(opened.model(), cuts, opened.modules().index(),
                                  tagged.attributions, loads.all(), multiplications{});
    for (const auto& part : planner.divide(stemma::balanced_parts{3})) {
        std::cout << part.nodes.size() << " nodes, cost " << part.cost << ", in "
                  << tagged.tags.text(part.module) << "\n";
    }
}
