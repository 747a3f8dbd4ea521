// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/source_text.hpp>

#include "../catch.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>

#include <filesystem>
#include <string>

namespace test::report_source_text {

using stemma::frame_kind;
using stemma::source_folder;
using stemma::source_lines;

TEST_CASE("source_folder: shows a line only if unchanged since the export") {
    const test::scratch_folder folder;
    static_cast<void>(folder.make("net.py", "a = 1\r\n    y = self.fc(x)  \nlast"));
    source_folder texts(folder.path());
    source_lines lines;
    const auto frame = [&](const char* file, std::uint32_t line, std::uint32_t text = 0) {
        return lines.add_frame({file, line, "f"}, frame_kind::own, text);
    };
    const auto same =
        texts.line(lines, frame("net.py", 2, source_lines::hash_text("y = self.fc(x)")));
    REQUIRE(same);
    CHECK(same->text == "y = self.fc(x)");
    CHECK_FALSE((same->changed || same->unchecked));
    const auto other = texts.line(lines, frame("net.py", 2, source_lines::hash_text("y = x")));
    REQUIRE(other);
    CHECK(other->changed);
    CHECK(other->text.empty());
    const auto unknown = texts.line(lines, frame("net.py", 3));
    REQUIRE(unknown);
    CHECK(unknown->unchecked);
    CHECK(unknown->text == "last");
    CHECK_FALSE(texts.line(lines, frame("net.py", 4)));
    CHECK_FALSE(texts.line(lines, frame("other.py", 1)));
}

TEST_CASE("source_folder: reads nothing outside") {
    const test::scratch_folder outside;
    const auto secret = outside.make("secret.py", "secret = 1\n");
    const test::scratch_folder folder;
    std::filesystem::create_symlink(secret, folder.file("link.py"));
    std::filesystem::create_directory(folder.file("folder.py"));
    static_cast<void>(folder.make("control.py", "a\x1b[31m\n"));
    source_folder texts(folder.path());
    source_lines lines;
    for (const std::string& file :
         {secret, std::string("link.py"),
          "../" + std::filesystem::path(outside.path()).filename().string() + "/secret.py",
          std::string("folder.py"), std::string("control.py"), std::string("/dev/zero"),
          std::string(".")}) {
        INFO(file);
        CHECK_FALSE(texts.line(lines, lines.add_frame({file, 1, "f"}, frame_kind::own)));
    }
}

TEST_CASE("source_folder: rejects a missing folder") {
    const test::scratch_folder folder;
    CHECK_THROWS_AS(source_folder(folder.file("none")), stemma::error);
    CHECK_THROWS_AS(source_folder(folder.make("file", "")), stemma::error);
}

} // namespace test::report_source_text
