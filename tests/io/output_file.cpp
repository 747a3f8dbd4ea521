// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/output_file.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace test::io_output_file {

namespace {

using stemma::error_code;
using stemma::mapped_file;
using stemma::output_file;

std::string content(const std::string& path) {
    return std::string(mapped_file(path).bytes());
}

} // namespace

TEST_CASE("output_file: copies bytes in memory like those of a file") {
    const test::scratch_folder folder;
    const std::string bytes = "0123456789";
    const auto in = mapped_file::viewing(bytes, "mine");
    stemma::output_file out(folder.file("out"));
    out.copy(in, 2, 5);
    out.commit(false);
    CHECK(content(folder.file("out")) == "23456");
}

TEST_CASE("output_file: appears whole at commit, and not before") {
    const test::scratch_folder folder;
    const auto path = folder.file("out");
    for (const bool sync : {false, true}) {
        output_file out(path);
        out.write("one ");
        out.write(std::string(3U << 20U, 'x'));
        out.write("");
        out.write("two");
        CHECK(std::filesystem::exists(path) == sync);
        out.commit(sync);
        const bool whole = content(path) == "one " + std::string(3U << 20U, 'x') + "two";
        CHECK(whole);
        CHECK(folder.file_count() == 1);
    }
}

TEST_CASE("output_file: without commit nothing is created or lost") {
    const test::scratch_folder folder;
    const auto path = folder.make("out", "before");
    {
        output_file out(path);
        out.write(std::string(5U << 20U, 'x'));
    }
    { const output_file out(folder.file("never")); }
    CHECK(content(path) == "before");
    CHECK(folder.file_count() == 1);
}

TEST_CASE("output_file: may replace the file being read") {
    const test::scratch_folder folder;
    std::string text;
    test::random_numbers random(3);
    while (text.size() < 2U << 20U) {
        text.append(random.bytes(1U << 16U));
    }
    const auto path = folder.make("both", text);
    const mapped_file in(path);
    output_file out(path);
    out.write("head");
    out.copy(in, 1, text.size() - 1);
    out.commit(false);
    const bool whole = content(path) == "head" + text.substr(1);
    CHECK(whole);
    const bool mapped_bytes_stay = in.bytes() == text;
    CHECK(mapped_bytes_stay);
}

TEST_CASE("output_file: writes ranges of files and texts in call order") {
    const test::scratch_folder folder;
    test::random_numbers random(5);
    const auto text = random.bytes(1U << 20U);
    mapped_file in(folder.make("in", text));
    for (const bool with_descriptor : {true, false}) {
        if (!with_descriptor) {
            in.release_descriptor();
        }
        std::string expected;
        output_file out(folder.file("out"));
        for (int i = 0; i < 40; ++i) {
            const auto at = random(text.size());
            const auto size = random(random.one_in(2) ? 100 : text.size() - at);
            const auto length = std::min(size, text.size() - at);
            if (random.one_in(2)) {
                out.copy(in, at, length);
            } else {
                out.write(std::string_view(text).substr(at, length));
            }
            expected.append(text, at, length);
        }
        out.commit(false);
        const bool same = content(folder.file("out")) == expected;
        CHECK(same);
    }
}

TEST_CASE("output_file: copies whole blocks correctly from any offset") {
    const test::scratch_folder folder;
    test::random_numbers random(11);
    const auto text = random.bytes(3U << 20U);
    const mapped_file in(folder.make("in", text));
    constexpr std::size_t size = 1U << 20U; // long enough to be copied from file to file
    for (const std::size_t before : {0U, 1U, 4096U, 524288U}) {
        for (const std::size_t from : {0U, 1U, 4096U, 524288U}) {
            output_file out(folder.file("out"));
            out.write(std::string_view(text).substr(0, before));
            out.copy(in, from, size);
            out.write("|");
            out.copy(in, from + 4096, size);
            out.commit(false);
            const bool same = content(folder.file("out")) == text.substr(0, before) +
                                                                 text.substr(from, size) + "|" +
                                                                 text.substr(from + 4096, size);
            CHECK(same);
        }
    }
}

#if STEMMA_IO >= 1 // otherwise it is read as a whole

TEST_CASE("output_file: does not copy a file that was truncated") {
    const test::scratch_folder folder;
    const auto path = folder.make("in", std::string(3U << 20U, 'x'));
    const mapped_file in(path);
    std::filesystem::resize_file(path, 1U << 20U);
    output_file out(folder.file("out"));
    CHECK(refusal(path, [&] { out.copy(in, 1, 2U << 20U); }) == error_code::cannot_read);
    CHECK_FALSE(std::filesystem::exists(folder.file("out")));
}

#endif

TEST_CASE("files: reserving and releasing change nothing") {
    const test::scratch_folder folder;
    test::random_numbers random(7);
    const auto text = random.bytes(1U << 20U);
    const mapped_file in(folder.make("in", text));
    output_file out(folder.file("out"));
    out.reserve(static_cast<std::int64_t>(text.size()));
    out.copy(in, 0, text.size() / 2);
    for (const auto offset : std::vector<std::size_t>{0, 1, 4096, 4097}) {
        for (const auto size :
             {std::size_t{0}, std::size_t{1}, std::size_t{4096}, text.size() - offset}) {
            in.release(offset, size);
        }
    }
    const bool same_bytes = in.bytes() == text;
    CHECK(same_bytes);
    out.copy(in, text.size() / 2, text.size() - text.size() / 2);
    out.commit(false);
    const bool same = content(folder.file("out")) == text;
    CHECK(same);
}

TEST_CASE("output_file: keeps the permissions of the replaced file") {
    const test::scratch_folder folder;
    const auto path = folder.make("model", "old");
    for (const auto mode : {std::filesystem::perms(0600), std::filesystem::perms(0755)}) {
        std::filesystem::permissions(path, mode);
        output_file file(path);
        file.write("new");
        file.commit(false);
        CHECK(std::filesystem::status(path).permissions() == mode);
    }
}

TEST_CASE("output_file: replaces a target wrongly declared absent") {
    const test::scratch_folder folder;
    const auto path = folder.file("out");
    for (const std::string text : {"first", "second"}) {
        output_file file(path, stemma::output_file::target_state::absent);
        file.write(text);
        file.commit(false);
        CHECK(content(path) == text);
    }
    CHECK(folder.file_count() == 1);
}

TEST_CASE("output_file: rejects unwritable targets by name") {
    const test::scratch_folder folder;
    for (const auto& path :
         {folder.path(), folder.file("missing/out"), folder.make("file", "") + "/below"}) {
        INFO(path);
        CHECK(refusal(path, [&] { const output_file out(path); }) == error_code::cannot_write);
    }
    CHECK(folder.file_count() == 1);
}

#if defined(__linux__)

TEST_CASE("output_file: detects a full device") {
    const std::string path = "/dev/full";
    for (const std::size_t size : {std::size_t{1}, std::size_t{5} << 20U}) {
        CHECK(refusal(path, [&] {
                  output_file out(path);
                  out.write(std::string(size, 'x'));
                  out.commit();
              }) == error_code::cannot_write);
    }
    CHECK(std::filesystem::is_character_file(path));
}

TEST_CASE("output_file: keeps a symbolic link") {
    const test::scratch_folder folder;
    const auto path = folder.make("file", "before");
    std::filesystem::create_symlink("file", folder.file("link"));
    output_file out(folder.file("link"));
    out.write("after");
    out.commit(false);
    CHECK(std::filesystem::is_symlink(folder.file("link")));
    CHECK(content(path) == "after");
}

TEST_CASE("output_file: a symbolic link to nothing leads to where the file will be") {
    const test::scratch_folder folder;
    std::filesystem::create_directory(folder.file("other"));
    std::filesystem::create_symlink("other/out", folder.file("link"));
    for (const auto* text : {"first", "second"}) {
        output_file out(folder.file("link"));
        out.write(text);
        out.commit(false);
        CHECK(std::filesystem::is_symlink(folder.file("link")));
        CHECK(content(folder.file("other/out")) == text);
    }
    CHECK(folder.file_count() == 2);
}

#endif

} // namespace test::io_output_file
