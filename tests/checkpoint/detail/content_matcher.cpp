// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/detail/content_matcher.hpp>

#include "../../built_model.hpp"
#include "../../bytes_of.hpp"
#include "../../catch.hpp"
#include "../../random_numbers.hpp"
#include "../../wire_builder.hpp"

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::checkpoint_detail_content_matcher {

namespace {

using floats = std::vector<float>;
using indices = std::vector<std::size_t>;

struct tensor_of {
    std::vector<std::uint64_t> shape;
    floats values;
};

floats random_floats(std::size_t count, unsigned seed) {
    test::random_numbers random(seed);
    floats values(count);
    for (auto& value : values) {
        value = static_cast<float>(random(20001)) / 10000.0F - 1.0F;
    }
    return values;
}

floats turned(const floats& values, std::size_t rows) {
    floats result;
    const auto columns = values.size() / rows;
    for (std::size_t column = 0; column < columns; ++column) {
        for (std::size_t row = 0; row < rows; ++row) {
            result.push_back(values[row * columns + column]);
        }
    }
    return result;
}

floats joined(floats one, const floats& other) {
    one.insert(one.end(), other.begin(), other.end());
    return one;
}

std::vector<indices> match(const std::vector<tensor_of>& initializers,
                           const std::vector<tensor_of>& entries) {
    auto graph = test::graph();
    for (std::size_t i = 0; i < initializers.size(); ++i) {
        graph.inner(5, test::tensor("w" + std::to_string(i), initializers[i].shape,
                                    bytes_of(initializers[i].values)));
    }
    const test::built_model model(test::model(graph));
    std::string data;
    std::vector<stemma::checkpoint::entry> saved;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        stemma::checkpoint::entry entry;
        entry.name = "e" + std::to_string(i);
        entry.data_type = 1;
        entry.width = 4;
        entry.shape.assign(entries[i].shape.begin(), entries[i].shape.end());
        entry.offset = data.size();
        entry.size = entries[i].values.size() * 4;
        entry.alias_of = i;
        data += bytes_of(entries[i].values);
        saved.push_back(std::move(entry));
    }
    std::vector<stemma::mapped_file> files;
    files.push_back(stemma::mapped_file::holding(data, "file"));
    const stemma::checkpoint weights(std::move(files), std::move(saved));
    return stemma::detail::content_matcher(model, weights)
        .match(std::vector<bool>(initializers.size(), true));
}

} // namespace

TEST_CASE("content_matcher: finds entries unchanged, transposed, or reshaped") {
    const auto a = random_floats(24, 1);
    const auto b = random_floats(24, 2);
    CHECK(match({{{4, 6}, a}, {{6, 4}, turned(b, 4)}, {{24}, a}, {{24}, random_floats(24, 3)}},
                {{{4, 6}, b}, {{4, 6}, a}}) == std::vector<indices>{{1}, {0}, {1}, {}});
}

TEST_CASE("content_matcher: ambiguous, uniform or short contents are no evidence") {
    const auto a = random_floats(24, 1);
    CHECK(match({{{24}, a}}, {{{24}, a}, {{24}, a}}) == std::vector<indices>{{}});
    CHECK(match({{{24}, floats(24, 1.0F)}}, {{{24}, floats(24, 1.0F)}}) ==
          std::vector<indices>{{}});
    CHECK(match({{{2}, {1, 2}}}, {{{2}, {1, 2}}}) == std::vector<indices>{{}});
}

TEST_CASE("content_matcher: finds concatenated entries") {
    const auto a = random_floats(24, 1);
    const auto b = random_floats(24, 2);
    const auto c = random_floats(12, 3);
    CHECK(match({{{48}, joined(b, a)}, {{60}, joined(joined(a, b), c)}},
                {{{24}, a}, {{3}, {1, 2, 3}}, {{24}, b}, {{7}, floats(7, 2.0F)}, {{12}, c}}) ==
          std::vector<indices>{{0, 2}, {0, 2, 4}});
}

TEST_CASE("content_matcher: finds rows multiplied by factors, along the first axis or the second") {
    const auto a = random_floats(16 * 9, 1);
    const auto b = random_floats(16 * 9, 2);
    auto scaled = a;
    for (std::size_t i = 0; i < scaled.size(); ++i) {
        scaled[i] *= 0.5F + static_cast<float>(i / 9);
    }
    CHECK(match({{{16, 1, 3, 3}, scaled}, {{9, 16}, turned(scaled, 16)}},
                {{{16, 1, 3, 3}, b}, {{16, 1, 3, 3}, a}, {{16, 9}, a}}) ==
          std::vector<indices>{{1}, {2}});
    CHECK(match({{{16, 9}, scaled}}, {{{16, 9}, a}, {{16, 9}, a}}) == std::vector<indices>{{}});
}

TEST_CASE("content_matcher: matches only what is requested") {
    const test::built_model model({}, {}, {}, {"w"});
    const stemma::checkpoint nothing({}, {});
    CHECK(stemma::detail::content_matcher(model, nothing).match({false}) ==
          std::vector<indices>{{}});
}

} // namespace test::checkpoint_detail_content_matcher
