// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/python_text.hpp>

#include "../../catch.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_python_text {

using stemma::detail::append_utf8;
using stemma::detail::module_path_of;
using stemma::detail::read_python_list;
using stemma::detail::read_python_string;
using texts = std::vector<std::string>;

namespace {

/// The value of the string at the start of a text, and its length.
std::string read(std::string_view text, std::size_t& length) {
    std::string value;
    length = read_python_string(text, value);
    return value;
}

std::optional<texts> list(std::string_view text) {
    texts items{"left", "over"};
    if (!read_python_list(text, items)) {
        CHECK(items.empty());
        return std::nullopt;
    }
    return items;
}

} // namespace

TEST_CASE("append_utf8: appends one to four bytes") {
    std::string text;
    for (std::uint32_t code : {0x41U, 0xe9U, 0x5c42U, 0x1f600U}) {
        append_utf8(code, text);
    }
    CHECK(text == "A\xc3\xa9\xe5\xb1\x82\xf0\x9f\x98\x80");
}

TEST_CASE("read_python_string: reads either kind of quotes, up to the closing one") {
    std::size_t length = 0;
    CHECK(read("'a.b' rest", length) == "a.b");
    CHECK(length == 5);
    CHECK(read("\"it's\"", length) == "it's");
    CHECK(length == 6);
    CHECK(read("''", length).empty());
    CHECK(length == 2);
}

TEST_CASE("read_python_string: escapes") {
    std::size_t length = 0;
    CHECK(read(R"('\n\t\r\\\'\"')", length) == "\n\t\r\\'\"");
    CHECK(length == 14);
    CHECK(read(R"('\xe9\u5c42\U0001f600')", length) == "\xc3\xa9\xe5\xb1\x82\xf0\x9f\x98\x80");
}

TEST_CASE("read_python_string: rejects anything but a string") {
    std::size_t length = 1;
    for (const auto* text : {"", "a", "'", "'a", "'a\"", "'\\", "'\\q'", R"('\x4')", R"('\u12g4')",
                             R"('\U00110000')"}) {
        read(text, length);
        CHECK(length == 0);
    }
}

TEST_CASE("read_python_list: reads strings in order") {
    CHECK(list("[]") == texts{});
    CHECK(list("['']") == texts{""});
    CHECK(list(R"(['', 'blocks.0', "it's"])") == texts{"", "blocks.0", "it's"});
    CHECK(list("[ 'a',\n 'b' ]") == texts{"a", "b"});
    CHECK(list("['a','b','c','d']") == texts{"a", "b", "c", "d"});
}

TEST_CASE("read_python_list: rejects anything but a list of strings") {
    for (const auto* text :
         {"", "[", "]", "['a'", "['a' 'b']", "[a]", "['a'] ", "[1]", "('a',)", "['a', b]", "[,]"}) {
        CHECK_FALSE(list(text));
    }
}

TEST_CASE("module_path_of: a path stays unchanged") {
    CHECK(module_path_of("layers.0.fc") == "layers.0.fc");
    CHECK(module_path_of("") == "");
}

TEST_CASE("module_path_of: reads expressions with subscripts") {
    CHECK(module_path_of("L['self'].layers[0].fc") == "layers.0.fc");
    CHECK(module_path_of("L['self']") == "");
    CHECK(module_path_of("L['model'].fc['key']") == "fc.key");
    CHECK(module_path_of("self.layers[0]") == "layers.0");
    CHECK(module_path_of("net.layers[0]") == "net.layers.0");
}

TEST_CASE("module_path_of: reads expressions with getattr") {
    CHECK(module_path_of("getattr(L['self'].layers, '0')") == "layers.0");
    CHECK(module_path_of("getattr(getattr(L['self'].layers, '0'), 'fc')") == "layers.0.fc");
    CHECK(module_path_of("getattr(self.layers, '0').fc") == "layers.0.fc");
}

TEST_CASE("module_path_of: members of slices are numbered as in the list") {
    CHECK(module_path_of("model.layers.slice(None, 2, None).0.q") == "model.layers.0.q");
    CHECK(module_path_of("model.layers.slice(2, 4, 1).1.q") == "model.layers.3.q");
    CHECK(module_path_of("L['self'].layers[slice(2, None, None)]._modules['0'].q") == "layers.2.q");
    CHECK(module_path_of("getattr(self.layers[slice(1, None, None)], '1')") == "layers.2");
    for (const auto* slice : {"-2, None, None", "None, None, -1", "0, 4, 2", "None, 2", ""}) {
        CAPTURE(slice);
        CHECK_FALSE(module_path_of("m.layers[slice(" + std::string(slice) + ")].0"));
        CHECK_FALSE(module_path_of("m.layers.slice(" + std::string(slice) + ").0"));
    }
}

TEST_CASE("module_path_of: the dictionary of children is not a level") {
    CHECK(module_path_of("L['self']._modules['layers']._modules['0']") == "layers.0");
}

TEST_CASE("module_path_of: rejects a malformed expression") {
    for (const auto* text :
         {"L['self", "L['self'", "L[self]", "L['self'].a[", "L['self'].a[]", "getattr(self.a, '0'",
          "getattr(self.a)", "getattr(self.a, 0)", "self.a['x'", "L['self'])", "L['self']x"}) {
        CAPTURE(text);
        CHECK_FALSE(module_path_of(text));
    }
}

} // namespace test::evidence_detail_python_text
