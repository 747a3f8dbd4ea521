// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/base64.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <string>
#include <string_view>

namespace test::io_detail_base64 {

TEST_CASE("base64: encodes and decodes the examples of RFC 4648") {
    CHECK(stemma::detail::to_base64("").empty());
    CHECK(stemma::detail::to_base64("f") == "Zg==");
    CHECK(stemma::detail::to_base64("fo") == "Zm8=");
    CHECK(stemma::detail::to_base64("foo") == "Zm9v");
    CHECK(stemma::detail::to_base64("foobar") == "Zm9vYmFy");
    CHECK(stemma::detail::to_base64("\xfb\xff") == "+/8=");
}

TEST_CASE("base64: all bytes round-trip") {
    test::random_numbers random(3);
    for (std::size_t size = 0; size < 300; ++size) {
        std::string bytes;
        for (std::size_t i = 0; i < size; ++i) {
            bytes.push_back(static_cast<char>(random(256)));
        }
        CHECK(stemma::detail::from_base64(stemma::detail::to_base64(bytes)) == bytes);
    }
}

TEST_CASE("base64: rejects invalid and non-canonical base64") {
    for (const std::string_view text :
         {"Z", "Zg", "Zg=", "Zg===", "Z===", "====", "Zm9v!mFy",
          "Zg==Zg==", "=Zg=", "Zh==", "Zm9=", "Zm 9vYm", "Zm9vYmF\xff"}) {
        CAPTURE(text);
        CHECK(!stemma::detail::from_base64(text));
    }
}

} // namespace test::io_detail_base64
