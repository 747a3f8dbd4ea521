// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/message_edits.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace test::onnx_detail_message_edits {

namespace {

std::string applied(std::string text, const stemma::detail::message_edits& edits) {
    std::int64_t moved = 0;
    edits.for_each([&](const stemma::detail::edit& e) {
        text.replace(static_cast<std::size_t>(e.at + moved), e.removed, e.text);
        moved += static_cast<std::int64_t>(e.text.size()) - e.removed;
    });
    CHECK(moved == edits.growth());
    return text;
}

} // namespace

TEST_CASE("message_edits: lists changes in order") {
    stemma::detail::message_edits edits;
    CHECK(edits.empty());
    CHECK(edits.growth() == 0);
    edits.remove(0, 2);
    edits.replace(3, 4, "XYZ");
    edits.insert(6, "!");
    CHECK_FALSE(edits.empty());
    CHECK(edits.growth() == 1);
    CHECK(applied("abcdef", edits) == "cXYZef!");
    edits.clear();
    CHECK(edits.empty());
    CHECK(edits.growth() == 0);
    CHECK(applied("abcdef", edits) == "abcdef");
}

TEST_CASE("message_edits: an entry is written as a field") {
    stemma::detail::message_edits edits;
    edits.insert(1, "before");
    edits.insert_entry(2, 14, "key", "value");
    std::string field;
    stemma::detail::append_entry(14, "key", "value", field);
    CHECK(edits.growth() == static_cast<std::int64_t>(6 + field.size()));
    CHECK(applied("abc", edits) == "abeforeb" + field + "c");
}

TEST_CASE("message_edits: a text kept elsewhere is not copied") {
    const std::string outside = "kept";
    stemma::detail::message_edits edits;
    edits.insert(3, "ab");
    edits.insert_kept(4, outside);
    edits.insert(5, "c");
    CHECK(edits.growth() == 7);
    std::string all;
    edits.for_each([&](const stemma::detail::edit& e) {
        all += std::to_string(e.at) + std::string(e.text) + " ";
        CHECK((e.at != 4 || e.text.data() == outside.data()));
    });
    CHECK(all == "3ab 4kept 5c ");
}

TEST_CASE("message_edits: an edit may keep the length") {
    stemma::detail::message_edits edits;
    edits.replace(1, 2, "B");
    CHECK(edits.growth() == 0);
    CHECK_FALSE(edits.empty());
    CHECK(applied("abc", edits) == "aBc");
}

TEST_CASE("message_edits: content is replaced with its length, padded or not") {
    for (std::size_t pad = 1; pad <= 5; ++pad) {
        for (const std::size_t size : {0U, 1U, 127U, 128U, 20000U}) {
            const auto before = test::message().number(7, 1).text(3, "old", {1, pad}).bytes();
            const std::string content(size, 'x');
            stemma::detail::message_edits edits;
            const auto end = static_cast<std::uint32_t>(before.size());
            edits.replace_content(before.data(), end - 3, end, content);
            CHECK(applied(before, edits) == test::message().number(7, 1).text(3, content).bytes());
        }
    }
}

TEST_CASE("varint_size: is the minimal size") {
    for (unsigned bit = 0; bit < 64; ++bit) {
        for (const auto value : {std::uint64_t{1} << bit, (std::uint64_t{1} << bit) - 1}) {
            std::string expected;
            test::put_varint(value, expected);
            std::string written;
            stemma::detail::append_varint(value, written);
            CHECK(written == expected);
            CHECK(stemma::detail::varint_size(value) == expected.size());
        }
    }
}

TEST_CASE("append_field: can be read by any protobuf reader") {
    for (const std::uint32_t number : {1U, 15U, 16U, 25U, 2047U, 2048U}) {
        const std::string content(300, 'c');
        std::string written;
        stemma::detail::append_field(number, content, written);
        CHECK(written == test::message().text(number, content).bytes());
    }
}

TEST_CASE("append_number: round-trips, including negative numbers") {
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{127}, std::int64_t{128},
                                      std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
        std::string text;
        stemma::detail::append_number(20, number, text);
        stemma::detail::wire_reader fields(text.data(), 0, static_cast<std::uint32_t>(text.size()),
                                           "");
        stemma::detail::wire_field field;
        REQUIRE(fields.next(field));
        CHECK(field.is(20, stemma::detail::wire_type::varint));
        CHECK(static_cast<std::int64_t>(field.value) == number);
        CHECK_FALSE(fields.next(field));
    }
}

TEST_CASE("length_position: finds a content's length prefix") {
    for (std::size_t tag = 1; tag <= 4; ++tag) {
        for (std::size_t length = 1; length <= 5; ++length) {
            const auto bytes = test::message().text(3, "abc", {tag, length}).bytes();
            const auto content = static_cast<std::uint32_t>(bytes.size() - 3);
            CHECK(stemma::detail::length_position(bytes.data(), content) == tag);
        }
    }
}

} // namespace test::onnx_detail_message_edits
