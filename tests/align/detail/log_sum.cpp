// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/log_sum.hpp>

#include "../../catch.hpp"

#include <cmath>
#include <limits>

namespace test::align_detail_log_sum {

using stemma::detail::log_sum;

namespace {

bool is_near(double a, double b) {
    return std::abs(a - b) <= 1e-9;
}

} // namespace

TEST_CASE("log_sum: adds in the logarithmic domain", "[log_sum]") {
    constexpr double none = -std::numeric_limits<double>::infinity();
    CHECK(is_near(log_sum(std::log(2.0), std::log(3.0)), std::log(5.0)));
    CHECK(log_sum(none, 1) == 1);
    CHECK(log_sum(1, none) == 1);
    CHECK(std::isinf(log_sum(none, none)));
    CHECK(is_near(log_sum(-2000, -2000), -2000 + std::log(2.0)));
}

} // namespace test::align_detail_log_sum
