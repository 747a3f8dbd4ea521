// SPDX-License-Identifier: Apache-2.0
#include <stemma/error.hpp>

#include "catch.hpp"

#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace test::error {

using stemma::error;
using stemma::error_code;

TEST_CASE("error: names file, place and reason, if given") {
    const auto text = [](const char* file, const char* place) {
        return std::string(error(error_code::malformed, file, place, "too short").what());
    };
    CHECK(text("a.onnx", "byte 7") == "a.onnx: byte 7: too short");
    CHECK(text("a.onnx", "") == "a.onnx: too short");
    CHECK(text("", "byte 7") == "byte 7: too short");
    CHECK(text("", "") == "too short");
}

TEST_CASE("error: long names of the input are cut between characters, on one line") {
    const error cut(error_code::malformed, "a", "x\n" + std::string(100'000, 'n'), "is long");
    CHECK(std::string(cut.what()) == "a: x?" + std::string(198, 'n') + "\xe2\x80\xa6: is long");
    CHECK(stemma::detail::cut_text("x\xc3\xa4\xc3\xa4", 4) == "x\xc3\xa4\xe2\x80\xa6");
    CHECK(stemma::detail::cut_text("short", 5) == "short");
    const error reason(error_code::malformed, "", "", std::string(1'000'000, 'r'));
    CHECK(std::string(reason.what()).size() < 5000);
    // A name inside a reason neither ends the message nor starts a line.
    using namespace std::string_view_literals;
    const error quoting(error_code::malformed, "", "", "'a\0b\nc' is missing"sv);
    CHECK(std::string(quoting.what()) == "'a?b?c' is missing");
}

TEST_CASE("error: keeps its code, and is a runtime_error") {
    try {
        throw error(error_code::too_large, "a.onnx", "", "reaches 2 GiB");
    } catch (const std::runtime_error& caught) {
        const auto* as_error = dynamic_cast<const error*>(&caught);
        REQUIRE(as_error != nullptr);
        CHECK(as_error->code() == error_code::too_large);
    }
}

TEST_CASE("error: the numbers of the codes are stable") {
    CHECK(static_cast<int>(error_code::cannot_read) == 1);
    CHECK(static_cast<int>(error_code::malformed) == 2);
    CHECK(static_cast<int>(error_code::contradiction) == 3);
    CHECK(static_cast<int>(error_code::unsupported) == 4);
    CHECK(static_cast<int>(error_code::cannot_write) == 5);
    CHECK(static_cast<int>(error_code::too_large) == 6);
    CHECK(static_cast<int>(error_code::not_found) == 7);
    CHECK(static_cast<int>(error_code::refused) == 8);
    CHECK(static_cast<int>(error_code::exists) == 9);
}

TEST_CASE("error: every code has a name of its own") {
    std::set<std::string_view> names;
    for (int number = 1; number <= 9; ++number) {
        names.insert(to_string(static_cast<error_code>(number)));
    }
    CHECK(names.size() == 9);
    CHECK(names.count("") == 0);
    CHECK(to_string(error_code::not_found) == "not_found");
    CHECK(to_string(error_code{}).empty());
}

} // namespace test::error
