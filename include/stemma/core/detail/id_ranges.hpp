// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_ID_RANGES_HPP
#define STEMMA_CORE_DETAIL_ID_RANGES_HPP

#include <stemma/core/id.hpp>

// Only the part of range-v3 that makes a range a view: it costs no compile time.
#include <range/v3/range_fwd.hpp>

#include <compare>
#include <cstddef>
#include <iterator>

namespace stemma::inline STEMMA_ABI::detail {

/// A random access iterator over consecutive ids.
class id_iterator {
public:
    using value_type = id;
    using difference_type = std::ptrdiff_t;
    using reference = id;
    using pointer = void;
    using iterator_category = std::input_iterator_tag; // dereferencing yields no reference
    using iterator_concept = std::random_access_iterator_tag;

    id_iterator() = default;

    /// At an id.
    explicit id_iterator(id at) : at_(at) {}

    [[nodiscard]] id operator*() const noexcept { return at_; }
    [[nodiscard]] id operator[](difference_type n) const noexcept { return *(*this + n); }
    id_iterator& operator++() noexcept {
        ++at_;
        return *this;
    }
    id_iterator operator++(int) noexcept { return id_iterator(at_++); }
    id_iterator& operator--() noexcept {
        --at_;
        return *this;
    }
    id_iterator operator--(int) noexcept { return id_iterator(at_--); }
    id_iterator& operator+=(difference_type n) noexcept {
        at_ += static_cast<id>(n);
        return *this;
    }
    id_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    friend id_iterator operator+(id_iterator i, difference_type n) noexcept { return i += n; }
    friend id_iterator operator+(difference_type n, id_iterator i) noexcept { return i += n; }
    friend id_iterator operator-(id_iterator i, difference_type n) noexcept { return i -= n; }
    friend difference_type operator-(id_iterator a, id_iterator b) noexcept {
        return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
    }
    friend auto operator<=>(id_iterator, id_iterator) = default;

private:
    id at_ = 0;
};

/// A forward iterator that looks up each id's successor in a table.
class linked_id_iterator {
public:
    using value_type = id;
    using difference_type = std::ptrdiff_t;
    using reference = id;
    using pointer = void;
    using iterator_category = std::input_iterator_tag; // dereferencing yields no reference
    using iterator_concept = std::forward_iterator_tag;

    linked_id_iterator() = default;

    /// At an id. Requires: `next` is by id, and outlives the iterator.
    linked_id_iterator(const id* next, id at) : next_(next), at_(at) {}

    [[nodiscard]] id operator*() const noexcept { return at_; }
    linked_id_iterator& operator++() noexcept {
        at_ = next_[at_];
        return *this;
    }
    linked_id_iterator operator++(int) noexcept {
        const auto before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const linked_id_iterator& a, const linked_id_iterator& b) noexcept {
        return a.at_ == b.at_;
    }

private:
    const id* next_ = nullptr;
    id at_ = 0;
};

/// Ids between two iterators: a view for range-v3 and for the standard library.
///
/// Requires: what the iterators read outlives it.
template <class Iterator>
class id_range : public ranges::view_base, public std::ranges::view_base {
public:
    id_range() = default;

    /// The ids in [first, last).
    id_range(Iterator first, Iterator last) : first_(first), last_(last) {}

    /// Returns: an iterator to the first id.
    [[nodiscard]] Iterator begin() const noexcept { return first_; }
    /// Returns: the end iterator.
    [[nodiscard]] Iterator end() const noexcept { return last_; }
    /// Whether there are none.
    [[nodiscard]] bool empty() const noexcept { return first_ == last_; }

    /// Returns: how many there are, if that is known without walking.
    [[nodiscard]] std::size_t size() const noexcept requires std::random_access_iterator<Iterator> {
        return static_cast<std::size_t>(last_ - first_);
    }

private:
    Iterator first_{};
    Iterator last_{};
};

/// Consecutive ids.
using consecutive_ids = id_range<detail::id_iterator>;

/// Ids linked by a table of successors.
using linked_ids = id_range<detail::linked_id_iterator>;

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_ID_RANGES_HPP
