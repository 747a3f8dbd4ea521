// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_FITTED_LATTICE_HPP
#define STEMMA_ALIGN_DETAIL_FITTED_LATTICE_HPP

#include <stemma/align/detail/aligned_items.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/align/detail/alignment_lattice.hpp>
#include <stemma/core/id.hpp>

#include <span>

namespace stemma::inline STEMMA_ABI::detail {

/// Aligns a sequence of operators with a narrow beam, or with a wide one if operators fit badly
/// with the former and well with the latter: a wrong start among similar operations is corrected.
/// Not if hardly any fit: an optimizer reordered them, and equal branches would be confused.
class fitted_lattice {
public:
    fitted_lattice(const aligned_nodes& nodes, const aligned_items& items,
                   const alignment_weights& weights)
        : weights_(weights), narrow_(nodes, items, weights), wide_(nodes, items, weights) {}

    /// As `alignment_lattice::run`. The first run decides which beam this and all others have.
    template <class Score, class Candidates>
    void run(std::span<const id> chain, id first, id last, Score score, Candidates candidates) {
        if (is_wide_) {
            wide_.run(chain, first, last, weights_.wide_beam, score, candidates);
            return;
        }
        const auto fit = narrow_.run(chain, first, last, weights_.beam, score, candidates);
        const auto count = static_cast<double>(chain.size());
        if (!is_decided_ && fit < weights_.poor_fit * count &&
            fit > weights_.hopeless_fit * count) {
            is_wide_ = wide_.run(chain, first, last, weights_.wide_beam, score, candidates) >
                       weights_.poor_fit * count;
        }
        is_decided_ = true;
    }

    /// As `alignment_lattice::for_each_placement`, of the last run.
    template <class Function>
    void for_each_placement(Function f) const {
        (is_wide_ ? wide_ : narrow_).for_each_placement(f);
    }

private:
    const alignment_weights& weights_;
    alignment_lattice narrow_;
    alignment_lattice wide_;
    bool is_decided_ = false;
    bool is_wide_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_FITTED_LATTICE_HPP
