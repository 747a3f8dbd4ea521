// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/file.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"
#include "../scratch_folder.hpp"

#include <stemma/error.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::io_file {

namespace {

using stemma::error_code;
using stemma::mapped_file;
using stemma::output_file;

/// Returns: the code of what a function throws, which names the file it is about.
template <class Function>
std::optional<error_code> refusal(std::string_view path, Function f) {
    try {
        f();
    } catch (const stemma::error& e) {
        CHECK(std::string_view(e.what()).find(path) == 0);
        CHECK(std::string_view(e.what()).find('\n') == std::string_view::npos);
        return e.code();
    }
    return std::nullopt;
}

std::string content(const std::string& path) {
    return std::string(mapped_file(path).bytes());
}

/// Returns: how much of a file that is mapped takes part in the memory of this process, if the
/// system says so.
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

TEST_CASE("mapped_file: gives the bytes of a file", "[file]") {
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

TEST_CASE("mapped_file: can be moved, and its bytes stay without a descriptor", "[file]") {
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

TEST_CASE("mapped_file: holds bytes in memory, or looks at the caller's", "[file]") {
    auto held = mapped_file::holding("short", "mine");
    const mapped_file moved(std::move(held));
    CHECK(moved.bytes() == "short");
    CHECK(moved.path() == "mine");
    CHECK(moved.descriptor() == -1);

    const std::string bytes(std::size_t{1} << 16U, 'x');
    const auto seen = mapped_file::viewing(bytes, "theirs");
    CHECK(seen.bytes().data() == bytes.data());
    seen.release(0, bytes.size());
    CHECK(seen.bytes() == std::string(bytes.size(), 'x'));
    std::string copy(3, ' ');
    seen.read(10, copy.size(), copy.data());
    CHECK(copy == "xxx");
}

TEST_CASE("mapped_file: bytes in memory go where those of a file go", "[file]") {
    const test::scratch_folder folder;
    const std::string bytes = "0123456789";
    const auto in = mapped_file::viewing(bytes, "mine");
    stemma::output_file out(folder.file("out"));
    out.copy(in, 2, 5);
    out.commit(false);
    CHECK(content(folder.file("out")) == "23456");
}

TEST_CASE("mapped_file: in small pages, only what is read of a new file is mapped", "[file]") {
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

TEST_CASE("mapped_file: what is no readable file is refused, by name", "[file]") {
    const test::scratch_folder folder;
    for (const auto& path : {folder.file("missing"), folder.path(), folder.file("a/b/c"),
                             folder.make("file", "") + "/below", std::string()}) {
        INFO(path);
        CHECK(refusal(path, [&] { const mapped_file file(path); }) == error_code::cannot_read);
    }
}

TEST_CASE("output_file: appears whole at commit, and not before", "[file]") {
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

TEST_CASE("output_file: without commit nothing is left and nothing is lost", "[file]") {
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

TEST_CASE("output_file: the file that is read may be the file that is written", "[file]") {
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

TEST_CASE("output_file: ranges of files and texts come out in the order of the calls", "[file]") {
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
            const auto taken = std::min(size, text.size() - at);
            if (random.one_in(2)) {
                out.copy(in, at, taken);
            } else {
                out.write(std::string_view(text).substr(at, taken));
            }
            expected.append(text, at, taken);
        }
        out.commit(false);
        const bool same = content(folder.file("out")) == expected;
        CHECK(same);
    }
}

TEST_CASE("output_file: whole blocks come out the same from wherever they are copied", "[file]") {
    const test::scratch_folder folder;
    test::random_numbers random(11);
    const auto text = random.bytes(3U << 20U);
    const mapped_file in(folder.make("in", text));
    constexpr std::size_t size = 1U << 20U; // long enough to go from file to file
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

#if STEMMA_IO >= 1 // else it was read as a whole

TEST_CASE("output_file: a file that became shorter is not copied", "[file]") {
    const test::scratch_folder folder;
    const auto path = folder.make("in", std::string(3U << 20U, 'x'));
    const mapped_file in(path);
    std::filesystem::resize_file(path, 1U << 20U);
    output_file out(folder.file("out"));
    CHECK(refusal(path, [&] { out.copy(in, 1, 2U << 20U); }) == error_code::cannot_read);
    CHECK_FALSE(std::filesystem::exists(folder.file("out")));
}

#endif

TEST_CASE("files: what is reserved and released changes nothing", "[file]") {
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

TEST_CASE("output_file: permissions are those of the file that is replaced", "[file]") {
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

TEST_CASE("output_file: a place that is said to be empty and is not is taken all the same",
          "[file]") {
    const test::scratch_folder folder;
    const auto path = folder.file("out");
    for (const std::string text : {"first", "second"}) {
        output_file file(path, stemma::target_state::absent);
        file.write(text);
        file.commit(false);
        CHECK(content(path) == text);
    }
    CHECK(folder.file_count() == 1);
}

TEST_CASE("output_file: what cannot be written is refused, by name", "[file]") {
    const test::scratch_folder folder;
    for (const auto& path :
         {folder.path(), folder.file("missing/out"), folder.make("file", "") + "/below"}) {
        INFO(path);
        CHECK(refusal(path, [&] { const output_file out(path); }) == error_code::cannot_write);
    }
    CHECK(folder.file_count() == 1);
}

#if defined(__linux__)

TEST_CASE("output_file: a device that is full is noticed", "[file]") {
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

TEST_CASE("output_file: a symbolic link stays one", "[file]") {
    const test::scratch_folder folder;
    const auto path = folder.make("file", "before");
    std::filesystem::create_symlink("file", folder.file("link"));
    output_file out(folder.file("link"));
    out.write("after");
    out.commit(false);
    CHECK(std::filesystem::is_symlink(folder.file("link")));
    CHECK(content(path) == "after");
}

#endif

} // namespace test::io_file
