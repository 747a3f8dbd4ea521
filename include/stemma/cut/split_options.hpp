// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_SPLIT_OPTIONS_HPP
#define STEMMA_CUT_SPLIT_OPTIONS_HPP

#include <stemma/core/parallel.hpp>
#include <stemma/cost/cost_options.hpp>
#include <stemma/cut/cut_options.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/onnx/data_placement.hpp>

#include <functional>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// How a model is divided into parts that run one after the other.
struct split_options {
    any_partition<> partition = balanced_parts{}; ///< which nodes go to one part
    any_cost cost = cost_in_bytes{};              ///< what a node adds to the part it is in
    cost_options work{};                          ///< how costs of what a node does are counted
    bool merge = false; ///< levels of one part are joined where nothing keeps them apart
    data_placement data = data_placement::copy; ///< weights in other files
    bool force = false;                         ///< files that exist are replaced
    bool sync = true;                           ///< waits until the bytes are on the medium
    thread_limit threads{};                     ///< for writing
    type_inference infer{}; ///< asked once, when the library knows no type for a boundary
    std::function<void(std::string_view)> note{}; ///< hears what a user should know
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_SPLIT_OPTIONS_HPP
