// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_SPLIT_OPTIONS_HPP
#define STEMMA_CUT_SPLIT_OPTIONS_HPP

#include <stemma/cost/cost_options.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/onnx/data_placement.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Options for dividing a model into parts that run in sequence.
struct split_options {
    any_policy<partition_category, operator_graph> partition =
        balanced_parts{};                             ///< the part of each node
    any_policy<cost_category> cost = cost_in_bytes{}; ///< what a node adds to its part
    cost_options work{};                              ///< how a node's work is counted
    bool merge = false;                               ///< merge levels of a part where possible
    data_placement data = data_placement::copy;       ///< of external weights
    bool force = false;                               ///< replace existing files
    std::vector<std::string> spared{};                ///< files never replaced, like the model
    bool sync = true;                                 ///< wait until the bytes are on the medium
    type_inference infer{}; ///< called at most once, if the type of a boundary value is unknown
    std::function<void(std::string_view)> note{}; ///< receives notes for the user
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_SPLIT_OPTIONS_HPP
