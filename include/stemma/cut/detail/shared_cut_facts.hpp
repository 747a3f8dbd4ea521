// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_SHARED_CUT_FACTS_HPP
#define STEMMA_CUT_DETAIL_SHARED_CUT_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/dependence.hpp>
#include <stemma/onnx/detail/called_functions.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What cuts of a model share.
struct shared_cut_facts {
    /// Complexity: that of `find_dependence`, and a call of `given` per value.
    shared_cut_facts(const onnx_model& model, std::vector<bool> is_random,
                     const std::function<bool(std::string_view)>& given)
        : contents(model)
        , uncalled(uncalled_functions(model, contents))
        , random(std::move(is_random))
        , depends_on(find_dependence(model, random))
        , exposed(model.value_count(), false)
        , returning(model.node_count(), false) {
        for (id g = 0; g < model.graph_count(); ++g) {
            for (auto value : model.graph(g).outputs) {
                if (value != no_id) {
                    exposed[value] = true;
                    if (model.producer(value) != no_id) {
                        returning[model.producer(value)] = true;
                    }
                }
            }
        }
        for (id value = 0; given && value < model.value_count(); ++value) {
            const auto producer = model.producer(value);
            if (producer != no_id && model.graph_of_value(value) == 0 &&
                depends_on[producer] != dependence::constant && given(model.value_name(value))) {
                depends_on[producer] = dependence::data;
            }
        }
    }

    graph_contents contents;
    std::vector<id> uncalled;           ///< graphs of functions that never run
    std::vector<bool> random;           ///< by node
    std::vector<dependence> depends_on; ///< by node; data if its results are `given`
    std::vector<bool> exposed;          ///< by value: it is an output of a graph
    std::vector<bool> returning;        ///< by node: it makes such an output
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_SHARED_CUT_FACTS_HPP
