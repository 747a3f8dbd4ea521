// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/tensor_values.hpp>

#include "../bytes_of.hpp"
#include "../catch.hpp"
#include "../refusal.hpp"

#include <stemma/error.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test::numerics_tensor_values {

namespace {

std::vector<double> numbers_of(const stemma::tensor_values& values) {
    std::vector<double> numbers(values.size());
    values.read(0, numbers);
    return numbers;
}

stemma::error_code refusal(std::int64_t type, std::vector<std::int64_t> dims,
                           const std::string& bytes) {
    const auto e = test::refusal(
        [&] { return stemma::tensor_values(type, std::move(dims), bytes, "file", "x"); });
    CHECK(std::string(e.what()).starts_with("file: x: "));
    return e.code();
}

} // namespace

TEST_CASE("tensor_values: reads elements of every type", "[numerics][tensor_values]") {
    const auto check = [](std::int64_t type, const std::string& bytes, std::vector<double> wanted) {
        INFO(type);
        const stemma::tensor_values values(type, {static_cast<std::int64_t>(wanted.size())}, bytes,
                                           "", "");
        CHECK(numbers_of(values) == wanted);
        CHECK(values.bytes_as(type) == bytes);
    };
    check(1, bytes_of<float>({1.5F, -2}), {1.5, -2});
    check(2, bytes_of<std::uint8_t>({0, 255}), {0, 255});
    check(3, bytes_of<std::int8_t>({-128, 127}), {-128, 127});
    check(4, bytes_of<std::uint16_t>({65535}), {65535});
    check(5, bytes_of<std::int16_t>({-32768}), {-32768});
    check(6, bytes_of<std::int32_t>({-7}), {-7});
    check(7, bytes_of<std::int64_t>({-9}), {-9});
    check(9, bytes_of<std::uint8_t>({0, 1}), {0, 1});
    check(10, bytes_of<std::uint16_t>({0x3c00, 0xc000, 1}), {1, -2, std::ldexp(1, -24)});
    check(11, bytes_of<double>({0.1}), {0.1});
    check(12, bytes_of<std::uint32_t>({4'000'000'000U}), {4e9});
    check(13, bytes_of<std::uint64_t>({3}), {3});
    check(16, bytes_of<std::uint16_t>({0x3f80, 0xc000}), {1, -2});
    const auto complex = bytes_of<float>({1, 2, 3, 4});
    CHECK(numbers_of({14, {2}, complex, "", ""}) == std::vector<double>{1, 2, 3, 4});
}

TEST_CASE("tensor_values: infinities and NaNs are preserved", "[numerics][tensor_values]") {
    const auto bytes = bytes_of<std::uint16_t>({0x7c00, 0xfc00, 0x7e00});
    const auto numbers = numbers_of({10, {3}, bytes, "", ""});
    CHECK(numbers[0] == std::numeric_limits<double>::infinity());
    CHECK(numbers[1] == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(numbers[2]));
    CHECK(stemma::tensor_values(10, {3}, bytes, "", "").bytes_as(1)->size() == 12);
}

TEST_CASE("tensor_values: reads swapped bytes and column-major data", "[numerics][tensor_values]") {
    auto swapped = bytes_of<std::int32_t>({1, 2});
    for (std::size_t i = 0; i < swapped.size(); i += 4) {
        std::swap(swapped[i], swapped[i + 3]);
        std::swap(swapped[i + 1], swapped[i + 2]);
    }
    CHECK(numbers_of({6, {2}, swapped, "", "", true}) == std::vector<double>{1, 2});
    const auto columns = bytes_of<float>({1, 4, 2, 5, 3, 6});
    CHECK(numbers_of({1, {2, 3}, columns, "", "", false, true}) ==
          std::vector<double>{1, 2, 3, 4, 5, 6});
    // Integers that no double holds.
    constexpr auto large = (std::int64_t{1} << 53) + 1;
    const auto integers = bytes_of<std::int64_t>({large, 4, 2, 5, 3, -large});
    const stemma::tensor_values turned(7, {2, 3}, integers, "", "", false, true);
    CHECK(turned.bytes_as(7) == bytes_of<std::int64_t>({large, 2, 3, 4, 5, -large}));
    const auto complex = bytes_of<float>({1, 2, 3, 4});
    const stemma::tensor_values big_endian(14, {2}, complex, "", "", true);
    CHECK(stemma::tensor_values(14, {2}, *big_endian.bytes_as(14), "", "", true).bytes_as(14) ==
          complex);
}

TEST_CASE("tensor_values: conversion clamps to the range of a type", "[numerics][tensor_values]") {
    const auto bytes = bytes_of<double>({-5, 300, 2.5});
    const stemma::tensor_values values(11, {3}, bytes, "", "");
    CHECK(*values.bytes_as(2) == bytes_of<std::uint8_t>({0, 255, 2}));
    CHECK(*values.bytes_as(9) == bytes_of<std::uint8_t>({1, 1, 1}));
    CHECK(*values.bytes_as(7) == bytes_of<std::int64_t>({-5, 300, 2}));
    CHECK(*values.bytes_as(1) == bytes_of<float>({-5, 300, 2.5F}));
    CHECK_FALSE(values.bytes_as(14));
    CHECK_FALSE(values.bytes_as(8));
}

TEST_CASE("tensor_values: rejects a shape that does not match the bytes",
          "[numerics][tensor_values]") {
    using stemma::error_code;
    constexpr auto huge = std::numeric_limits<std::int64_t>::max();
    CHECK(refusal(1, {2}, std::string(4, '\0')) == error_code::malformed);
    CHECK(refusal(1, {1}, std::string(5, '\0')) == error_code::malformed);
    CHECK(refusal(1, {huge, huge, huge}, std::string(8, '\0')) == error_code::malformed);
    CHECK(refusal(1, {-1}, {}) == error_code::malformed);
    CHECK(refusal(8, {}, std::string(4, '\0')) == error_code::unsupported);
    CHECK(numbers_of({1, {huge, 0}, {}, "", ""}).empty());
    CHECK(numbers_of({1, {}, bytes_of<float>({3}), "", ""}) == std::vector<double>{3});
}

} // namespace test::numerics_tensor_values
