// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/detail/metadata_props.hpp>

#include "../../catch.hpp"
#include "../models.hpp"

#include <stemma/error.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::proto_detail_metadata_props {

namespace {

using entries = std::vector<std::pair<std::string, std::string>>;

template <class Message>
entries read(const Message& message) {
    entries pairs;
    stemma::detail::for_each_metadata(message, [&](std::string_view key, std::string_view value) {
        pairs.emplace_back(key, value);
    });
    return pairs;
}

template <class Message>
void check_edits() {
    Message message;
    CHECK(read(message).empty());
    stemma::detail::rename_metadata(message,
                                    [](std::string_view key) { return std::optional(key); });
    CHECK(test::bytes_of(message).empty());

    const entries added = {{"a", "1"}, {"", "no key"}, {"b", ""}, {"a", std::string("\0", 1)}};
    for (const auto& [key, value] : added) {
        stemma::detail::add_metadata(message, key, value);
    }
    CHECK(read(message) == added);

    stemma::detail::rename_metadata(message, [](std::string_view key) {
        return key == "b" ? std::nullopt : std::optional(key == "a" ? "longer" : key);
    });
    CHECK(read(message) ==
          entries{{"longer", "1"}, {"", "no key"}, {"longer", std::string("\0", 1)}});

    stemma::detail::rename_metadata(
        message, [](std::string_view) -> std::optional<std::string_view> { return std::nullopt; });
    CHECK(test::bytes_of(message).empty());
}

/// Of very many entries, every other one is removed; what follows stays.
template <class Message>
void check_many() {
    Message message;
    entries remaining;
    for (int i = 0; i < 200'000; ++i) {
        const auto number = std::to_string(i);
        stemma::detail::add_metadata(message, i % 2 == 0 ? "ours" : "theirs", number);
        if (i % 2 != 0) {
            remaining.emplace_back("theirs", number);
        }
    }
    stemma::detail::mutable_unknown_fields(message).AddVarint(99, 7);
    stemma::detail::rename_metadata(message, [](std::string_view key) {
        return key == "ours" ? std::nullopt : std::optional(key);
    });
    CHECK(read(message) == remaining);
    const auto& others = stemma::detail::unknown_fields(message);
    CHECK(others.field(others.field_count() - 1).varint() == 7);
}

template <class Older, class Newer>
void check_both() {
    check_edits<Older>();
    check_edits<Newer>();
    Older older;
    stemma::detail::add_metadata(older, "key", "value");
    Newer newer;
    stemma::detail::add_metadata(newer, "key", "value");
    CHECK(test::bytes_of(older) == test::bytes_of(newer));
}

} // namespace

TEST_CASE("metadata_props: are read and edited in every message, whatever the schema",
          "[onnx][metadata_props]") {
    check_both<onnx::ModelProto, newer_onnx::ModelProto>();
    check_both<onnx::GraphProto, newer_onnx::GraphProto>();
    check_both<onnx::NodeProto, newer_onnx::NodeProto>();
    check_both<onnx::FunctionProto, newer_onnx::FunctionProto>();
    check_both<onnx::TensorProto, newer_onnx::TensorProto>();
    check_both<onnx::ValueInfoProto, newer_onnx::ValueInfoProto>();
}

TEST_CASE("metadata_props: very many entries are removed in one pass", "[onnx][metadata_props]") {
    check_many<onnx::NodeProto>();
}

TEST_CASE("metadata_props: a newer schema reads them directly", "[onnx][metadata_props]") {
    STATIC_REQUIRE(stemma::detail::knows_metadata<newer_onnx::NodeProto>);
    STATIC_REQUIRE(stemma::detail::knows_metadata<onnx::ModelProto>);
}

TEST_CASE("metadata_props: other unknown fields keep their bytes and places",
          "[onnx][metadata_props]") {
    onnx::NodeProto node;
    auto& unknown = *node.mutable_unknown_fields();
    unknown.AddVarint(9, 7); // the number of metadata, but no bytes
    stemma::detail::add_metadata(node, "ours", "1");
    unknown.AddLengthDelimited(8, "overload");
    stemma::detail::add_metadata(node, "theirs", "2");
    unknown.AddFixed32(77, 5);

    stemma::detail::rename_metadata(node, [](std::string_view key) {
        return key == "ours" ? std::nullopt : std::optional(key);
    });

    onnx::NodeProto expected;
    auto& others = *expected.mutable_unknown_fields();
    others.AddVarint(9, 7);
    others.AddLengthDelimited(8, "overload");
    stemma::detail::add_metadata(expected, "theirs", "2");
    others.AddFixed32(77, 5);
    CHECK(test::bytes_of(node) == test::bytes_of(expected));
}

TEST_CASE("metadata_props: a renamed entry keeps its other contents", "[onnx][metadata_props]") {
    onnx::NodeProto node;
    // The value before the key, and an unknown field.
    node.mutable_unknown_fields()->AddLengthDelimited(9, "\x12\x01v\x0a\x03old\x1a\x01?");

    stemma::detail::rename_metadata(node, [](std::string_view) { return std::optional("newer"); });

    CHECK(node.unknown_fields().field(0).length_delimited() == "\x12\x01v\x0a\x05newer\x1a\x01?");
    CHECK(read(node) == entries{{"newer", "v"}});
}

TEST_CASE("metadata_props: an unknown field that is not an entry is an error",
          "[onnx][metadata_props]") {
    onnx::NodeProto node;
    node.mutable_unknown_fields()->AddLengthDelimited(9, "\x0a\x7fshort");

    CHECK_THROWS_AS(read(node), stemma::error);

    onnx::NodeProto between;
    for (const auto* key : {"theirs", "ours", "more", "ours"}) {
        stemma::detail::add_metadata(between, key, "1");
    }
    auto expected = between;
    between.mutable_unknown_fields()->MergeFrom(node.unknown_fields());
    CHECK_THROWS_AS(stemma::detail::rename_metadata(between,
                                                    [](std::string_view key) {
                                                        return key == "ours" ? std::nullopt
                                                                             : std::optional(key);
                                                    }),
                    stemma::error);
    expected.mutable_unknown_fields()->DeleteSubrange(3, 1);
    expected.mutable_unknown_fields()->DeleteSubrange(1, 1);
    expected.mutable_unknown_fields()->MergeFrom(node.unknown_fields());
    CHECK(test::bytes_of(between) == test::bytes_of(expected)); // stripped up to there
}

} // namespace test::proto_detail_metadata_props
