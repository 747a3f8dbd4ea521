// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/detail/npz.hpp>

#include "../../catch.hpp"
#include "../../refusal.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/io/output_file.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::numerics_detail_npz {

namespace {

std::string two_members() {
    const test::scratch_folder folder;
    const auto path = folder.file("a.npz");
    stemma::output_file file(path);
    stemma::detail::npz_writer out(file, path);
    const std::vector<std::int64_t> two{2};
    out.add("/a/b", 1, two, std::string(8, '\1'));
    out.add("c", 7, {}, std::string(8, '\2'));
    out.finish();
    file.commit(false);
    return std::string(stemma::mapped_file(path).bytes());
}

std::string why_refused(const std::string& bytes) {
    return test::refusal([&] { return stemma::detail::read_npz(bytes, "a.npz"); }).what();
}

/// Whether a file is refused by name, or all of its members are bytes of it.
bool reads_inside_or_says_why(const std::string& bytes) {
    try {
        const auto entries = stemma::detail::read_npz(bytes, "a.npz");
        return std::all_of(entries.begin(), entries.end(), [&](const auto& entry) {
            return entry.bytes.empty() ||
                   (entry.bytes.data() >= bytes.data() &&
                    entry.bytes.data() + entry.bytes.size() <= bytes.data() + bytes.size());
        });
    } catch (const stemma::error& e) {
        return std::string_view(e.what()).substr(0, 7) == "a.npz: ";
    }
}

} // namespace

TEST_CASE("npz: written values round-trip", "[numerics][npz]") {
    const auto bytes = two_members();
    const auto entries = stemma::detail::read_npz(bytes, "a.npz");
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].name == "/a/b");
    CHECK(entries[1].name == "c");
    const auto first = stemma::detail::read_npy(entries[0].bytes, "a.npz", entries[0].name);
    CHECK(first.dims() == std::vector<std::int64_t>{2});
    CHECK(stemma::detail::read_npy(entries[1].bytes, "a.npz").data_type() == 7);
}

TEST_CASE("npz: rejects a name that is too long for the format", "[numerics][npz]") {
    const test::scratch_folder folder;
    const auto path = folder.file("a.npz");
    stemma::output_file file(path);
    stemma::detail::npz_writer out(file, path);
    CHECK_NOTHROW(out.add(std::string(65'531, 'n'), 1, {}, "four"));
    CHECK_THROWS_AS(out.add(std::string(65'532, 'n'), 1, {}, "four"), stemma::error);
}

TEST_CASE("npz: accepts a comment after the directory", "[numerics][npz]") {
    auto bytes = two_members();
    bytes[bytes.size() - 2] = 4;
    bytes += "PK\5\6";
    CHECK(stemma::detail::read_npz(bytes, "a.npz").size() == 2);
}

TEST_CASE("npz: rejects compressed and encrypted members with a remedy", "[numerics][npz]") {
    auto bytes = two_members();
    const auto entry = bytes.find("PK\1\2");
    bytes[entry + 10] = 8;
    CHECK(why_refused(bytes) == "a.npz: /a/b.npy: is compressed; save with numpy.savez, which does "
                                "not compress, instead of numpy.savez_compressed");
    bytes[entry + 8] = 1;
    CHECK(why_refused(bytes) == "a.npz: /a/b.npy: is encrypted");
}

TEST_CASE("npz: reads or rejects truncated and damaged files", "[numerics][npz]") {
    const auto whole = two_members();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        CHECK_FALSE(why_refused(whole.substr(0, size)).empty());
    }
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (const auto with : {'\0', '\xff', '\x80'}) {
            auto damaged = whole;
            damaged[at] = with;
            CAPTURE(at, static_cast<int>(with));
            CHECK(reads_inside_or_says_why(damaged));
        }
    }
}

} // namespace test::numerics_detail_npz
