// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_TAGGER_HPP
#define STEMMA_TAGGING_TAGGER_HPP

#include <stemma/evidence/name_sources.hpp>
#include <stemma/tagging/tag_operators.hpp>

namespace stemma::inline STEMMA_ABI::detail {

template <class Ops>
struct default_evidence {
    using type = name_sources;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TAGGING_TAGGER_HPP
