// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/wire_text.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <limits>
#include <string>

namespace test::onnx_detail_wire_text {

TEST_CASE("wire_text: writes fields like protobuf") {
    namespace detail = stemma::detail;
    for (const std::size_t size : {0U, 1U, 127U, 128U, 20'000U}) {
        const std::string content(size, 'c');
        std::string text;
        detail::append_field(3, content, text);
        detail::append_entry(200, "key", content, text);
        CHECK(text ==
              test::message().text(3, content).inner(200, test::entry("key", content)).bytes());
    }
    for (const std::int64_t number : {std::int64_t{0}, std::int64_t{300}, std::int64_t{-1},
                                      std::numeric_limits<std::int64_t>::max()}) {
        std::string text;
        detail::append_number(17, number, text);
        CHECK(text == test::message().number(17, static_cast<std::uint64_t>(number)).bytes());
    }
    std::string header;
    detail::append_tag(5, header);
    detail::append_varint(4, header);
    CHECK(header + "four" == test::message().text(5, "four").bytes());
}

} // namespace test::onnx_detail_wire_text
