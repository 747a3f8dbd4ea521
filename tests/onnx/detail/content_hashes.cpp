// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/content_hashes.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace test::onnx_detail_content_hashes {

namespace {

test::message numbers(std::string_view name, const std::vector<std::uint64_t>& dims,
                      const std::string& order) {
    std::string raw;
    for (const char c : order) {
        raw.append({c, 0, 0, 63});
    }
    return test::tensor(name, dims, raw);
}

} // namespace

TEST_CASE("hash_contents: compares equal, transposed and different data", "[onnx]") {
    auto graph = test::graph();
    graph.inner(5, numbers("a", {2, 4}, "abcdefgh")).inner(5, numbers("b", {2, 4}, "abcdefgh"));
    graph.inner(5, numbers("t", {4, 2}, "aebfcgdh")).inner(5, numbers("o", {2, 4}, "abcdefgi"));
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
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

TEST_CASE("hash_contents: of data whose rows were multiplied", "[onnx]") {
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
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    const auto hashes = stemma::detail::hash_contents(model);
    CHECK(hashes[0].exact != hashes[1].exact);
    CHECK(hashes[0].scaled == hashes[1].scaled);
    CHECK(hashes[0].scaled != hashes[2].scaled);
    CHECK(hashes[0].scaled != 0);
}

TEST_CASE("hash_contents: of large data in slices of any size", "[onnx]") {
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

TEST_CASE("hash_contents: counts what is not zero, as padding adds zeros only", "[onnx]") {
    const std::vector<float> weights{1, 2, 0, 4, 5, -6, 7, 8};
    const std::vector<float> padded{5, -6, 7, 8, 0, 0, 0, 0, 1, 2, 0, 4};
    auto graph = test::graph();
    for (const auto& one : {weights, padded}) {
        const std::string_view raw(reinterpret_cast<const char*>(one.data()), one.size() * 4);
        const std::uint64_t columns = one.size() / 4;
        graph.inner(5, test::tensor("w", {4, columns}, std::string(raw)));
    }
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    const auto hashes = stemma::detail::hash_contents(model);
    CHECK(hashes[0].nonzero == 7);
    CHECK(hashes[1].nonzero == 7);
    CHECK(hashes[0].loose != hashes[1].loose);
}

} // namespace test::onnx_detail_content_hashes
