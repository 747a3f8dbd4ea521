// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/polynomial.hpp>

#include "../catch.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace test::types_polynomial {

namespace {

using stemma::polynomial;

std::string text(const polynomial& p) {
    return p.text([](polynomial::symbol s) { return std::string(1, static_cast<char>('a' + s)); });
}

polynomial random_polynomial(std::mt19937& engine) {
    polynomial sum;
    for (int terms = 0; terms < 3; ++terms) {
        polynomial part(static_cast<std::int64_t>(engine() % 9) - 4);
        for (auto degree = engine() % 3; degree > 0; --degree) {
            part *= polynomial::of(static_cast<polynomial::symbol>(engine() % 3));
        }
        sum += part;
    }
    return sum;
}

} // namespace

TEST_CASE("polynomial: agrees with its values", "[types][polynomial]") {
    std::mt19937 engine(7);
    for (int i = 0; i < 200; ++i) {
        const auto a = random_polynomial(engine);
        const auto b = random_polynomial(engine);
        const auto at = [&](const polynomial& p) {
            return p.evaluate([](auto s) { return std::optional<std::int64_t>(s * 5 + 3); })
                .value();
        };
        CHECK(at(a + b) == at(a) + at(b));
        CHECK(at(a - b) == at(a) - at(b));
        CHECK(at(a * b) == at(a) * at(b));
        CHECK((a - a).is_zero());
        if (!b.is_zero()) {
            CHECK((a * b).divided_by(b) == a);
        }
    }
}

TEST_CASE("polynomial: is written with the highest powers first", "[types][polynomial]") {
    const auto a = polynomial::of(0);
    const auto b = polynomial::of(1);
    CHECK(text(a * b * b * 12 + 5 - a) == "12*a*b^2 - a + 5");
    CHECK(text(polynomial()) == "0");
    CHECK(text(polynomial() - a) == "-a");
    CHECK(text(polynomial::unknown()) == "?");
}

TEST_CASE("polynomial: the name of a symbol may be an expression") {
    const auto name = [](polynomial::symbol s) { return std::string(s == 0 ? "past + new" : "n"); };
    const auto sum = polynomial::of(0);
    CHECK(sum.text(name) == "past + new");
    CHECK((sum * polynomial::of(1) * 2).text(name) == "2*(past + new)*n");
    CHECK((sum * sum).text(name) == "(past + new)^2");
    CHECK((polynomial() - sum).text(name) == "-(past + new)");
    const auto call = [](polynomial::symbol) { return std::string("floor((n + 1)/2)"); };
    CHECK((sum * 3).text(call) == "3*floor((n + 1)/2)");
}

TEST_CASE("polynomial: overflow is unknown, and so is everything computed from it",
          "[types][polynomial]") {
    const polynomial most(std::numeric_limits<std::int64_t>::max());
    CHECK_FALSE((most + 1).is_known());
    CHECK_FALSE((most * 2 - most).is_known());
    CHECK_FALSE((polynomial::unknown() * 0).is_known());
    auto power = polynomial::of(0);
    for (int i = 0; i < 10; ++i) {
        power *= power;
    }
    CHECK_FALSE(power.is_known());
    CHECK((most - 1).is_known());
}

TEST_CASE("polynomial: only a multiple can be divided", "[types][polynomial]") {
    const auto a = polynomial::of(0);
    CHECK_FALSE((a * 3).divided_by(2));
    CHECK_FALSE((a + 1).divided_by(a));
    CHECK_FALSE(a.divided_by(0));
    CHECK((a * a - 1).divided_by(a - 1) == a + 1);
}

TEST_CASE("polynomial: adds itself to itself", "[types][polynomial]") {
    auto a = polynomial::of(0) + 1;
    const auto& same = a;
    a += same;
    CHECK(text(a) == "2*a + 2");
    a -= same;
    CHECK(a.is_zero());
}

} // namespace test::types_polynomial
