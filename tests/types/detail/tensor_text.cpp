// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/tensor_text.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <string>

namespace test::types_detail_tensor_text {

namespace {

stemma::detail::tensor_text read(const std::string& bytes, std::size_t most = 4) {
    return stemma::detail::read_tensor_text(
        stemma::detail::wire_reader(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                                    "tensor"),
        most);
}

} // namespace

TEST_CASE("read_tensor_text: reads numbers from any field") {
    CHECK(read(test::message().number(1, 2).number(2, 6).text(5, "\x01\x02").bytes()).text ==
          "int32[2] [1,2]");
    CHECK(read(test::message().number(1, 1).number(2, 13).number(11, ~std::uint64_t{0}).bytes())
              .text == "uint64[1] [18446744073709551615]");
    CHECK(read(test::message().number(1, 2).number(2, 9).text(9, std::string("\0\1", 2)).bytes())
              .text == "bool[2] [0,1]");
    const double number = -1.5;
    CHECK(read(test::message()
                   .number(2, 11)
                   .text(10, {reinterpret_cast<const char*>(&number), sizeof number})
                   .bytes())
              .text == "float64[] -1.5");
}

TEST_CASE("read_tensor_text: reports what it omitted, and that it read nothing") {
    const auto some = read(test::message().number(1, 3).number(2, 2).text(9, "\1\2\3").bytes(), 2);
    CHECK(some.text == "uint8[3] [1,2,\xe2\x80\xa6]");
    CHECK(some.cut);
    CHECK(some.elements == 3);
    // Elsewhere, packed, of an unknown type, or with too few bytes.
    CHECK(read(test::message().number(1, 3).number(2, 1).number(14, 1).bytes()).text ==
          "float32[3]");
    CHECK(read(test::message().number(1, 2).number(2, 22).text(9, "\1").bytes()).text == "int4[2]");
    CHECK(read(test::message().number(1, 2).number(2, 99).text(9, "\1").bytes()).text ==
          "type 99[2]");
    CHECK(read(test::message().number(1, 2).number(2, 1).text(9, "\1").bytes()).text ==
          "float32[2]");
}

} // namespace test::types_detail_tensor_text
