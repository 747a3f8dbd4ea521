// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/prefetch.hpp>

#include "../../catch.hpp"

namespace test::core_detail_prefetch {

TEST_CASE("prefetch: accepts any address, and changes nothing", "[core][prefetch]") {
    const int number = 7;
    stemma::detail::prefetch(&number);
    stemma::detail::prefetch(&number + 1);
    stemma::detail::prefetch(nullptr);
    CHECK(number == 7);
}

} // namespace test::core_detail_prefetch
