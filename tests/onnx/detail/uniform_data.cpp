// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/uniform_data.hpp>

#include "../../catch.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace test::onnx_detail_uniform_data {

namespace {

template <class Number>
std::string bytes_of(const std::vector<Number>& numbers) {
    std::string bytes(numbers.size() * sizeof(Number), '\0');
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

} // namespace

TEST_CASE("is_uniform: detects numbers of any size and count") {
    using stemma::detail::is_uniform;
    CHECK(is_uniform(bytes_of(std::vector<float>(5, 1.0F))));
    CHECK(is_uniform(bytes_of(std::vector<double>(3, 0.5))));
    CHECK(is_uniform(bytes_of(std::vector<char>(11, 3))));
    CHECK(is_uniform(bytes_of(std::vector<float>{0.25F})));
    CHECK_FALSE(is_uniform(bytes_of(std::vector<float>{1, 1, 1, 2})));
    CHECK_FALSE(is_uniform(bytes_of(std::vector<double>{1, 2})));
    CHECK_FALSE(is_uniform(""));
}

} // namespace test::onnx_detail_uniform_data
