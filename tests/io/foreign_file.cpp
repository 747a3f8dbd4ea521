// SPDX-License-Identifier: Apache-2.0
#include <stemma/io/foreign_file.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <string>
#include <string_view>

namespace test::io_foreign_file {

namespace {

bool is(std::string_view bytes, std::string_view what) {
    const auto text = stemma::detail::foreign_file_text(bytes);
    INFO(text);
    return text.find(what) != text.npos;
}

} // namespace

TEST_CASE("foreign_file_text: identifies files that are not models") {
    using namespace std::string_view_literals;
    CHECK(is("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"));
    CHECK(is("PK\3\4\x14\0\0\0"sv, "zip"));
    CHECK(is("\x1f\x8b\x08\0"sv, "gunzip"));
    CHECK(is("BZh91AY&SY\1\2", "bunzip2"));
    CHECK(is("\xfd\x37zXZ\0\0"sv, "unxz"));
    CHECK(is("\x28\xb5\x2f\xfd\4"sv, "unzstd"));
    CHECK(is(std::string(257, '\0') + "ustar", "tar archive"));
    CHECK(is("\x7f\x45LF\2\1"sv, "compiled program"));
    CHECK(is("%PDF-1.7\n", "PDF"));
    CHECK(is("\x20\0\0\0ORTM"sv, "ORT format"));
    CHECK(is("\x1c\0\0\0TFL3"sv, "TFLite"));
    CHECK(is("\x10\0\0\0\0\0\0\0{\"w\":{}}"sv, "safetensors"));
    CHECK(is("GGUF\3\0\0\0"sv, "GGUF"));
    CHECK(is(" {\n \"modules\": []}", "capture"));
    CHECK(is("ir_version: 8\nproducer_name: \"pytorch\"\n", "text format"));
    CHECK(is("graph {\n  node {\n  }\n}\n", "text format"));
    CHECK(is("hello, this is not a model\n", "plain text"));
    CHECK(is("hello world\n", "plain text"));
    CHECK(is("<!DOCTYPE html><html>", "web page"));
}

TEST_CASE("foreign_file_text: is empty for models and unrecognizable bytes") {
    using namespace std::string_view_literals;
    for (const auto& path : test::model_files()) {
        INFO(path);
        CHECK(stemma::detail::foreign_file_text(test::read_bytes(path)).empty());
    }
    // A producer whose name is the signature of another format.
    CHECK(stemma::detail::foreign_file_text("\x08\x08\x12\x04ORTM:\0"sv).empty());
    CHECK(stemma::detail::foreign_file_text("").empty());
    CHECK(stemma::detail::foreign_file_text("\0\1\2\3\4\5\6\7\x08\x09"sv).empty());
    CHECK(stemma::detail::foreign_file_text("B").empty());
}

} // namespace test::io_foreign_file
