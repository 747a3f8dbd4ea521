// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_GUARDED_HPP
#define STEMMA_CORE_DETAIL_GUARDED_HPP

#include <stemma/config.hpp>

#include <mutex>
#include <optional>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// A value that changes when queried, by one thread at a time.
template <class T>
class guarded {
public:
    /// Replaces the value. Not thread-safe.
    template <class... Arguments>
    T& emplace(Arguments&&... arguments) {
        return value_.emplace(std::forward<Arguments>(arguments)...);
    }

    /// Removes the value. Not thread-safe.
    void reset() noexcept { value_.reset(); }

    /// The value, while no other thread can query it.
    [[nodiscard]] T& operator*() noexcept {
        STEMMA_ASSERT(value_.has_value(), "guarded: the value has not been removed");
        return *value_;
    }
    [[nodiscard]] T* operator->() noexcept { return &**this; }

    /// Returns: what `f(value)` returns; other threads wait. Requires: `f` does not query it again.
    template <class Function>
    decltype(auto) ask(Function f) const {
        STEMMA_ASSERT(value_.has_value(), "guarded: the value has not been removed");
        const std::lock_guard lock(mutex_);
        return f(*value_);
    }

private:
    mutable std::mutex mutex_;
    mutable std::optional<T> value_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_GUARDED_HPP
