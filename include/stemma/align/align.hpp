// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_ALIGN_HPP
#define STEMMA_ALIGN_ALIGN_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/aligner.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/model/detail/parameter_shapes.hpp>
#include <stemma/model/operator_view.hpp>

namespace stemma::inline STEMMA_ABI {

/// Finds for the operators of a model which captured operations they come from, and so which
/// modules.
///
/// Both sequences are aligned as a whole: in order, every operation making any number of operators,
/// weighed by what the lexicon says, by the parameters that are read (by name, else by shape), and
/// by data flow. The confidence of a module is its share of all alignments by weight; where the
/// capture as a whole does not fit, it is low everywhere. Where data flow contradicts the order of
/// the operators or much does not fit, as behind an optimizer that sorted them anew, the order in
/// which they read each other is tried as well, and the one that fits better counts.
/// Complexity: O((operators + operations) * width of a beam that does not depend on them).
template <named_operators Ops, lexicon_policy Lexicon = torch_lexicon>
    requires parameter_readers<Ops>
[[nodiscard]] alignment align(const Ops& ops, const tree_index& modules,
                              const captured_operations& captured,
                              const detail::path_mapping& mapping = {},
                              const detail::parameter_shapes& shapes = {},
                              const Lexicon& lexicon = {}) {
    const auto run = [&](detail::run_order order) {
        return detail::aligner<Ops, Lexicon>(ops, order, modules, captured, mapping, shapes,
                                             lexicon)
            .run();
    };
    auto found = run(detail::run_order::as_written);
    if (found.flows < found.links || found.quality() < 0.95) {
        auto other = run(detail::run_order::as_read);
        if (other.quality() > found.quality()) {
            return other;
        }
    }
    return found;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_ALIGN_HPP
