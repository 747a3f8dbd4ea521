// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/xml_text.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <string>

namespace test::io_detail_xml_text {

TEST_CASE("xml_text: markup is escaped and everything else stays") {
    CHECK(stemma::detail::xml_text("") == "");
    CHECK(stemma::detail::xml_text("layer.0/MatMul") == "layer.0/MatMul");
    CHECK(stemma::detail::xml_text("a<b>&\"c'") == "a&lt;b&gt;&amp;&quot;c&#39;");
    CHECK(stemma::detail::xml_text("a\tb\nc\rd") == "a&#9;b&#10;c&#13;d");
    CHECK(stemma::detail::xml_text("\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb1") ==
          "\xc3\xa4\xe2\x82\xac\xf0\x9f\x8c\xb1");
}

TEST_CASE("xml_text: invalid XML characters become the replacement character") {
    const std::string unknown = "\xef\xbf\xbd";
    CHECK(stemma::detail::xml_text(std::string("a\0b", 3)) == "a" + unknown + "b");
    CHECK(stemma::detail::xml_text("\x1b[0m") == unknown + "[0m");
    CHECK(stemma::detail::xml_text("\xff") == unknown);
    CHECK(stemma::detail::xml_text("\xef\xbf\xbf") == unknown);
}

TEST_CASE("xml_text: any bytes give text without markup and control characters") {
    test::random_numbers random(5);
    for (int i = 0; i < 200; ++i) {
        const auto text = stemma::detail::xml_text(random.bytes(random(50)));
        CHECK(stemma::detail::is_utf8(text));
        for (char c : text) {
            CHECK_FALSE((c == '<' || c == '>' || c == '"' || c == '\''));
            CHECK_FALSE((c >= 0 && c < ' '));
        }
    }
}

} // namespace test::io_detail_xml_text
