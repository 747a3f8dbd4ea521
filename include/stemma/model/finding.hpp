// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_FINDING_HPP
#define STEMMA_MODEL_FINDING_HPP

#include <stemma/core/id.hpp>

#include <string>

namespace stemma {

/// Something about the input that a reader should know, and that stopped nothing.
struct finding {
    std::string code; ///< stable: `metadata.lengths`
    id node = no_id;  ///< where it was found, by vertex index
    std::string text; ///< what was found, in a sentence
};

} // namespace stemma

#endif // STEMMA_MODEL_FINDING_HPP
