// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/data_hashes.hpp>

#include "../../catch.hpp"

#include <stemma/onnx/tensor_header.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace test::onnx_detail_data_hashes {

namespace {

std::string random_data(std::size_t size) {
    std::minstd_rand random(5);
    std::string result(size, '\0');
    for (auto& c : result) {
        c = random() % 3 == 0 ? '\0' : static_cast<char>(random() & 0xffU);
    }
    return result;
}

stemma::tensor_header header(std::int64_t type, std::int64_t rows, std::int64_t columns) {
    stemma::tensor_header result;
    result.data_type = type;
    result.dims = {rows, columns};
    return result;
}

} // namespace

TEST_CASE("sums_of: counts and adds up elements of any width, over any number of parts", "[onnx]") {
    for (const std::size_t size : {8U, 1U << 14U, 100000U}) {
        const auto data = random_data(size);
        for (const std::size_t width : {1U, 2U, 4U, 8U}) {
            std::uint64_t total = 0;
            std::uint64_t nonzero = 0;
            for (std::size_t at = 0; at < size; at += width) {
                std::uint64_t word = 0;
                std::memcpy(&word, data.data() + at, width);
                total += word;
                nonzero += word == 0 ? 0U : 1U;
            }
            if (width == 2 || width == 4) {
                total &= (std::uint64_t{1} << 8 * width) - 1;
            }
            const auto sums = stemma::detail::sums_of(data, static_cast<unsigned>(8 * width));
            CHECK(sums.total == total);
            CHECK(sums.nonzero == nonzero);
        }
        CHECK(stemma::detail::sums_of(data, 0).nonzero == 0);
    }
}

TEST_CASE("data_layout: few elements, or one dimension, are not distinctive", "[onnx]") {
    constexpr std::int64_t single = 1;
    constexpr std::int64_t whole = 7;
    const stemma::detail::data_layout layout(header(single, 4, 16));
    CHECK(layout.bits == 32);
    CHECK(layout.slice == 16);
    CHECK(layout.has_signs);
    CHECK(stemma::detail::data_layout(header(single, 1, 7)).bits == 0);
    CHECK_FALSE(stemma::detail::data_layout(header(whole, 4, 16)).has_signs);
    auto vector = header(single, 1000, 1);
    vector.dims.pop_back();
    CHECK(stemma::detail::data_layout(vector).bits == 0);
    CHECK(stemma::detail::data_layout(header(single, 16, 4)).seed != layout.seed);
}

TEST_CASE("hash_data: the type and the shape count", "[onnx]") {
    const auto data = random_data(4096);
    const auto hash = [&](std::int64_t type, std::int64_t rows, std::int64_t columns) {
        return stemma::detail::hash_data(stemma::detail::data_layout(header(type, rows, columns)),
                                         data);
    };
    CHECK(hash(1, 32, 32) == hash(1, 32, 32));
    CHECK(hash(1, 32, 32).exact != hash(1, 16, 64).exact);
    CHECK(hash(1, 32, 32).loose == hash(1, 16, 64).loose);
    CHECK(hash(1, 32, 32).exact != hash(6, 32, 32).exact);
}

} // namespace test::onnx_detail_data_hashes
