// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_TYPE_PAIRS_HPP
#define STEMMA_ALIGN_DETAIL_TYPE_PAIRS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/align/rewritten_operators.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The lexicon's answers for all pairs of types of two graphs, each computed once.
class type_pairs {
public:
    template <lexicon_policy Lexicon>
    type_pairs(const comparable_graph& before, const comparable_graph& after,
               const Lexicon& lexicon)
        : width_(after.type_count())
        , equal_of_(before.type_count(), no_id)
        , had_(after.type_count(), false) {
        for (id a = 0; a < before.type_count(); ++a) {
            for (id b = 0; b < after.type_count(); ++b) {
                const auto fit = lexicon.correspond(before.type_text(a), after.type_text(b));
                fits_.push_back(static_cast<std::uint8_t>(fit));
                if (before.type_text(a) == after.type_text(b)) {
                    equal_of_[a] = b;
                    had_[b] = true;
                }
            }
        }
        for (id b = 0; b < after.type_count(); ++b) {
            passes_.push_back(lists_type(passing_operators, after.type_text(b)));
            takes_matrices_.push_back(lists_type(matrix_operators, after.type_text(b)));
            lays_out_.push_back(lists_type(layout_operators, after.type_text(b)));
            hashes_.push_back(hash_bytes(after.type_text(b)));
        }
    }

    /// Returns: how a type of the changed graph fits one of the original.
    [[nodiscard]] correspondence fit(id before, id after) const noexcept {
        return static_cast<correspondence>(fits_[std::size_t{before} * width_ + after]);
    }
    /// Whether types are equal.
    [[nodiscard]] bool equal(id before, id after) const noexcept {
        return equal_of_[before] == after;
    }
    /// Whether the original has a type of the changed graph.
    [[nodiscard]] bool had(id after) const { return had_[after]; }
    /// Whether operators of a type of the changed graph pass on their input.
    [[nodiscard]] bool passes(id after) const { return passes_[after]; }
    /// Whether they read and produce matrices only.
    [[nodiscard]] bool takes_matrices(id after) const { return takes_matrices_[after]; }
    /// Whether they only rearrange their input.
    [[nodiscard]] bool lays_out(id after) const { return lays_out_[after]; }
    /// Returns: the hash of a type of the changed graph.
    [[nodiscard]] std::uint64_t hash(id after) const noexcept { return hashes_[after]; }

private:
    std::size_t width_;
    std::vector<std::uint8_t> fits_;
    std::vector<id> equal_of_;
    std::vector<bool> had_;
    std::vector<bool> passes_;
    std::vector<bool> takes_matrices_;
    std::vector<bool> lays_out_;
    std::vector<std::uint64_t> hashes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_TYPE_PAIRS_HPP
