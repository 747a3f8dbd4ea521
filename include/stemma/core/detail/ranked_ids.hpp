// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_RANKED_IDS_HPP
#define STEMMA_CORE_DETAIL_RANKED_IDS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A set of ids with rank queries: a bit for each id below a bound, and for each word the number of
/// members before it. A table by id would be 20 times as large.
class ranked_ids {
public:
    /// Threads may insert concurrently if no two insert between the same multiples of this.
    static constexpr std::size_t word_size = 64;

    /// No ids at all.
    ranked_ids() = default;

    /// An empty set of ids below `bound`.
    explicit ranked_ids(std::size_t bound)
        : words_((bound + word_size - 1) / word_size), before_(words_.size(), no_id) {}

    /// Requires: `x` is below the bound; `count` is called after the last insertion.
    void insert(id x) noexcept { words_[x / word_size] |= bit(x); }

    /// Counts the members to enable rank queries. Returns: how many there are.
    /// Complexity: O(bound / 64).
    id count() noexcept {
        id sum = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            before_[w] = sum;
            sum += static_cast<id>(std::popcount(words_[w]));
        }
        return sum;
    }

    /// Requires: `x` is below the bound.
    [[nodiscard]] bool contains(id x) const noexcept {
        return (words_[x / word_size] & bit(x)) != 0;
    }

    /// Returns: how many members are less than `x`. Requires: `x` is below the bound, and `count`
    /// was called. Complexity: constant.
    [[nodiscard]] id rank(id x) const noexcept {
        STEMMA_ASSERT(before_[x / word_size] != no_id, "members have been counted");
        return before_[x / word_size] +
               static_cast<id>(std::popcount(words_[x / word_size] & (bit(x) - 1)));
    }

private:
    [[nodiscard]] static std::uint64_t bit(id x) noexcept {
        return std::uint64_t{1} << (x % word_size);
    }

    std::vector<std::uint64_t> words_;
    std::vector<id> before_; // by word: members in preceding words
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_RANKED_IDS_HPP
