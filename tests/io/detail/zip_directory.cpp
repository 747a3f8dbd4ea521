// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/detail/zip_directory.hpp>

#include "../../catch.hpp"
#include "../../checkpoint_files.hpp"

#include <stemma/error.hpp>

#include <cstddef>
#include <string>

namespace test::io_detail_zip_directory {

namespace {

/// Describes the result: `name=content`, or the error.
std::string read(const std::string& bytes) {
    std::string text;
    try {
        for (const auto& member :
             stemma::detail::zip_directory_reader(bytes, "file", "zip archive").read()) {
            text += std::string(member.name) + (member.packed ? "~" : "=") +
                    std::string(member.bytes) + ";";
        }
    } catch (const stemma::error& e) {
        return e.what();
    }
    return text;
}

const std::string damaged = "file: is not a zip archive, or is damaged";

} // namespace

TEST_CASE("zip_directory_reader: lists members in order, without folders") {
    CHECK(read(zip({})).empty());
    CHECK(read(zip({{"b/", ""}, {"b/x", "12"}, {"a", ""}, {"c", "packed", 8}})) ==
          "b/x=12;a=;c~packed;");
}

TEST_CASE("zip_directory_reader: reads zip64 numbers of large archives") {
    auto bytes = zip({{"a", "12"}});
    const auto directory = bytes.find("PK\1\2");
    const auto end = bytes.find("PK\5\6");
    const auto wide = "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
                      little(1, 8) + little(1, 8) + little(end - directory, 8) +
                      little(directory, 8);
    const auto locator = "PK\6\7" + little(0, 4) + little(end, 8) + little(1, 4);
    bytes = bytes.substr(0, end) + wide + locator + "PK\5\6" + little(0, 4) + little(0xffff, 2) +
            little(0xffff, 2) + little(0xffff'ffffU, 4) + little(0xffff'ffffU, 4) + little(0, 2);
    CHECK(read(bytes) == "a=12;");
}

TEST_CASE("zip_directory_reader: truncated or modified archives cause no out-of-bounds reads") {
    const auto bytes = zip({{"a", "12"}, {"b", "345"}});
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CHECK(read(bytes.substr(0, size)) == damaged);
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const auto changed : {'\0', '\x7f', '\xff'}) {
            auto other = bytes;
            other[at] = changed;
            const auto said = read(other);
            CHECK((said == damaged || said.size() < 200));
        }
    }
    CHECK(read(zip({{"a", "12", 0, 0x7fff'ffff}})) == damaged);
    CHECK(read(zip({{"a", "12", 0, -1, 0xffff'fff0U}})) == damaged);
}

} // namespace test::io_detail_zip_directory
