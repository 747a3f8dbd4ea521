// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/on_failure.hpp>

#include "../../catch.hpp"

#include <stdexcept>

namespace test::core_detail_on_failure {

TEST_CASE("on_failure: calls its function only if an exception leaves the scope", "[core]") {
    int calls = 0;
    const auto leave = [&](bool throws) {
        const stemma::detail::on_failure count([&] { ++calls; });
        if (throws) {
            throw std::runtime_error("first");
        }
    };
    leave(false);
    CHECK(calls == 0);
    CHECK_THROWS_WITH(leave(true), "first");
    CHECK(calls == 1);
}

TEST_CASE("on_failure: the first exception is the one that is seen", "[core]") {
    const auto leave = [] {
        const stemma::detail::on_failure also([] { throw std::runtime_error("second"); });
        throw std::runtime_error("first");
    };
    CHECK_THROWS_WITH(leave(), "first");
}

} // namespace test::core_detail_on_failure
