// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/data_hashes.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

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

test::message numbers(std::string_view name, const std::vector<std::uint64_t>& dims,
                      const std::string& order) {
    std::string raw;
    for (const char c : order) {
        raw.append({c, 0, 0, 63});
    }
    return test::tensor(name, dims, raw);
}

} // namespace

TEST_CASE("sums_of: counts and adds up elements of any width, over any number of parts") {
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

TEST_CASE("data_layout: few elements are not distinctive, nor are the signs of a vector") {
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
    CHECK(stemma::detail::data_layout(vector).bits == 32);
    CHECK_FALSE(stemma::detail::data_layout(vector).has_signs);
    CHECK(stemma::detail::data_layout(header(single, 16, 4)).seed != layout.seed);
}

TEST_CASE("hash_data: the type and the shape count") {
    const auto data = random_data(4096);
    const auto hash = [&](std::int64_t type, std::int64_t rows, std::int64_t columns) {
        return stemma::detail::hash_data(stemma::detail::data_layout(header(type, rows, columns)),
                                         data);
    };
    CHECK(hash(1, 32, 32) == hash(1, 32, 32));
    CHECK(hash(1, 32, 32).exact != hash(1, 16, 64).exact);
    CHECK(hash(1, 32, 32).loose == hash(1, 16, 64).loose);
    auto vector = header(1, 1024, 1);
    vector.dims.pop_back();
    CHECK(hash(1, 1, 1024).loose ==
          stemma::detail::hash_data(stemma::detail::data_layout(vector), data).loose);
    CHECK(hash(1, 32, 32).exact != hash(6, 32, 32).exact);
}

TEST_CASE("hash_contents: compares equal, transposed and different data") {
    auto graph = test::graph();
    graph.inner(5, numbers("a", {2, 4}, "abcdefgh")).inner(5, numbers("b", {2, 4}, "abcdefgh"));
    graph.inner(5, numbers("t", {4, 2}, "aebfcgdh")).inner(5, numbers("o", {2, 4}, "abcdefgi"));
    const test::built_model model(test::model(graph));
    const auto hashes = stemma::detail::hash_contents(model);
    REQUIRE(hashes.size() == 4);
    CHECK(hashes[0] == hashes[1]);
    CHECK(hashes[0].exact != hashes[2].exact);
    CHECK(hashes[0].loose == hashes[2].loose);
    CHECK(hashes[0].exact != hashes[3].exact);
    CHECK(hashes[0].loose != hashes[3].loose);
    CHECK(hashes[0].loose != 0);
    const stemma::thread_scope threads({4});
    CHECK(stemma::detail::hash_contents(model) == hashes);
}

TEST_CASE("hash_contents: of data whose rows were multiplied") {
    std::vector<float> weights;
    for (int i = 0; i < 160; ++i) {
        weights.push_back(static_cast<float>((i * i + 7 * i) % 23) - 11.5F);
    }
    auto scaled = weights;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
        scaled[i] *= i < 80 ? 0.3F : -2.0F;
    }
    auto others = weights;
    others[3] = -others[3];
    auto graph = test::graph();
    for (const auto& one : {weights, scaled, others}) {
        const std::string_view raw(reinterpret_cast<const char*>(one.data()), one.size() * 4);
        graph.inner(5, test::tensor("w", {2, 80}, std::string(raw)));
    }
    const test::built_model model(test::model(graph));
    const auto hashes = stemma::detail::hash_contents(model);
    CHECK(hashes[0].exact != hashes[1].exact);
    CHECK(hashes[0].scaled == hashes[1].scaled);
    CHECK(hashes[0].scaled != hashes[2].scaled);
    CHECK(hashes[0].scaled != 0);
}

TEST_CASE("hash_contents: of large data in slices of any size") {
    const auto hashes_of = [](std::uint64_t rows, const auto& data) {
        using number = typename std::decay_t<decltype(data)>::value_type;
        const std::string_view raw(reinterpret_cast<const char*>(data.data()),
                                   data.size() * sizeof(number));
        auto graph = test::graph();
        graph.inner(5, test::tensor("w", {rows, data.size() / rows}, raw)
                           .number(2, sizeof(number) == 8 ? 11 : 1));
        const auto bytes = test::model(graph).bytes();
        return stemma::detail::hash_contents(stemma::wire_model(bytes)).at(0);
    };
    const auto check = [&](auto zero, std::uint64_t rows, std::uint64_t columns) {
        std::vector<decltype(zero)> weights;
        for (std::uint64_t i = 0; i < rows * columns; ++i) {
            weights.push_back(static_cast<decltype(zero)>(i * 7919 % 1009) - 504.5F);
        }
        const auto original = hashes_of(rows, weights);
        auto scaled = weights;
        for (std::uint64_t i = 0; i < scaled.size(); ++i) {
            scaled[i] *= i / columns % 2 == 0 ? 2.F : -0.5F;
        }
        CHECK(hashes_of(rows, scaled).scaled == original.scaled);
        CHECK(hashes_of(rows, scaled).loose != original.loose);
        auto reordered = weights;
        std::reverse(reordered.begin(), reordered.end());
        CHECK(hashes_of(rows, reordered).loose == original.loose);
        CHECK(hashes_of(rows, reordered).nonzero == weights.size());
        for (const auto at : {std::uint64_t{1}, weights.size() / 2 + 1, weights.size() - 1}) {
            auto other = weights;
            other[at] = -other[at];
            INFO(rows << " rows of " << columns << ", " << at);
            CHECK(hashes_of(rows, other).scaled != original.scaled);
            CHECK(hashes_of(rows, other).exact != original.exact);
            CHECK(hashes_of(rows, other).loose != original.loose);
        }
    };
    for (const std::uint64_t columns : {9U, 64U, 100U, 1001U}) {
        check(0.F, 40, columns);
        check(0., 40, columns);
    }
}

TEST_CASE("hash_contents: counts what is not zero, as padding adds zeros only") {
    const std::vector<float> weights{1, 2, 0, 4, 5, -6, 7, 8};
    const std::vector<float> padded{5, -6, 7, 8, 0, 0, 0, 0, 1, 2, 0, 4};
    auto graph = test::graph();
    for (const auto& one : {weights, padded}) {
        const std::string_view raw(reinterpret_cast<const char*>(one.data()), one.size() * 4);
        const std::uint64_t columns = one.size() / 4;
        graph.inner(5, test::tensor("w", {4, columns}, std::string(raw)));
    }
    const test::built_model model(test::model(graph));
    const auto hashes = stemma::detail::hash_contents(model);
    CHECK(hashes[0].nonzero == 7);
    CHECK(hashes[1].nonzero == 7);
    CHECK(hashes[0].loose != hashes[1].loose);
}

} // namespace test::onnx_detail_data_hashes
