// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/checkpoint.hpp>

#include "../catch.hpp"

#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::checkpoint_checkpoint {

namespace {

stemma::checkpoint holding(const std::string& bytes, stemma::checkpoint::entry entry) {
    std::vector<stemma::mapped_file> files;
    files.push_back(stemma::mapped_file::holding(bytes, "file"));
    std::vector<stemma::checkpoint::entry> entries;
    entries.push_back(std::move(entry));
    return {std::move(files), std::move(entries)};
}

stemma::checkpoint::entry entry_of(std::uint32_t width, std::vector<std::int64_t> shape,
                                   std::vector<std::int64_t> strides) {
    stemma::checkpoint::entry entry;
    entry.name = "w";
    entry.data_type = 2;
    entry.width = width;
    entry.size = width;
    for (const auto extent : shape) {
        entry.size *= static_cast<std::uint64_t>(extent);
    }
    entry.shape = std::move(shape);
    entry.strides = std::move(strides);
    return entry;
}

} // namespace

TEST_CASE("checkpoint: elements come in row-major order, whatever the strides") {
    const std::string bytes = "abcdefghijkl";
    const auto all = [&](std::uint32_t width, std::vector<std::int64_t> shape,
                         std::vector<std::int64_t> strides, std::uint64_t offset = 0) {
        auto entry = entry_of(width, std::move(shape), std::move(strides));
        entry.offset = offset;
        const auto checkpoint = holding(bytes, std::move(entry));
        return checkpoint.bytes(checkpoint.entries().front());
    };
    CHECK(all(1, {2, 3}, {}) == "abcdef");
    CHECK(all(1, {2, 3}, {}, 6) == "ghijkl");
    CHECK(all(1, {3, 2}, {1, 3}) == "adbecf");
    CHECK(all(2, {3, 2}, {1, 3}) == "abghcdijefkl");
    CHECK(all(1, {2, 2, 2}, {1, 2, 4}, 2) == "cgeidhfj");
    CHECK(all(1, {3}, {2}, 1) == "bdf");
    CHECK(all(1, {0, 3}, {}).empty());
}

TEST_CASE("checkpoint: long entries come in several pieces") {
    constexpr std::size_t side = 2500;
    std::string bytes(side * side, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<char>(i % 251);
    }
    const auto rows = static_cast<std::int64_t>(side);
    for (const bool turned : {false, true}) {
        const auto checkpoint = holding(bytes, turned ? entry_of(1, {rows, rows}, {1, rows})
                                                      : entry_of(1, {rows, rows}, {}));
        std::size_t pieces = 0;
        std::string data;
        checkpoint.for_each_piece(checkpoint.entries().front(), [&](std::string_view piece) {
            ++pieces;
            data.append(piece);
        });
        CHECK(pieces > 1);
        REQUIRE(data.size() == bytes.size());
        bool same = true;
        for (std::size_t row = 0; row < side; ++row) {
            for (std::size_t column = 0; column < side; ++column) {
                const auto at = turned ? column * side + row : row * side + column;
                same = same && data[row * side + column] == bytes[at];
            }
        }
        CHECK(same);
    }
}

TEST_CASE("checkpoint: finds names after being moved") {
    auto checkpoint = holding("ab", entry_of(1, {2}, {}));
    const auto moved = std::move(checkpoint);
    REQUIRE(moved.find("w") != nullptr);
    CHECK(moved.find("w")->shape.size() == 1);
}

} // namespace test::checkpoint_checkpoint
