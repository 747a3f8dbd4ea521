// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_FACT_POOL_HPP
#define STEMMA_TYPES_DETAIL_FACT_POOL_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <cstdint>
#include <deque>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Interned facts about tensors: values of a large model have few distinct shapes. Number 0 means
/// unknown.
class fact_pool {
public:
    fact_pool() { static_cast<void>(intern({})); }

    /// Returns: the number of these facts, shared by equal ones. Complexity: O(rank), expected.
    [[nodiscard]] id intern(tensor_facts facts) {
        const auto place = index_.insert(hash_of(facts), static_cast<id>(facts_.size()),
                                         [&](id other) { return is_same(facts_[other], facts); });
        if (place == facts_.size()) {
            facts_.push_back(std::move(facts));
        }
        return place;
    }

    /// Returns: the facts; their address is stable.
    [[nodiscard]] const tensor_facts& operator[](id number) const noexcept {
        return facts_[number];
    }

private:
    [[nodiscard]] static bool is_same(const tensor_facts& a, const tensor_facts& b) {
        return a.data_type == b.data_type && a.dims == b.dims && a.numbers == b.numbers;
    }

    [[nodiscard]] static std::uint64_t hash_of(const tensor_facts& facts) {
        auto hash = static_cast<std::uint64_t>(facts.data_type);
        for (const auto* numbers : {&facts.dims, &facts.numbers}) {
            hash = hash_mix(hash, *numbers ? (*numbers)->size() + 1 : 0);
            for (auto number : *numbers ? **numbers : extents()) {
                hash = hash_mix(hash, static_cast<std::uint64_t>(number));
            }
        }
        return hash;
    }

    std::deque<tensor_facts> facts_;
    flat_index index_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_FACT_POOL_HPP
