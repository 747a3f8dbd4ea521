// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_FLAT_INDEX_HPP
#define STEMMA_CORE_DETAIL_FLAT_INDEX_HPP

#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// An open-addressing table from hashes to ids; keys stay with the caller, who compares them.
///
/// A slot is 8 bytes (half the hash and the id), so a miss rarely touches a key. No erasure.
class flat_index {
public:
    flat_index() = default;

    /// Reserves room for `expected` ids.
    explicit flat_index(std::size_t expected) { reserve(expected); }

    /// Returns: the number of ids stored; ids with equal keys count once.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// Makes room for `expected` ids without rehashing on the way.
    /// Complexity: O(ids stored) if it has to grow.
    void reserve(std::size_t expected) {
        std::size_t wanted = 16;
        while (is_full(expected, wanted)) {
            wanted *= 2;
        }
        if (wanted > slots_.size()) {
            rehash(wanted);
        }
    }

    /// Returns: the id stored under `hash` for which `equal(id)` holds, else `no_id`.
    /// Complexity: constant on average.
    template <class Equal>
    [[nodiscard]] id find(std::uint64_t hash, Equal equal) const {
        if (slots_.empty()) {
            return no_id;
        }
        for (auto at = home(hash);; at = (at + 1) & mask_) {
            const auto& entry = slots_[at];
            if (entry.value == no_id) {
                return no_id;
            }
            if (entry.check == check(hash) && equal(entry.value)) {
                return entry.value;
            }
        }
    }

    /// Stores `value` under `hash` unless an equal id is present.
    ///
    /// Returns: the stored id: `value`, or the equal one already present.
    /// Complexity: constant on average.
    template <class Equal>
    id insert(std::uint64_t hash, id value, Equal equal) {
        if (is_full(size_ + 1, slots_.size())) {
            rehash(slots_.empty() ? 16 : slots_.size() * 2);
        }
        auto at = home(hash);
        for (; slots_[at].value != no_id; at = (at + 1) & mask_) {
            if (slots_[at].check == check(hash) && equal(slots_[at].value)) {
                return slots_[at].value;
            }
        }
        slots_[at] = {check(hash), value};
        ++size_;
        return value;
    }

    /// Stores all ids of another table, each increased by `shift`. Calls `met(known, raised)` for
    /// each that is not stored because an equal one is present. Complexity: O(slots of the other)
    /// on average; calls `equal(known, raised)` where half the hashes agree.
    template <class Equal, class Met>
    void insert_all(const flat_index& other, id shift, Equal equal, Met met) {
        constexpr std::size_t ahead = 16;
        reserve(size_ + other.size_);
        for (std::size_t i = 0; i < other.slots_.size(); ++i) {
            if (i + ahead < other.slots_.size()) {
                prefetch(hash_of(other.slots_[i + ahead]));
            }
            if (other.slots_[i].value != no_id) {
                const auto raised = other.slots_[i].value + shift;
                const auto match = insert(hash_of(other.slots_[i]), raised,
                                          [&](id stored) { return equal(stored, raised); });
                if (match != raised) {
                    met(match, raised);
                }
            }
        }
    }

    /// Prefetches the slot that `hash` maps to.
    void prefetch(std::uint64_t hash) const noexcept {
        if (!slots_.empty()) {
            stemma::detail::prefetch(&slots_[home(hash)]);
        }
    }

private:
    struct slot {
        std::uint32_t check = 0;
        id value = no_id;
    };

    // Eight slots share a cache line, so longer probes cost less than a larger table.
    [[nodiscard]] static bool is_full(std::size_t size, std::size_t slots) noexcept {
        return size * 4 > slots * 3;
    }

    // The home slot is derived from the stored half of the hash, so growing needs no key.
    [[nodiscard]] static std::uint32_t check(std::uint64_t hash) noexcept {
        return static_cast<std::uint32_t>(hash >> 32U);
    }

    // Half the hash, which is all this table uses.
    [[nodiscard]] static std::uint64_t hash_of(const slot& filled) noexcept {
        return std::uint64_t{filled.check} << 32U;
    }

    [[nodiscard]] std::size_t home(std::uint64_t hash) const noexcept { return place(check(hash)); }

    [[nodiscard]] std::size_t place(std::uint32_t checked) const noexcept {
        return (static_cast<std::uint64_t>(checked) * 0x9e37'79b9'7f4a'7c15U >> shift_) & mask_;
    }

    void rehash(std::size_t wanted) {
        std::vector<slot> old(wanted);
        old.swap(slots_);
        mask_ = wanted - 1;
        shift_ = 64;
        for (auto bits = wanted; bits > 1; bits /= 2) {
            --shift_;
        }
        for (const auto& moved : old) {
            if (moved.value == no_id) {
                continue;
            }
            auto at = place(moved.check);
            while (slots_[at].value != no_id) {
                at = (at + 1) & mask_;
            }
            slots_[at] = moved;
        }
    }

    std::vector<slot> slots_;
    std::size_t size_ = 0;
    std::size_t mask_ = 0;
    unsigned shift_ = 63;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_FLAT_INDEX_HPP
