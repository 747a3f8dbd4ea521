// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_BIT_CAST_HPP
#define STEMMA_CORE_DETAIL_BIT_CAST_HPP

#include <stemma/config.hpp>

#include <cstring>
#include <type_traits>

namespace stemma::inline STEMMA_ABI::detail {

/// `std::bit_cast`, which libc++ lacks before version 14; not usable in constant expressions.
template <class To, class From>
    requires(sizeof(To) == sizeof(From) && std::is_trivially_copyable_v<To> &&
             std::is_trivially_copyable_v<From>)
[[nodiscard]] To bit_cast(const From& from) noexcept {
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_BIT_CAST_HPP
