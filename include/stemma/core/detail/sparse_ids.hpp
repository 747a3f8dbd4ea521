// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_SPARSE_IDS_HPP
#define STEMMA_CORE_DETAIL_SPARSE_IDS_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/id.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A set of ids that are sparse or clustered: bits, in pages.
class sparse_ids {
public:
    sparse_ids() = default;
    sparse_ids(const sparse_ids&) = delete;
    sparse_ids& operator=(const sparse_ids&) = delete;

    /// Returns: whether it was absent. Complexity: constant on average.
    bool insert(id member) {
        if (member / page_size != number_) {
            turn_to(member / page_size);
        }
        auto& bits = page_[member % page_size / 64];
        const auto bit = std::uint64_t{1} << member % 64;
        if ((bits & bit) != 0) {
            return false;
        }
        bits |= bit;
        return true;
    }

private:
    static constexpr id page_size = 512; // the bits of one cache line

    void turn_to(id number) {
        // The table needs only the number.
        const auto fresh = static_cast<id>(pages_.size());
        const auto at = index_.insert(std::uint64_t{number} << 32U, fresh, [](id) { return true; });
        if (at == fresh) {
            pages_.emplace_back();
        }
        page_ = pages_[at].data();
        number_ = number;
    }

    flat_index index_; // of pages, by number
    std::vector<std::array<std::uint64_t, page_size / 64>> pages_;
    id number_ = no_id;             // of the page used last
    std::uint64_t* page_ = nullptr; // the bits on it
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_SPARSE_IDS_HPP
