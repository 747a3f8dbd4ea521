// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/mapped_file.hpp>

#include "../catch.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

namespace test::io_mapped_file {

namespace {

using stemma::error_code;
using stemma::mapped_file;

/// Returns: how much of a mapped file is resident in this process, if the system reports it.
std::optional<std::size_t> mapped_bytes(const std::string& path) {
    std::ifstream maps("/proc/self/smaps");
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        here = here || line.ends_with(path);
        if (here && line.starts_with("Rss:")) {
            return std::stoul(line.substr(4)) * 1024;
        }
    }
    return std::nullopt;
}

} // namespace

TEST_CASE("mapped_file: gives the bytes of a file") {
    const test::scratch_folder folder;
    for (const auto& text :
         {std::string(), std::string("a"), std::string("\0\n\xff", 3), std::string(100000, 'x')}) {
        const auto path = folder.make("in", text);
        const mapped_file file(path);
        CHECK(file.bytes().size() == text.size());
        const bool same = file.bytes() == text;
        CHECK(same);
        CHECK(file.path() == path);
    }
}

TEST_CASE("mapped_file: can be moved, and its bytes stay without a descriptor") {
    const test::scratch_folder folder;
    mapped_file first(folder.make("a", "first"));
    mapped_file second(folder.make("b", "second"));
    first.release_descriptor();
    CHECK(first.descriptor() == -1);
    const mapped_file moved(std::move(first));
    CHECK(moved.bytes() == "first");
    second = mapped_file(folder.make("c", "third"));
    CHECK(second.bytes() == "third");
    CHECK(moved.bytes() == "first");
}

TEST_CASE("mapped_file: holds bytes in memory, or views the caller's") {
    auto file = mapped_file::holding("short", "mine");
    const mapped_file moved(std::move(file));
    CHECK(moved.bytes() == "short");
    CHECK(moved.path() == "mine");
    CHECK(moved.descriptor() == -1);

    const std::string bytes(std::size_t{1} << 16U, 'x');
    const auto viewed = mapped_file::viewing(bytes, "theirs");
    CHECK(viewed.bytes().data() == bytes.data());
    viewed.release(0, bytes.size());
    CHECK(viewed.bytes() == std::string(bytes.size(), 'x'));
    std::string copy(3, ' ');
    viewed.read(10, copy.size(), copy.data());
    CHECK(copy == "xxx");
}

TEST_CASE("mapped_file: in small pages, maps only the parts of a new file that are read") {
    const test::scratch_folder folder;
    constexpr std::size_t size = 64U << 20U;
    constexpr std::size_t step = 1U << 20U;
    const auto path = folder.file("in");
    std::ofstream(path, std::ios::binary) << std::string(size, 'x');
    const mapped_file file(path, stemma::mapped_pages::small);
    std::size_t read = 0;
    for (std::size_t at = 0; at < size; at += step) {
        read += file.bytes()[at] == 'x' ? 1U : 0U;
    }
    CHECK(read == size / step);
    const auto mapped = mapped_bytes(path);
    CHECK((STEMMA_IO < 2 || !mapped || *mapped <= size / 4));
}

TEST_CASE("mapped_file: rejects unreadable files by name") {
    const test::scratch_folder folder;
    for (const auto& path : {folder.file("missing"), folder.path(), folder.file("a/b/c"),
                             folder.make("file", "") + "/below", std::string()}) {
        INFO(path);
        CHECK(refusal(path, [&] { const mapped_file file(path); }) == error_code::cannot_read);
    }
}

TEST_CASE("mapped_file: the error for an empty path says that it is empty") {
    CHECK_THROWS_WITH(mapped_file(""), Catch::Matchers::StartsWith("'': "));
}

TEST_CASE("mapped_file: a device, which may have no end, is not read") {
    for (const std::string path : {"/dev/zero", "/dev/null"}) {
        if (std::filesystem::exists(path)) {
            CHECK_THROWS_WITH(mapped_file(path), path + ": is a device");
        }
    }
}

} // namespace test::io_mapped_file
