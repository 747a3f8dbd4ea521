// SPDX-License-Identifier: Apache-2.0
#include <stemma/check/detail/check_data.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace test::check_detail_check_data {

namespace {

using found = std::vector<std::string>;

found findings_of(const std::string& bytes, const std::string& file) {
    const stemma::wire_model model(bytes, file);
    found findings;
    stemma::detail::check_data(model, [&](const stemma::finding& one) {
        findings.push_back(one.code + " at " + one.place);
    });
    return findings;
}

std::string model_with(const std::vector<test::message>& tensors) {
    auto graph = test::graph();
    for (const auto& tensor : tensors) {
        graph.inner(5, tensor);
    }
    return test::model(graph).bytes();
}

/// A tensor of floats whose data are elsewhere.
test::message external(const std::string& name, std::uint64_t elements, const std::string& location,
                       std::vector<std::pair<std::string, std::string>> more = {}) {
    auto fields = test::message().number(1, elements).number(2, 1).text(8, name);
    fields.inner(13, test::entry("location", location));
    for (const auto& [key, value] : more) {
        fields.inner(13, test::entry(key, value));
    }
    return fields.number(14, 1);
}

} // namespace

TEST_CASE("check_data: inline data must have the size of type and dims") {
    CHECK(findings_of(model_with({test::tensor("a", {2}, "12345678")}), "m").empty());
    CHECK(findings_of(model_with({test::tensor("a", {2}, "1234567")}), "m") ==
          found{"data.size at initializer 'a'"});
    CHECK(findings_of(model_with({test::message().number(1, 2).text(8, "a")}), "m") ==
          found{"data.type at initializer 'a'"});
    CHECK(findings_of(model_with({test::tensor("a", {~0ULL}, "")}), "m") ==
          found{"data.dims at initializer 'a'"});
    CHECK(findings_of(
              model_with({test::message().number(1, 1).number(2, 8).text(8, "a").text(9, "x")}),
              "m") == found{"data.size at initializer 'a'"});
    // Sizes beyond 64 bits, of elements or of bytes; without elements there is no data.
    constexpr auto huge = std::uint64_t{1} << 62;
    for (const auto& dims : {std::vector<std::uint64_t>{huge, huge}, {huge}}) {
        CHECK(findings_of(model_with({test::tensor("a", dims, "")}), "m") ==
              found{"data.size at initializer 'a'"});
    }
    CHECK(findings_of(model_with({test::tensor("a", {huge, huge, 0}, "")}), "m").empty());
    // Data in typed fields are not raw.
    const auto typed = test::message().number(1, 1).number(2, 1).text(8, "a").text(4, "1234");
    CHECK(findings_of(model_with({typed}), "m").empty());
}

TEST_CASE("check_data: typed data must have as many elements as dims") {
    constexpr std::uint64_t few = 5;
    const auto findings_with = [](std::uint64_t type, const test::message& data,
                                  std::uint64_t elements) {
        auto fields = test::message().number(1, elements).number(2, type).text(8, "a");
        return findings_of(model_with({fields.append(data)}), "m");
    };
    const found wrong{"data.size at initializer 'a'"};
    const auto none = test::message();
    for (std::uint64_t type = 1; type < 27; ++type) {
        INFO(type);
        CHECK(findings_with(type, none, few) == wrong);
        CHECK(findings_with(type, none, 0).empty());
    }
    const auto numbers = [](std::uint32_t field, std::uint64_t count) {
        return test::message().packed(field, std::vector<std::uint64_t>(count, 300));
    };
    const auto check = [&](std::uint64_t type, std::uint64_t needed, auto data) {
        INFO(type);
        CHECK(findings_with(type, data(needed), few).empty());
        CHECK(findings_with(type, data(needed - 1), few) == wrong);
        CHECK(findings_with(type, data(needed + 1), few) == wrong);
    };
    for (const std::uint64_t type : {2U, 3U, 4U, 5U, 6U, 9U, 10U, 16U, 17U, 18U, 19U, 20U, 24U}) {
        check(type, few, [&](auto count) { return numbers(5, count); });
    }
    for (const std::uint64_t type : {21U, 22U, 23U}) {
        check(type, 3, [&](auto count) { return numbers(5, count); });
    }
    for (const std::uint64_t type : {25U, 26U}) {
        check(type, 2, [&](auto count) { return numbers(5, count); });
    }
    check(7, few, [&](auto count) { return numbers(7, count); });
    check(12, few, [&](auto count) { return numbers(11, count); });
    check(13, few, [&](auto count) { return numbers(11, count); });
    const auto bytes = [](std::uint32_t field, std::uint64_t size) {
        return test::message().text(field, std::string(size, 'x'));
    };
    check(1, few, [&](auto count) { return bytes(4, 4 * count); });
    check(14, 2 * few, [&](auto count) { return bytes(4, 4 * count); });
    check(11, few, [&](auto count) { return bytes(10, 8 * count); });
    check(15, 2 * few, [&](auto count) { return bytes(10, 8 * count); });
    check(8, few, [](auto count) {
        test::message texts;
        for (std::uint64_t i = 0; i < count; ++i) {
            texts.text(6, "");
        }
        return texts;
    });
    check(6, few, [](auto count) { // not packed
        test::message each;
        for (std::uint64_t i = 0; i < count; ++i) {
            each.number(5, 300);
        }
        return each;
    });
}

TEST_CASE("check_data: external data must exist, be in the folder, and be long enough") {
    const test::scratch_folder folder;
    static_cast<void>(folder.make("w.bin", std::string(64, 'w')));
    const auto file = folder.file("model.onnx");
    const auto check = [&](const std::vector<test::message>& tensors) {
        return findings_of(model_with(tensors), file);
    };
    CHECK(check({external("a", 16, "w.bin")}).empty());
    CHECK(check({external("a", 8, "w.bin", {{"offset", "32"}, {"length", "32"}})}).empty());
    CHECK(check({external("a", 17, "w.bin")}) == found{"data.beyond_end at initializer 'a'"});
    CHECK(check({external("a", 8, "w.bin", {{"offset", "33"}})}) ==
          found{"data.beyond_end at initializer 'a'"});
    CHECK(check({external("a", 8, "w.bin", {{"offset", "18446744073709551614"}})}) ==
          found{"data.beyond_end at initializer 'a'"});
    CHECK(check({external("a", 8, "w.bin", {{"offset", "0x10"}})}) ==
          found{"data.place at initializer 'a'"});
    CHECK(check({external("a", 8, "w.bin", {{"length", "16"}})}) ==
          found{"data.size at initializer 'a'"});
    CHECK(check({external("a", 8, "../w.bin"), external("b", 8, "/w.bin"), external("c", 8, "")}) ==
          found{"data.outside at initializer 'a'", "data.outside at initializer 'b'",
                "data.outside at initializer 'c'"});
    // A missing file is reported once, however many need it.
    CHECK(check({external("a", 8, "no.bin"), external("b", 8, "no.bin")}) ==
          found{"data.missing at file 'no.bin'"});
    std::filesystem::create_symlink("w.bin", folder.file("link.bin"));
    CHECK(check({external("a", 16, "link.bin")}) == found{"data.symlink at file 'link.bin'"});
}

TEST_CASE("check_data: exported models are consistent") {
    for (const auto& path : test::model_files()) {
        const stemma::mapped_file file(path);
        INFO(path);
        for (const auto& finding : findings_of(std::string(file.bytes()), path)) {
            CHECK(finding == "data.missing at file 'weights.bin'"); // which is not kept
        }
    }
}

} // namespace test::check_detail_check_data
