// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_HANDLE_RANGES_HPP
#define STEMMA_HANDLE_RANGES_HPP

#include <stemma/core/id.hpp>

#include <range/v3/view/interface.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/subrange.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

struct model_state;

/// Converts an index to a handle.
template <class Handle>
struct to_handle {
    const model_state* state = nullptr;

    [[nodiscard]] Handle operator()(id i) const { return Handle(*state, i); }
};

/// The same, keeping the table of the indices alive.
template <class Handle>
struct to_listed_handle {
    const model_state* state = nullptr;
    std::shared_ptr<const std::vector<id>> indices{};

    [[nodiscard]] Handle operator()(id i) const { return Handle(*state, i); }
};

} // namespace detail

/// Handles of consecutive indices: a random-access view.
template <class Handle>
using handle_range = ranges::transform_view<ranges::iota_view<id, id>, detail::to_handle<Handle>>;

/// Handles of listed indices: a random-access view, cheap to copy.
template <class Handle>
using handle_list =
    ranges::transform_view<ranges::subrange<const id*>, detail::to_listed_handle<Handle>>;

/// Handles that link to one another: a forward view. Complexity: O(1) per step.
template <class Handle>
class handle_walk : public ranges::view_interface<handle_walk<Handle>> {
public:
    /// Returns: the index after `i`.
    using step = id (*)(const detail::model_state&, id i);

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
        iterator(const detail::model_state* state, step next, id at)
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
        const detail::model_state* state_ = nullptr;
        step next_ = nullptr;
        id at_ = no_id;
    };

    handle_walk() = default;

    /// From `first` until a step yields `last`.
    handle_walk(const detail::model_state& state, step next, id first, id last)
        : state_(&state), next_(next), first_(first), last_(last) {}

    /// Returns: an iterator to the first handle.
    [[nodiscard]] iterator begin() const noexcept { return {state_, next_, first_}; }
    /// Returns: the end iterator.
    [[nodiscard]] iterator end() const noexcept { return {state_, next_, last_}; }

private:
    const detail::model_state* state_ = nullptr;
    step next_ = nullptr;
    id first_ = no_id;
    id last_ = no_id;
};

namespace detail {

template <class Handle>
[[nodiscard]] handle_range<Handle> make_range(const model_state& state, id first, id last) {
    return {ranges::iota_view<id, id>(first, last), to_handle<Handle>{&state}};
}

template <class Handle>
[[nodiscard]] handle_list<Handle> make_list(const model_state& state, std::vector<id> indices) {
    auto kept = std::make_shared<const std::vector<id>>(std::move(indices));
    const auto* first = kept->data();
    return {ranges::subrange<const id*>(first, first + kept->size()),
            to_listed_handle<Handle>{&state, std::move(kept)}};
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_HANDLE_RANGES_HPP
