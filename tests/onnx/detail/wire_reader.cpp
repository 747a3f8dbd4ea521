// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/wire_reader.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"
#include "../../refusal.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_wire_reader {

namespace {

using stemma::detail::wire_field;
using stemma::detail::wire_reader;
using stemma::detail::wire_type;

wire_reader reader_of(std::string_view bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "file"};
}

std::vector<wire_field> fields_of(std::string_view bytes) {
    std::vector<wire_field> fields;
    auto reader = reader_of(bytes);
    for (wire_field field; reader.next(field);) {
        fields.push_back(field);
    }
    return fields;
}

bool is_refused(std::string_view bytes) {
    const auto code = test::refusal("file: byte ", [&] { return fields_of(bytes); });
    CHECK((!code || code == stemma::error_code::malformed));
    return code.has_value();
}

std::string nested_groups(std::size_t depth) {
    std::string bytes;
    for (std::size_t i = 0; i < depth; ++i) {
        test::put_varint(1U << 3U | 3U, bytes);
    }
    for (std::size_t i = 0; i < depth; ++i) {
        test::put_varint(1U << 3U | 4U, bytes);
    }
    return bytes;
}

} // namespace

TEST_CASE("wire_reader: an empty message has no fields") {
    CHECK(fields_of({}).empty());
}

TEST_CASE("wire_reader: returns fields of every wire type with their positions") {
    const auto bytes = test::message()
                           .number(1, 300)
                           .fixed64(2, "eightbyt")
                           .text(3, "text")
                           .group(4, test::message().number(9, 1))
                           .fixed32(5, "four")
                           .bytes();
    const auto fields = fields_of(bytes);
    REQUIRE(fields.size() == 5);
    const std::vector<wire_type> types{wire_type::varint, wire_type::fixed64, wire_type::bytes,
                                       wire_type::group, wire_type::fixed32};
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        CHECK(fields[i].number == i + 1);
        CHECK(fields[i].type == types[i]);
        CHECK(fields[i].begin == at);
        at = fields[i].end;
    }
    CHECK(at == bytes.size());
    CHECK(fields[0].value == 300);
    CHECK(reader_of(bytes).text(fields[2]) == "text");
    CHECK(fields[2].is_bytes(3));
    CHECK_FALSE(fields[2].is_bytes(4));
    CHECK_FALSE(fields[0].is_bytes(1));
}

TEST_CASE("wire_reader: reads numbers of up to ten bytes, padded or not") {
    for (const std::uint64_t value : {0ULL, 1ULL, 127ULL, 128ULL, 1ULL << 62U, ~0ULL}) {
        for (std::size_t size = 1; size <= 10; ++size) {
            const auto bytes = test::message().number(1, value, {1, size}).bytes();
            const auto fields = fields_of(bytes);
            REQUIRE(fields.size() == 1);
            CHECK(fields[0].value == value);
        }
    }
    CHECK(is_refused(test::message().number(1, 5, {1, 11}).bytes()));
    CHECK(is_refused("\x08\xff"));
    CHECK(is_refused("\x88"));
}

TEST_CASE("wire_reader: a tag may be padded, and keeps 32 bits") {
    CHECK(fields_of(test::message().number(1, 5, {5, 1}).bytes()).at(0).number == 1);
    CHECK(is_refused(test::message().number(1, 5, {6, 1}).bytes()));
    // Field 1 with bits beyond a tag's range: protobuf's parser drops them.
    using namespace std::string_view_literals;
    CHECK(fields_of("\x88\x80\x80\x80\x70\x05"sv).at(0).number == 1);
    // The largest field number.
    CHECK(fields_of(test::message().number((1U << 29U) - 1, 5).bytes()).at(0).number ==
          (1U << 29U) - 1);
}

TEST_CASE("wire_reader: rejects invalid fields") {
    using namespace std::string_view_literals;
    CHECK(is_refused("\x00"sv));       // field number 0
    CHECK(is_refused("\x00\x05"sv));   // field number 0
    CHECK(is_refused("\x0e"sv));       // wire type 6
    CHECK(is_refused("\x0f"sv));       // wire type 7
    CHECK(is_refused("\x0c"sv));       // an end without a beginning
    CHECK(is_refused("\x09 short"sv)); // 8 bytes wanted
    CHECK(is_refused("\x0d abc"sv) == false);
    CHECK(is_refused("\x0d abc\x0d"sv)); // 4 bytes wanted
    CHECK(is_refused("\x0a\x05 abc"sv)); // 5 bytes wanted
}

TEST_CASE("wire_reader: rejects impossible lengths") {
    for (const std::uint64_t size : {1ULL << 31U, 1ULL << 32U, (1ULL << 32U) + 1, 1ULL << 63U,
                                     ~0ULL, 0xffff'ffffULL, 0xffff'fffeULL}) {
        std::string bytes = "\x0a";
        test::put_varint(size, bytes);
        CHECK(is_refused(bytes + "content"));
    }
}

TEST_CASE("wire_reader: groups must end as they began") {
    CHECK(fields_of(nested_groups(100)).size() == 1);
    CHECK(is_refused(nested_groups(101)));
    CHECK(is_refused(nested_groups(100000)));
    CHECK(is_refused(std::string(1000000, '\x0b')));
    CHECK(is_refused("\x0b"));
    CHECK(is_refused("\x0b\x14"));         // another number ends
    CHECK(is_refused("\x0b\x13\x0c\x14")); // crossed
    CHECK(is_refused("\x0b\x0a\x05 a\x0c"));
    const auto tidy = test::message().group(1, test::message().group(2, test::message())).bytes();
    CHECK(fields_of(tidy).size() == 1);
}

TEST_CASE("wire_reader: inner reads a message in place") {
    const auto bytes =
        test::message().number(1, 7).inner(2, test::message().text(3, "deep")).bytes();
    auto reader = reader_of(bytes);
    wire_field field;
    REQUIRE(reader.next(field));
    REQUIRE(reader.next(field));
    CHECK_FALSE(reader.next(field));
    auto inner = reader.inner(fields_of(bytes)[1]);
    wire_field inside;
    REQUIRE(inner.next(inside));
    CHECK(inner.text(inside) == "deep");
    CHECK(inner.position() == bytes.size());
    CHECK_FALSE(inner.next(inside));
}

TEST_CASE("wire_reader: reads or rejects any bytes") {
    test::random_numbers random(3);
    for (int i = 0; i < 20000; ++i) {
        const auto bytes = random.bytes(random(40));
        std::uint32_t at = 0;
        try {
            auto reader = reader_of(bytes);
            for (wire_field field; reader.next(field);) {
                REQUIRE(field.begin == at);
                REQUIRE(field.end > field.begin);
                REQUIRE(field.content <= field.end);
                at = field.end;
            }
            CHECK(at == bytes.size());
        } catch (const stemma::error&) {
            CHECK(at <= bytes.size());
        }
    }
}

TEST_CASE("read_floats: reads packed and single floats, and ignores an incomplete one") {
    const std::string one("\0\0\x80\x3f", 4); // 1
    const std::string two("\0\0\0\x40", 4);   // 2
    const auto bytes = test::message().text(7, one + two + "xyz").bytes() + "\x3d" + two;
    std::vector<float> numbers;
    auto reader = reader_of(bytes);
    for (wire_field field; reader.next(field);) {
        stemma::detail::read_floats(reader, field, numbers);
    }
    CHECK(numbers == std::vector<float>{1, 2, 2});
}

} // namespace test::onnx_detail_wire_reader
