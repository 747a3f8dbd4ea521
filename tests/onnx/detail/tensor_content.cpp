// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/tensor_content.hpp>

#include "../../catch.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>

namespace test::onnx_detail_tensor_content {

namespace {

using namespace std::string_literals;

struct read_back {
    std::string bytes;
    bool readable;
    std::string bytes_or_place;
};

read_back read(const test::message& tensor, const std::string& file = "model.onnx") {
    auto graph = test::graph();
    graph.inner(5, tensor);
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes, file);
    stemma::detail::tensor_content_reader reader(model);
    const auto content = reader.read(model.tensors()[0]);
    return {std::string(content.bytes()), content.readable, content.bytes_or_place()};
}

test::message typed(std::uint64_t type, std::uint64_t elements) {
    return test::message().number(1, elements).number(2, type).text(8, "w");
}

} // namespace

TEST_CASE("tensor_content: typed data read like raw data") {
    const auto one = "\0\0\x80\x3f"s;
    CHECK(read(typed(1, 2).text(9, one + one)).bytes == one + one);
    CHECK(read(typed(1, 2).text(4, one + one)).bytes == one + one);
    CHECK(read(typed(1, 2).fixed32(4, one).fixed32(4, one)).bytes == one + one);
    CHECK(read(typed(11, 1).text(10, "12345678")).bytes == "12345678");
    CHECK(read(typed(6, 2).packed(5, {1, ~0ULL})).bytes == "\1\0\0\0\xff\xff\xff\xff"s);
    CHECK(read(typed(3, 2).packed(5, {1, ~0ULL})).bytes == "\1\xff"s);
    CHECK(read(typed(9, 2).number(5, 1).number(5, 0)).bytes == "\1\0"s);
    CHECK(read(typed(10, 1).packed(5, {0x3c00})).bytes == "\0\x3c"s);
    CHECK(read(typed(7, 1).packed(7, {300})).bytes == "\x2c\1\0\0\0\0\0\0"s);
    CHECK(read(typed(12, 1).packed(11, {300})).bytes == "\x2c\1\0\0"s);
    // Texts remain separated.
    CHECK(read(typed(8, 2).text(6, "ab").text(6, "c")).bytes !=
          read(typed(8, 2).text(6, "a").text(6, "bc")).bytes);
}

TEST_CASE("tensor_content: external data are the specified part of the file") {
    const test::scratch_folder folder;
    static_cast<void>(folder.make("w.bin", "0123456789abcdef"));
    const auto at = [&](const std::string& location, const std::string& offset,
                        const std::string& length) {
        auto tensor = typed(1, 2);
        for (const auto& [key, value] :
             {std::pair("location"s, location), std::pair("offset"s, offset),
              std::pair("length"s, length)}) {
            if (!value.empty()) {
                tensor.inner(13, test::entry(key, value));
            }
        }
        return read(tensor.number(14, 1), folder.file("model.onnx"));
    };
    CHECK(at("w.bin", "", "").bytes == "01234567");
    CHECK(at("w.bin", "4", "").bytes == "456789ab");
    CHECK(at("w.bin", "12", "4").bytes == "cdef");
    CHECK_FALSE(at("w.bin", "12", "").readable);
    CHECK_FALSE(at("w.bin", "17", "").readable);
    CHECK_FALSE(at("none.bin", "", "").readable);
    CHECK(at("none.bin", "4", "2").bytes_or_place != at("none.bin", "6", "2").bytes_or_place);
    CHECK(at("w.bin", "4", "2").bytes_or_place == "45");
    CHECK_FALSE(at("../w.bin", "", "").readable);
}

} // namespace test::onnx_detail_tensor_content
