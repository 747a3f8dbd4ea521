// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/uniform_data.hpp>

#include "../../bytes_of.hpp"
#include "../../catch.hpp"

#include <string>
#include <vector>

namespace test::onnx_detail_uniform_data {

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

TEST_CASE("is_initial: compares elements of the tensor's type") {
    using stemma::detail::is_initial;
    CHECK(is_initial(bytes_of(std::vector<float>(2, 0.5F)), 1));
    CHECK_FALSE(is_initial(bytes_of(std::vector<float>{0.1F, 0.2F}), 1));
    CHECK_FALSE(is_initial(bytes_of(std::vector<float>{0.1F, 0.2F, 0.1F, 0.2F}), 1));
    CHECK(is_initial(bytes_of(std::vector<char>(11, 3)), 3));
    CHECK_FALSE(is_initial("", 1));
}

TEST_CASE("is_initial: a single number that is neither zero nor one was trained") {
    using stemma::detail::is_initial;
    for (const auto number : {0.0F, 1.0F, 0.5F}) {
        CHECK(is_initial(bytes_of(std::vector<float>{number}), 1) == (number != 0.5F));
        CHECK(is_initial(bytes_of(std::vector<double>{number}), 11) == (number != 0.5F));
    }
    CHECK(is_initial(std::string("\0\x3c", 2), 10));
    CHECK(is_initial("\x80\x3f", 16));
    CHECK_FALSE(is_initial("\x80\x3f", 10));
    CHECK(is_initial(bytes_of(std::vector<char>{7}), 2));
}

} // namespace test::onnx_detail_uniform_data
