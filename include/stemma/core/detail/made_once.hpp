// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_MADE_ONCE_HPP
#define STEMMA_CORE_DETAIL_MADE_ONCE_HPP

#include <stemma/config.hpp>

#include <mutex>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// A value created on first use, by whichever thread gets there first.
template <class T>
class made_once {
public:
    template <class Make>
    [[nodiscard]] const T& get(Make make) const {
        std::call_once(once_, [&] { value_.emplace(make()); });
        return *value_;
    }

private:
    mutable std::once_flag once_;
    mutable std::optional<T> value_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_MADE_ONCE_HPP
