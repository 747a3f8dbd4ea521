// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_DETAIL_STATED_MODULE_HPP
#define STEMMA_MODEL_DETAIL_STATED_MODULE_HPP

#include <stemma/core/id.hpp>

namespace stemma::inline STEMMA_ABI::detail {

/// What the names and metadata of an operator say about its module.
struct stated_module {
    id module = no_id;    ///< `no_id` if they say nothing, or contradict each other
    float confidence = 0; ///< in [0, 1]
    bool settled = false; ///< no other evidence is needed
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_MODEL_DETAIL_STATED_MODULE_HPP
