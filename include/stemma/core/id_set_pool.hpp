// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_ID_SET_POOL_HPP
#define STEMMA_CORE_ID_SET_POOL_HPP

#include <stemma/config.hpp>
#include <stemma/core/flat_index.hpp>
#include <stemma/core/hash.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stemma {

/// Names one set of ids: a set of one by its element, a larger one by its place in an id_set_pool.
/// `no_id` is the empty set.
using id_set = id;

/// Keeps one copy of every distinct set of two or more ids below 2^31, sorted.
class id_set_pool {
public:
    /// Returns: whether `set` is empty or a single id, and so needs no pool.
    [[nodiscard]] static constexpr bool is_single(id_set set) noexcept {
        return set < first_pooled || set == no_id;
    }

    /// Returns: the set of `sorted`.
    /// Requires: ascending, each id once.
    /// Complexity: O(size) on average.
    id_set intern(std::span<const id> sorted) {
        if (sorted.size() <= 1) {
            return sorted.empty() ? no_id : sorted.front();
        }
        std::uint64_t hash = sorted.size();
        for (auto element : sorted) {
            hash = hash_mix(hash, element);
        }
        const auto next = static_cast<id>(first_.size());
        const auto found = index_.insert(
            hash, next, [&](id known) { return std::ranges::equal(pooled(known), sorted); });
        if (found == next) {
            first_.push_back(static_cast<std::uint32_t>(elements_.size()));
            elements_.insert(elements_.end(), sorted.begin(), sorted.end());
        }
        return first_pooled + found;
    }

    /// Calls `f(id)` for every element, ascending. Complexity: O(elements).
    template <class Function>
    void for_each(id_set set, Function f) const {
        if (set == no_id) {
            return;
        }
        if (is_single(set)) {
            f(set);
            return;
        }
        for (auto element : pooled(set - first_pooled)) {
            f(element);
        }
    }

    /// Returns: how many elements `set` has; 0 for `no_id`, which is the empty set.
    [[nodiscard]] std::size_t size_of(id_set set) const noexcept {
        return set == no_id ? 0 : is_single(set) ? 1 : pooled(set - first_pooled).size();
    }

    /// Returns: how many sets of two or more are kept.
    [[nodiscard]] std::size_t size() const noexcept { return first_.size(); }

private:
    static constexpr id first_pooled = id{1} << 31;

    [[nodiscard]] std::span<const id> pooled(id place) const noexcept {
        const auto end = place + 1 < first_.size() ? first_[place + 1] : elements_.size();
        return std::span(elements_).subspan(first_[place], end - first_[place]);
    }

    std::vector<std::uint32_t> first_;
    std::vector<id> elements_;
    flat_index index_;
};

} // namespace stemma

#endif // STEMMA_CORE_ID_SET_POOL_HPP
