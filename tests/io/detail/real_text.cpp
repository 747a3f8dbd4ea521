// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/real_text.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace test::io_detail_real_text {

namespace {

using stemma::detail::printed_real;
using stemma::detail::scan_real;

/// Returns: numbers of every magnitude, and the limits of the type.
template <class Real, class Bits>
std::vector<Real> numbers(std::uint64_t seed) {
    using limits = std::numeric_limits<Real>;
    std::vector<Real> result{Real(0),
                             Real(1),
                             Real(10),
                             Real(0.1),
                             Real(1e5),
                             Real(100000.5),
                             Real(1e22),
                             Real(1.5e-5),
                             limits::max(),
                             limits::min(),
                             limits::denorm_min(),
                             Real(0.001),
                             Real(0.0001),
                             Real(0.00012),
                             Real(1234567)};
    test::random_numbers random(seed);
    for (int i = 0; i < 3000; ++i) {
        const auto text = random.bytes(sizeof(Real));
        Real any{};
        std::memcpy(&any, text.data(), sizeof any);
        if (std::isfinite(any)) {
            result.push_back(any);
        }
        const auto whole = static_cast<Real>(random(1000000));
        result.push_back(whole);
        result.push_back(whole / Real(1000));
        result.push_back(-whole / Real(1 << 20));
    }
    return result;
}

template <class Real>
std::string read_text(std::string_view text) {
    Real number = Real(-77);
    const auto read = scan_real(text.data(), text.data() + text.size(), number);
    return printed_real(number) + " " + std::to_string(read.ptr - text.data()) +
           (read.ec == std::errc()                      ? ""
            : read.ec == std::errc::result_out_of_range ? " too large"
                                                        : " none");
}

} // namespace

TEMPLATE_TEST_CASE("printed_real: every number round-trips", "[io][real_text]", float, double) {
    for (const auto number : numbers<TestType, std::uint32_t>(3)) {
        const auto text = printed_real(number);
        TestType back{};
        const auto read = scan_real(text.data(), text.data() + text.size(), back);
        const bool same = read.ec == std::errc() && read.ptr == text.data() + text.size() &&
                          std::memcmp(&back, &number, sizeof back) == 0;
        INFO(text);
        REQUIRE(same);
        REQUIRE(text.size() <= stemma::detail::real_text_size);
    }
}

#if defined(__cpp_lib_to_chars)

TEMPLATE_TEST_CASE("printed_real: agrees with the standard library", "[io][real_text]", float,
                   double) {
    for (const auto number : numbers<TestType, std::uint32_t>(5)) {
        char digits[stemma::detail::real_text_size];
        const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        const auto text = printed_real(number);
        const bool same = text == std::string(digits, end);
        INFO(text << " rather than " << std::string(digits, end));
        REQUIRE(same);
    }
}

TEMPLATE_TEST_CASE("scan_real: agrees with the standard library", "[io][real_text]", float,
                   double) {
    for (const std::string text : {"",
                                   "-",
                                   "+1",
                                   " 1",
                                   "1",
                                   "-1.5",
                                   ".5",
                                   "5.",
                                   ".",
                                   "-.",
                                   "1e",
                                   "1e+",
                                   "1e5x",
                                   "1E-3",
                                   "e5",
                                   "1.5.5",
                                   "1e999",
                                   "-1e999",
                                   "inf",
                                   "-Infinity",
                                   "infinit",
                                   "nano",
                                   "0x10",
                                   "1,5",
                                   "3.4028236e38",
                                   "00012",
                                   "1e0000000000000000005"}) {
        TestType expected = TestType(-77);
        const auto read = std::from_chars(text.data(), text.data() + text.size(), expected);
        TestType number = TestType(-77);
        const auto scanned = scan_real(text.data(), text.data() + text.size(), number);
        INFO(text);
        CHECK(scanned.ec == read.ec);
        CHECK(scanned.ptr == read.ptr);
        CHECK(printed_real(number) == printed_real(expected));
    }
}

#endif

TEST_CASE("scan_real: reads the number at the start of a text") {
    CHECK(read_text<double>("1.5kB") == "1.5 3");
    CHECK(read_text<double>("-0") == "-0 2");
    CHECK(read_text<double>("1e400") == "-77 5 too large");
    CHECK(read_text<float>("1e39") == "-77 4 too large");
    CHECK(read_text<double>("x") == "-77 0 none");
}

TEST_CASE("fixed_text: has the requested number of digits") {
    using stemma::detail::fixed_text;
    CHECK(fixed_text(1.0 / 3, 3) == "0.333");
    CHECK(fixed_text(-2.5, 1) == "-2.5");
    CHECK(fixed_text(1e20, 0) == "100000000000000000000");
    CHECK(fixed_text(1e300, 3).size() == 305);
}

TEST_CASE("short_text: has at most the requested number of digits") {
    using stemma::detail::short_text;
    CHECK(short_text(1.0 / 3, 3) == "0.333");
    CHECK(short_text(-2.5, 3) == "-2.5");
    CHECK(short_text(999.6, 3) == "1e+03");
}

TEST_CASE("real_text: is the shortest text of a number") {
    CHECK(stemma::detail::real_text(0.1) == "0.1");
    CHECK(stemma::detail::real_text(0.97F) == "0.97");
    CHECK(stemma::detail::real_text(-std::numeric_limits<double>::infinity()) == "-inf");
}

TEST_CASE("put_real, read_real: round-trip with either library") {
    char digits[stemma::detail::real_text_size];
    CHECK(std::string(digits, stemma::detail::put_real(digits, 0.97F)) == "0.97");
    double number = 0;
    const std::string_view text = "0.25]";
    const auto read = stemma::detail::read_real(text.data(), text.data() + text.size(), number);
    CHECK(read.ptr == text.data() + 4);
    CHECK(number == 0.25);
}

} // namespace test::io_detail_real_text
