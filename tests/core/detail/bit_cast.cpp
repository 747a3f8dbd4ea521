// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/bit_cast.hpp>

#include "../../catch.hpp"

#include <cstdint>
#include <limits>

namespace test::core_detail_bit_cast {

TEST_CASE("bit_cast: preserves the bits", "[core][bit_cast]") {
    CHECK(stemma::detail::bit_cast<std::uint32_t>(1.0F) == 0x3f800000U);
    CHECK(stemma::detail::bit_cast<double>(std::uint64_t{0x7ff0000000000000U}) ==
          std::numeric_limits<double>::infinity());
}

} // namespace test::core_detail_bit_cast
