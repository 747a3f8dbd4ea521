// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_HANDLE_RANGES_HPP
#define STEMMA_DETAIL_HANDLE_RANGES_HPP

#include <stemma/core/id.hpp>

#include <range/v3/range_fwd.hpp>
#include <range/v3/view/interface.hpp>

#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

struct model_state;

/// Consecutive indices.
struct ids_in_order {
    [[nodiscard]] id operator[](std::ptrdiff_t i) const noexcept { return static_cast<id>(i); }
};

/// Listed indices, whose table stays alive.
struct ids_of_table {
    std::shared_ptr<const std::vector<id>> table{};

    [[nodiscard]] id operator[](std::ptrdiff_t i) const {
        return (*table)[static_cast<std::size_t>(i)];
    }
};

/// Handles of some indices. Iterators outlive the view.
template <class Handle, class Ids>
class indexed_handles : public ranges::view_interface<indexed_handles<Handle, Ids>> {
public:
    /// A random-access iterator whose reference type is a handle.
    class iterator {
    public:
        using iterator_concept = std::random_access_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = Handle;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Handle;

        iterator() = default;
        iterator(const model_state* state, Ids ids, difference_type at)
            : state_(state), ids_(std::move(ids)), at_(at) {}

        [[nodiscard]] Handle operator*() const { return Handle(*state_, ids_[at_]); }
        [[nodiscard]] Handle operator[](difference_type n) const {
            return Handle(*state_, ids_[at_ + n]);
        }
        iterator& operator++() { return *this += 1; }
        iterator& operator--() { return *this += -1; }
        iterator operator++(int) {
            auto before = *this;
            ++*this;
            return before;
        }
        iterator operator--(int) {
            auto before = *this;
            --*this;
            return before;
        }
        iterator& operator+=(difference_type n) {
            at_ += n;
            return *this;
        }
        iterator& operator-=(difference_type n) { return *this += -n; }
        friend iterator operator+(iterator i, difference_type n) { return i += n; }
        friend iterator operator+(difference_type n, iterator i) { return i += n; }
        friend iterator operator-(iterator i, difference_type n) { return i -= n; }
        friend difference_type operator-(const iterator& a, const iterator& b) noexcept {
            return a.at_ - b.at_;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.at_ == b.at_;
        }
        friend std::strong_ordering operator<=>(const iterator& a, const iterator& b) noexcept {
            return a.at_ <=> b.at_;
        }

    private:
        const model_state* state_ = nullptr;
        Ids ids_{};
        difference_type at_ = 0;
    };

    indexed_handles() = default;
    indexed_handles(const model_state& state, Ids ids, std::size_t first, std::size_t last)
        : state_(&state)
        , ids_(std::move(ids))
        , first_(static_cast<std::ptrdiff_t>(first))
        , last_(static_cast<std::ptrdiff_t>(last)) {}

    [[nodiscard]] iterator begin() const { return {state_, ids_, first_}; }
    [[nodiscard]] iterator end() const { return {state_, ids_, last_}; }

private:
    const model_state* state_ = nullptr;
    Ids ids_{};
    std::ptrdiff_t first_ = 0;
    std::ptrdiff_t last_ = 0;
};

/// Handles of consecutive indices: a random-access view.
template <class Handle>
using handle_range = indexed_handles<Handle, ids_in_order>;

/// Handles of listed indices: a random-access view, cheap to copy.
template <class Handle>
using handle_list = indexed_handles<Handle, ids_of_table>;

/// Handles that link to one another: a forward view. Complexity: O(1) per step.
template <class Handle>
class handle_walk : public ranges::view_interface<handle_walk<Handle>> {
public:
    /// Returns: the index after `i`.
    using step = id (*)(const model_state&, id i);

    /// A forward iterator whose reference type is a handle.
    class iterator {
    public:
        using iterator_concept = std::forward_iterator_tag;
        using iterator_category = std::input_iterator_tag;
        using value_type = Handle;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = Handle;

        iterator() = default;
        iterator(const model_state* state, step next, id at)
            : state_(state), next_(next), at_(at) {}

        [[nodiscard]] Handle operator*() const { return Handle(*state_, at_); }
        iterator& operator++() {
            at_ = next_(*state_, at_);
            return *this;
        }
        iterator operator++(int) {
            auto before = *this;
            ++*this;
            return before;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.at_ == b.at_;
        }

    private:
        const model_state* state_ = nullptr;
        step next_ = nullptr;
        id at_ = no_id;
    };

    handle_walk() = default;

    /// From `first` until a step yields `last`.
    handle_walk(const model_state& state, step next, id first, id last)
        : state_(&state), next_(next), first_(first), last_(last) {}

    /// Returns: an iterator to the first handle.
    [[nodiscard]] iterator begin() const noexcept { return {state_, next_, first_}; }
    /// Returns: the end iterator.
    [[nodiscard]] iterator end() const noexcept { return {state_, next_, last_}; }

private:
    const model_state* state_ = nullptr;
    step next_ = nullptr;
    id first_ = no_id;
    id last_ = no_id;
};

template <class Handle>
[[nodiscard]] handle_range<Handle> make_range(const model_state& state, id first, id last) {
    return {state, ids_in_order(), first, last};
}

template <class Handle>
[[nodiscard]] handle_list<Handle> make_list(const model_state& state, std::vector<id> indices) {
    auto table = std::make_shared<const std::vector<id>>(std::move(indices));
    const auto size = table->size();
    return {state, {std::move(table)}, 0, size};
}

} // namespace stemma::inline STEMMA_ABI::detail

#ifndef DOXYGEN
namespace ranges {

// Algorithms on temporary ranges may return their iterators.
template <class Handle, class Ids>
inline constexpr bool enable_borrowed_range<stemma::detail::indexed_handles<Handle, Ids>> = true;
template <class Handle>
inline constexpr bool enable_borrowed_range<stemma::detail::handle_walk<Handle>> = true;

} // namespace ranges
#endif

#endif // STEMMA_DETAIL_HANDLE_RANGES_HPP
