// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_ID_SET_POOL_HPP
#define STEMMA_CORE_DETAIL_ID_SET_POOL_HPP

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

/// The union of sets of a pool, built incrementally. Two or more sets with more than `cap` elements
/// in total are too large: then only the least and the greatest element are kept.
class id_set_union {
public:
    /// `pool` must outlive the union.
    id_set_union(id_set_pool& pool, std::size_t cap) : pool_(&pool), cap_(cap) {}

    /// Empties it.
    void clear() noexcept {
        set_ = no_id;
        last_ = no_id;
        merged_.clear();
        is_large_ = false;
    }

    /// Adds the elements of a set of the pool.
    /// Complexity: O(elements of both); O(1) for the set added last, and for a set that is the
    /// whole union so far.
    void add(id_set set) {
        if (set == no_id || set == last_ || set == set_) {
            return;
        }
        last_ = set;
        if (set_ == no_id && merged_.empty()) {
            set_ = set;
            return;
        }
        unite(set);
        if (!is_large_ && bound() > cap_) {
            look_at_size();
        }
    }

    /// Whether there are two or more sets with more than `cap` elements.
    [[nodiscard]] bool is_large() const noexcept { return is_large_; }

    /// Returns: the least element. Requires: `is_large()`.
    [[nodiscard]] id least() const noexcept { return least_; }

    /// Returns: the greatest element. Requires: `is_large()`.
    [[nodiscard]] id greatest() const noexcept { return greatest_; }

    /// Returns: the union as a set of the pool, to which it is added.
    /// Requires: not `is_large()`.
    [[nodiscard]] id_set get() {
        return set_ != no_id || merged_.empty() ? set_ : pool_->intern_chunks(merged_);
    }

private:
    using chunks = std::span<const detail::id_chunk>;

    /// The chunks of a set; a single id's chunk is written to `single`.
    [[nodiscard]] chunks chunks_of(id_set set, detail::id_chunk& single) const noexcept {
        if (id_set_pool::is_single(set)) {
            single = detail::chunk_of(set);
            return {&single, 1};
        }
        return pool_->pooled(set);
    }

    // Usually one of the sets contains the other: then the union already has an id and nothing
    // needs to be built or looked up.
    void unite(id_set set) {
        detail::id_chunk single_before = 0;
        detail::id_chunk single_added = 0;
        const auto before = set_ == no_id ? chunks(merged_) : chunks_of(set_, single_before);
        const auto added = chunks_of(set, single_added);
        if (is_large_) {
            least_ = std::min(least_, detail::least_of(added.front()));
            greatest_ = std::max(greatest_, detail::greatest_of(added.back()));
        } else if (includes(before, added)) {
            return;
        } else if (includes(added, before)) {
            set_ = set;
        } else {
            bound_ = bound() + pool_->size_of(set);
            merge(before, added);
        }
    }

    [[nodiscard]] static bool includes(chunks all, chunks some) noexcept {
        auto at = all.begin();
        for (auto chunk : some) {
            while (at != all.end() && detail::place_of(*at) < detail::place_of(chunk)) {
                ++at;
            }
            if (at == all.end() || detail::place_of(*at) != detail::place_of(chunk) ||
                (*at | chunk) != *at) {
                return false;
            }
        }
        return true;
    }

    void merge(chunks a, chunks b) {
        next_.resize(a.size() + b.size());
        auto out = next_.begin();
        auto i = a.begin();
        auto j = b.begin();
        while (i != a.end() && j != b.end()) {
            const auto in_a = detail::place_of(*i);
            const auto in_b = detail::place_of(*j);
            *out++ = (in_a <= in_b ? *i : 0) | (in_b <= in_a ? *j : 0);
            i += in_a <= in_b ? 1 : 0;
            j += in_b <= in_a ? 1 : 0;
        }
        out = std::copy(i, a.end(), out);
        out = std::copy(j, b.end(), out);
        next_.erase(out, next_.end());
        merged_.swap(next_);
        set_ = no_id;
    }

    /// Returns: an upper bound of the size. Counting elements takes as long as merging.
    [[nodiscard]] std::size_t bound() const noexcept {
        return set_ == no_id ? bound_ : pool_->size_of(set_);
    }

    void look_at_size() {
        detail::id_chunk single = 0;
        const auto all = set_ == no_id ? chunks(merged_) : chunks_of(set_, single);
        bound_ = detail::count_ids(all);
        if (bound_ > cap_) {
            is_large_ = true;
            least_ = detail::least_of(all.front());
            greatest_ = detail::greatest_of(all.back());
        }
    }

    id_set_pool* pool_;
    std::size_t cap_;
    id_set last_ = no_id;
    id_set set_ = no_id;                   // the set that equals the union, if any
    std::vector<detail::id_chunk> merged_; // the union otherwise
    std::vector<detail::id_chunk> next_;   // scratch space for the next `merged_`
    std::size_t bound_ = 0;                // of `merged_`
    bool is_large_ = false;
    id least_ = no_id;
    id greatest_ = no_id;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_ID_SET_POOL_HPP
