// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/byte_patch.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"

#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/splices.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace test::onnx_detail_byte_patch {

namespace {

std::string text_of(const stemma::detail::message_tree& rope, std::string_view file) {
    stemma::detail::string_splice splice(file);
    rope.write(splice);
    return splice.text;
}

/// Returns: a rope for `text`, some of whose pieces are ranges of a file that contains it.
stemma::detail::message_tree rope_of(std::string_view text, test::random_numbers& random) {
    stemma::detail::message_tree rope;
    for (std::size_t at = 0; at < text.size();) {
        const auto size = std::min<std::size_t>(1 + random(7), text.size() - at);
        random.one_in(2) ? rope.add_range(at, size) : rope.add_text(text.substr(at, size));
        at += size;
    }
    return rope;
}

} // namespace

TEST_CASE("byte_patch: the way back from a copy with changes leads to the source") {
    test::random_numbers random(8);
    for (std::size_t round = 0; round < 3000; ++round) {
        CAPTURE(round);
        std::string source;
        for (auto i = random(60); i > 0; --i) {
            source.push_back(static_cast<char>('a' + random(26)));
        }
        stemma::detail::way_back way(source);
        stemma::detail::string_splice splice(source);
        const auto size = static_cast<std::uint32_t>(source.size());
        for (std::uint32_t at = 0; at < size;) {
            const auto part =
                std::min<std::uint32_t>(static_cast<std::uint32_t>(random(9)), size - at);
            const std::string more(random(3), '0');
            if (random.one_in(2)) {
                way.copy(at, part);
                splice.copy(at, part);
            }
            way.write(more);
            splice.write(more);
            at += part;
        }
        const auto patch = stemma::detail::byte_patch::from_bytes(std::move(way).take().to_bytes());
        REQUIRE(patch);
        const auto changed = rope_of(splice.text, random);
        const auto back = patch->apply(changed, splice.text);
        REQUIRE(back);
        CHECK(text_of(*back, splice.text) == source);

        auto longer = changed;
        longer.add_text("0");
        CHECK(!patch->apply(longer, splice.text));
        if (!splice.text.empty()) {
            const auto shorter = splice.text.substr(1);
            CHECK(!patch->apply(rope_of(shorter, random), shorter));
            auto shifted = shorter + splice.text.front();
            const auto other = patch->apply(rope_of(shifted, random), shifted);
            CHECK((!other || text_of(*other, shifted) == source));
        }
    }
}

TEST_CASE("byte_patch: rejects other bytes of the same size next to a change, not far from it") {
    const std::string source = std::string(100, 'a') + "TAG" + std::string(100, 'b');
    stemma::detail::way_back way(source);
    way.copy(0, 100);
    way.copy(103, 100);
    const auto patch = stemma::detail::byte_patch::from_bytes(std::move(way).take().to_bytes());
    REQUIRE(patch);
    auto changed = std::string(100, 'a') + std::string(100, 'b');
    const auto applies = [&] {
        stemma::detail::message_tree tree;
        tree.add_range(0, changed.size());
        return patch->apply(tree, changed).has_value();
    };
    CHECK(applies());
    changed[50] = 'x';
    CHECK(applies());
    changed[99] = 'x';
    CHECK_FALSE(applies());
}

TEST_CASE("byte_patch: a repeated insertion is stored once") {
    stemma::detail::byte_patch patch;
    const std::string text(500, 't');
    for (int i = 0; i < 100; ++i) {
        patch.keep(10);
        patch.replace(0, text);
    }
    CHECK(patch.to_bytes().size() < 2 * text.size());
    stemma::detail::message_tree zeros;
    zeros.add_text(std::string(1000, '0'));
    CHECK(patch.apply(zeros, {}).value().size() == 1000 + 100 * text.size());
}

TEST_CASE("byte_patch: does not repeat a text more often than any model") {
    stemma::detail::byte_patch patch;
    const std::string text(1'000'000, 't');
    for (int i = 0; i < 100; ++i) {
        patch.replace(1, text);
        patch.keep(1);
    }
    stemma::detail::message_tree zeros;
    zeros.add_text(std::string(200, '0'));
    CHECK_FALSE(patch.apply(zeros, {}));
}

TEST_CASE("byte_patch: rejects invalid bytes") {
    stemma::detail::byte_patch patch;
    patch.keep(300);
    patch.replace(2, "text");
    patch.keep(1);
    const auto bytes = patch.to_bytes();
    REQUIRE(stemma::detail::byte_patch::from_bytes(bytes));
    CHECK(stemma::detail::byte_patch::from_bytes(bytes)->to_bytes() == bytes);
    CHECK(!stemma::detail::byte_patch::from_bytes(""));
    CHECK(!stemma::detail::byte_patch::from_bytes(bytes.substr(0, bytes.size() - 1)));
    CHECK(!stemma::detail::byte_patch::from_bytes(bytes + '\1'));
    CHECK(!stemma::detail::byte_patch::from_bytes(std::string("\xff\xff\xff\xff\xff\xff\x01", 7)));
    CHECK(
        !stemma::detail::byte_patch::from_bytes(std::string("\0\1\0\1", 4))); // there is no text 1
    CHECK(
        !stemma::detail::byte_patch::from_bytes(std::string("\2\1a\1a", 5))); // the same text twice
    CHECK(!stemma::detail::byte_patch::from_bytes(std::string("\0\0\0\0", 4))); // changes nothing
    test::random_numbers random(4);
    for (int round = 0; round < 2000; ++round) {
        auto damaged = bytes;
        damaged[random(damaged.size())] = static_cast<char>(random(256));
        if (const auto read = stemma::detail::byte_patch::from_bytes(damaged)) {
            CHECK(stemma::detail::byte_patch::from_bytes(read->to_bytes()).has_value());
        }
    }
}

} // namespace test::onnx_detail_byte_patch
