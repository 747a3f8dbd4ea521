// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_ID_SET_POOL_HPP
#define STEMMA_CORE_DETAIL_ID_SET_POOL_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

class id_set_union;

/// Names a set of ids: a singleton by its element, a larger set by its place in an id_set_pool.
/// `no_id` is the empty set.
using id_set = id;

/// A subset of 32 consecutive ids: the lower half is a bit mask, the upper half says which 32. A
/// set is an ascending list of these: its elements are mostly close together.
using id_chunk = std::uint64_t;

[[nodiscard]] constexpr id_chunk chunk_of(id element) noexcept {
    return std::uint64_t{element / 32} << 32U | std::uint64_t{1} << element % 32;
}

[[nodiscard]] constexpr std::uint64_t place_of(id_chunk chunk) noexcept {
    return chunk >> 32U;
}

[[nodiscard]] constexpr std::uint32_t bits_of(id_chunk chunk) noexcept {
    return static_cast<std::uint32_t>(chunk);
}

[[nodiscard]] constexpr id least_of(id_chunk chunk) noexcept {
    return static_cast<id>(place_of(chunk)) * 32 +
           static_cast<id>(std::countr_zero(bits_of(chunk)));
}

[[nodiscard]] constexpr id greatest_of(id_chunk chunk) noexcept {
    return static_cast<id>(place_of(chunk)) * 32 + 31 -
           static_cast<id>(std::countl_zero(bits_of(chunk)));
}

[[nodiscard]] inline std::size_t count_ids(std::span<const id_chunk> set) noexcept {
    std::size_t count = 0;
    for (auto chunk : set) {
        count += static_cast<std::size_t>(std::popcount(bits_of(chunk)));
    }
    return count;
}

/// Keeps one copy of every distinct set of two or more ids below 2^31.
class id_set_pool {
public:
    /// Returns: whether `set` is empty or a singleton, and so needs no pool.
    [[nodiscard]] static constexpr bool is_single(id_set set) noexcept {
        return set < first_pooled || set == no_id;
    }

    /// Returns: the set with the elements of `sorted`.
    /// Requires: ascending, without duplicates.
    /// Complexity: O(size) on average.
    id_set intern(std::span<const id> sorted) {
        interned_.clear();
        for (auto element : sorted) {
            const auto chunk = chunk_of(element);
            if (!interned_.empty() && place_of(interned_.back()) == place_of(chunk)) {
                interned_.back() |= chunk;
            } else {
                interned_.push_back(chunk);
            }
        }
        return intern_chunks(interned_);
    }

    /// Calls `f(id)` for every element, ascending. Complexity: O(elements).
    template <class Function>
    void for_each(id_set set, Function f) const {
        if (is_single(set)) {
            if (set != no_id) {
                f(set);
            }
            return;
        }
        for (auto chunk : pooled(set)) {
            for (auto remaining = chunk; bits_of(remaining) != 0; remaining &= remaining - 1) {
                f(least_of(remaining));
            }
        }
    }

    /// Returns: the number of elements of `set`; 0 for `no_id`, the empty set.
    [[nodiscard]] std::size_t size_of(id_set set) const noexcept {
        return set == no_id ? 0 : is_single(set) ? 1 : entries_[set - first_pooled].size;
    }

    /// Returns: how many sets of two or more ids are stored.
    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
    friend class id_set_union;

    static constexpr id first_pooled = id{1} << 31;

    struct entry {
        std::uint32_t first = 0; // of its chunks
        std::uint32_t size = 0;  // in elements
    };

    [[nodiscard]] id_set intern_chunks(std::span<const id_chunk> chunks) {
        if (chunks.empty()) {
            return no_id;
        }
        if (const auto only = least_of(chunks[0]);
            chunks.size() == 1 && chunks[0] == chunk_of(only)) {
            return only;
        }
        std::uint64_t hash = chunks.size();
        for (auto chunk : chunks) {
            hash = hash_mix(hash, chunk);
        }
        const auto next = static_cast<id>(entries_.size());
        const auto existing = index_.insert(hash, next, [&](id other) {
            return range::equal(pooled(first_pooled + other), chunks);
        });
        if (existing == next) {
            entries_.push_back({static_cast<std::uint32_t>(chunks_.size()),
                                static_cast<std::uint32_t>(count_ids(chunks))});
            chunks_.insert(chunks_.end(), chunks.begin(), chunks.end());
        }
        return first_pooled + existing;
    }

    [[nodiscard]] std::span<const id_chunk> pooled(id_set set) const noexcept {
        const auto place = set - first_pooled;
        const auto first = entries_[place].first;
        const auto end = place + 1 < entries_.size() ? entries_[place + 1].first : chunks_.size();
        return {chunks_.data() + first, chunks_.data() + end};
    }

    std::vector<entry> entries_;
    std::vector<id_chunk> chunks_;
    std::vector<id_chunk> interned_; // chunks of the set being interned
    flat_index index_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_ID_SET_POOL_HPP
