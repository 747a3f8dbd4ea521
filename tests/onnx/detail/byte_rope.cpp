// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/byte_rope.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"
#include "../../wire_builder.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_byte_rope {

namespace {

using stemma::id;

/// What a rope over some files stands for.
std::string text_of(const stemma::byte_rope& rope, const std::vector<std::string>& files) {
    std::string text;
    rope.for_each([&](id file, std::uint64_t begin,
                      std::uint64_t size) { text.append(files[file], begin, size); },
                  [&](std::string_view more) { text.append(more); });
    return text;
}

std::size_t pieces_of(const stemma::byte_rope& rope) {
    std::size_t pieces = 0;
    rope.for_each([&](id, std::uint64_t, std::uint64_t) { ++pieces; },
                  [&](std::string_view) { ++pieces; });
    return pieces;
}

} // namespace

TEST_CASE("byte_rope: stands for what was appended", "[onnx][byte_rope]") {
    test::random_numbers random(4);
    const std::vector<std::string> files{random.bytes(500), random.bytes(300)};
    for (int round = 0; round < 300; ++round) {
        stemma::byte_rope rope;
        std::string expected;
        for (auto n = random(20); n > 0; --n) {
            const auto kind = random(4);
            if (kind == 0) {
                const auto text = random.bytes(random(20));
                rope.add_text(text);
                expected.append(text);
            } else if (kind == 1) {
                const auto file = random(2);
                const auto begin = random(files[file].size());
                const auto size = random(files[file].size() - begin);
                rope.add_range(begin, size, static_cast<id>(file));
                expected.append(files[file], begin, size);
            } else if (kind == 2) {
                stemma::byte_rope inner;
                inner.add_text("abc");
                inner.add_range(3, 5, 1);
                rope.add_field(7, inner);
                expected.append(test::message().text(7, "abc" + files[1].substr(3, 5)).bytes());
            } else {
                const auto text = random.bytes(random(200));
                rope.add_field(3, text);
                expected.append(test::message().text(3, text).bytes());
            }
        }
        CHECK(rope.size() == expected.size());
        CHECK(text_of(rope, files) == expected);
        stemma::byte_rope copy;
        copy.append(rope);
        CHECK(text_of(copy, files) == expected);
    }
}

TEST_CASE("byte_rope: adjacent ranges of one file are one", "[onnx][byte_rope]") {
    stemma::byte_rope rope;
    rope.add_range(10, 5);
    rope.add_range(15, 5);
    rope.add_range(20, 0);
    CHECK(pieces_of(rope) == 1);
    rope.add_range(20, 5, 1);
    CHECK(pieces_of(rope) == 2);
    rope.add_range(26, 1, 1);
    CHECK(pieces_of(rope) == 3);
    rope.add_text("");
    rope.add_text("a");
    rope.add_text("b");
    CHECK(pieces_of(rope) == 4);
}

TEST_CASE("byte_rope: a message goes along with its tag where that is as we would write it",
          "[onnx][byte_rope]") {
    const auto plain = test::message().text(1, "content").bytes();
    const auto padded = test::message().text(1, "content", {2, 3}).bytes();
    for (const auto& file : {plain, padded}) {
        stemma::byte_rope rope;
        const auto begin = static_cast<std::uint32_t>(file.size() - 7);
        rope.add_message(file, 1, begin, 7);
        CHECK(text_of(rope, {file}) == plain);
        CHECK(pieces_of(rope) == (file == plain ? 1 : 2));
    }
}

} // namespace test::onnx_detail_byte_rope
