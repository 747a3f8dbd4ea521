// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_NEAREST_OWNERS_HPP
#define STEMMA_DETAIL_NEAREST_OWNERS_HPP

#include <stemma/core/id.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace stemma::detail {

/// The modules whose parameters are read nearest to an operator, on one side of it; one entry for
/// each module, and `no_id` for all whose parameters have lost their names.
class nearest_owners {
public:
    struct entry {
        id position = 0; ///< in the order of the graph
        id module = no_id;
        bool named = false; ///< a name or metadata says so: the operator is in just that module
    };

    static constexpr std::size_t capacity = 8;

    /// Adds an entry; `closer(a, b)` says which of two positions is the nearer one.
    template <class Closer>
    void add(entry added, Closer closer) {
        auto* const last = entries_.data() + size_;
        auto* known = std::find_if(entries_.data(), last,
                                   [&](const entry& e) { return e.module == added.module; });
        if (known == last && size_ < capacity) {
            entries_[size_++] = added;
            return;
        }
        if (known == last) {
            known = std::max_element(entries_.data(), last, [&](const entry& a, const entry& b) {
                return closer(a.position, b.position);
            });
        }
        if (closer(added.position, known->position)) {
            *known = added;
        }
    }

    template <class Closer>
    void add(const nearest_owners& others, Closer closer) {
        for (const auto& e : others) {
            add(e, closer);
        }
    }

    [[nodiscard]] bool holds(id module) const noexcept {
        return std::any_of(begin(), end(), [&](const entry& e) { return e.module == module; });
    }

    [[nodiscard]] const entry* begin() const noexcept { return entries_.data(); }
    [[nodiscard]] const entry* end() const noexcept { return entries_.data() + size_; }

private:
    std::array<entry, capacity> entries_{};
    std::size_t size_ = 0;
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_NEAREST_OWNERS_HPP
