// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_RANGE_HPP
#define STEMMA_CORE_DETAIL_RANGE_HPP

// libc++ lacks the std::ranges algorithms before version 15; these are the ones used here.

#include <stemma/config.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>

namespace stemma::inline STEMMA_ABI::detail::range {

/// Complexity: O(size), as for everything below except sorting.
template <class Range, class Predicate>
[[nodiscard]] constexpr bool all_of(const Range& range, Predicate predicate) {
    for (auto&& one : range) {
        if (!std::invoke(predicate, one)) {
            return false;
        }
    }
    return true;
}

template <class Range, class Predicate>
[[nodiscard]] constexpr bool any_of(const Range& range, Predicate predicate) {
    return !all_of(range, [&](const auto& one) { return !std::invoke(predicate, one); });
}

template <class Range, class Predicate>
[[nodiscard]] constexpr std::size_t count_if(const Range& range, Predicate predicate) {
    std::size_t result = 0;
    for (auto&& one : range) {
        result += std::invoke(predicate, one) ? 1U : 0U;
    }
    return result;
}

template <class Range, class Value>
[[nodiscard]] constexpr std::size_t count(const Range& range, const Value& value) {
    return count_if(range, [&](const auto& one) { return one == value; });
}

/// Returns: an iterator. Requires: the range outlives it.
template <class Range, class Predicate>
[[nodiscard]] constexpr auto find_if(Range& range, Predicate predicate) {
    auto at = std::begin(range);
    for (const auto end = std::end(range); at != end && !std::invoke(predicate, *at);) {
        ++at;
    }
    return at;
}

template <class Range, class Value>
[[nodiscard]] constexpr bool contains(const Range& range, const Value& value) {
    return any_of(range, [&](const auto& one) { return one == value; });
}

template <class A, class B, class Equal = std::equal_to<>>
[[nodiscard]] constexpr bool equal(const A& a, const B& b, Equal same = {}) {
    return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), same);
}

/// Complexity: O(size log size), as below.
template <class Range, class Less = std::less<>>
constexpr void sort(Range& range, Less less = {}) {
    std::sort(std::begin(range), std::end(range), less);
}

/// Returns: the elements of a container, sorted, each once.
template <class Container>
[[nodiscard]] Container each_once(Container elements) {
    sort(elements);
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    return elements;
}

template <class Range, class Less = std::less<>>
void stable_sort(Range& range, Less less = {}) {
    std::stable_sort(std::begin(range), std::end(range), less);
}

/// Sorts by `key(element)`.
template <class Range, class Key>
void stable_sort_by(Range& range, Key key) {
    stable_sort(range, [&](const auto& a, const auto& b) {
        return std::invoke(key, a) < std::invoke(key, b);
    });
}

} // namespace stemma::inline STEMMA_ABI::detail::range

#endif // STEMMA_CORE_DETAIL_RANGE_HPP
