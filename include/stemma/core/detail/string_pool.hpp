// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_STRING_POOL_HPP
#define STEMMA_CORE_DETAIL_STRING_POOL_HPP

#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Keeps one copy of every distinct string and gives it a dense id, in order of first appearance.
class string_pool {
public:
    /// Returns: the id of `text`, which is added if missing.
    /// Complexity: O(length) on average.
    id intern(std::string_view text) {
        const auto next = static_cast<id>(size());
        const auto existing =
            index_.insert(hash_bytes(text), next, [&](id other) { return (*this)[other] == text; });
        if (existing == next) {
            text_.append(text);
            ends_.push_back(text_.size());
        }
        return existing;
    }

    /// Returns: the id of `text`, or `no_id`.
    [[nodiscard]] id find(std::string_view text) const {
        return index_.find(hash_bytes(text), [&](id other) { return (*this)[other] == text; });
    }

    /// Valid until the next `intern`.
    [[nodiscard]] std::string_view operator[](id interned) const noexcept {
        const auto begin = interned == 0 ? 0 : ends_[interned - 1];
        return {text_.data() + begin, ends_[interned] - begin};
    }

    /// Returns: the number of distinct strings; their ids are the numbers below it.
    [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }

private:
    std::string text_;
    std::vector<std::size_t> ends_;
    flat_index index_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_STRING_POOL_HPP
