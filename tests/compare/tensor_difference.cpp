// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/tensor_difference.hpp>

#include "../bytes_of.hpp"
#include "../catch.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace test::compare_tensor_difference {

namespace {

stemma::tensor_header header(std::int64_t type, std::int64_t elements) {
    stemma::tensor_header tensor;
    tensor.dims = {elements};
    tensor.data_type = type;
    return tensor;
}

template <class Number>
stemma::tensor_difference measure(std::int64_t type, const std::vector<Number>& a,
                                  const std::vector<Number>& b, std::int64_t elements) {
    const auto h = header(type, elements);
    return stemma::detail::measure_difference(h, bytes_of(a), h, bytes_of(b)).value();
}

float value(std::int64_t type, std::uint32_t bits) {
    return stemma::detail::small_float_value(stemma::detail::small_float_type(type).value(), bits);
}

} // namespace

TEST_CASE("measure_difference: finds the largest differences anywhere") {
    // Around the sizes of blocks and of vector instructions.
    for (const std::size_t size : {1U, 15U, 16U, 17U, 1023U, 1024U, 1025U, 5000U}) {
        for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
            std::vector<float> a(size, 4.0F);
            auto b = a;
            b[at] = 3.0F;
            const auto difference = measure(1, a, b, static_cast<std::int64_t>(size));
            CHECK(difference == stemma::tensor_difference{size, 1, 1.0, 0.25});
            CHECK(measure(1, a, a, static_cast<std::int64_t>(size)).different == 0);
        }
    }
}

TEST_CASE("measure_difference: handles infinities, NaNs and denormals") {
    constexpr auto infinite = std::numeric_limits<float>::infinity();
    constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(measure<float>(1, {0.0F, nan}, {-0.0F, nan}, 2).different == 0);
    const auto difference = measure<float>(1, {1.0F, nan}, {1.0F, 1.0F}, 2);
    CHECK(difference.different == 1);
    CHECK(std::isinf(difference.absolute));
    CHECK(std::isinf(measure<float>(1, {infinite}, {1.0F}, 1).relative));
    CHECK(measure<float>(1, {0.0F}, {2.0F}, 1).relative == 1.0);
    CHECK(measure<float>(1, {-2.0F}, {2.0F}, 1).relative == 2.0);
    const std::vector<float> tiny(32, 1e-45F);
    CHECK(measure(1, tiny, tiny, 32).different == 0);
}

TEST_CASE("measure_difference: reads all numeric types") {
    CHECK(measure<double>(11, {1e300}, {0.5e300}, 1).relative == 0.5);
    CHECK(measure<std::int8_t>(3, {-128}, {127}, 1).absolute == 255);
    CHECK(measure<std::uint8_t>(2, {0}, {255}, 1).absolute == 255);
    CHECK(measure<std::int16_t>(5, {-1}, {1}, 1).absolute == 2);
    CHECK(measure<std::uint16_t>(4, {65535}, {0}, 1).absolute == 65535);
    CHECK(measure<std::int32_t>(6, {-5}, {5}, 1).absolute == 10);
    CHECK(measure<std::uint32_t>(12, {0xffffffffU}, {0}, 1).absolute == 4294967295.0);
    constexpr std::int64_t large = std::int64_t{1} << 60;
    CHECK(measure<std::int64_t>(7, {large}, {large + 1}, 1).absolute == 1);
    CHECK(measure<std::uint64_t>(13, {~std::uint64_t{0}}, {~std::uint64_t{0} - 1}, 1).different ==
          1);
    CHECK(measure<std::uint16_t>(10, {0x3c00}, {0x4000}, 1).absolute == 1);   // float16: 1, 2
    CHECK(measure<std::uint16_t>(16, {0x3f80}, {0x4000}, 1).relative == 0.5); // bfloat16: 1, 2
    CHECK(measure<std::uint8_t>(17, {0x38}, {0x40}, 1).absolute == 1);        // float8e4m3fn: 1, 2
    CHECK(measure<std::uint8_t>(22, {0x8f}, {0x80}, 2).absolute == 1);        // int4: -1 and 0
    CHECK(measure<std::uint8_t>(21, {0xf1}, {0x01}, 2).absolute == 15);       // uint4
    CHECK(measure<std::uint8_t>(9, {1, 0}, {1, 1}, 2).different == 1);        // bool
    CHECK(measure<float>(14, {1, 2}, {1, 4}, 1).absolute == 2);               // complex64
}

TEST_CASE("measure_difference: compares numbers across types") {
    const auto difference = stemma::detail::measure_difference(
        header(1, 2), bytes_of<float>({1.0F, 2.0F}), header(10, 2),
        bytes_of<std::uint16_t>({0x3c00, 0x3c00}));
    REQUIRE(difference);
    CHECK(*difference == stemma::tensor_difference{2, 1, 1.0, 0.5});
}

TEST_CASE("measure_difference: returns nothing for incomparable tensors") {
    const auto two = bytes_of<float>({1.0F, 2.0F});
    CHECK(!stemma::detail::measure_difference(header(1, 2), two, header(1, 1), two));
    CHECK(!stemma::detail::measure_difference(header(1, 3), two, header(1, 3), two));
    CHECK(!stemma::detail::measure_difference(header(8, 2), two, header(8, 2), two));
    CHECK(!stemma::detail::measure_difference(header(1, -2), two, header(1, -2), two));
}

TEST_CASE("small_float_value: types of eight bits and less have their own limits") {
    CHECK(value(17, 0x7e) == 448.0F); // e4m3fn
    CHECK(std::isnan(value(17, 0x7f)));
    CHECK(value(18, 0x7f) == 240.0F); // e4m3fnuz
    CHECK(std::isnan(value(18, 0x80)));
    CHECK(value(19, 0x7b) == 57344.0F); // e5m2
    CHECK(std::isinf(value(19, 0x7c)));
    CHECK(value(20, 0x7f) == 57344.0F); // e5m2fnuz
    CHECK(value(23, 0x7) == 6.0F);      // e2m1
    CHECK(value(23, 0x9) == -0.5F);
    CHECK(value(24, 127) == 1.0F); // e8m0
    CHECK(value(24, 0) == std::ldexp(1.0F, -127));
    CHECK(std::isnan(value(24, 255)));
}

TEST_CASE("small_float_type: rejects other types") {
    for (const std::int64_t type : {0, 1, 6, 10, 11, 16, 21, 99}) {
        CHECK(!stemma::detail::small_float_type(type));
    }
}

} // namespace test::compare_tensor_difference
