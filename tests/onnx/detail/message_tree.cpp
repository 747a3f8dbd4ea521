// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/message_tree.hpp>

#include "../../catch.hpp"
#include "../../random_numbers.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/splices.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_message_tree {

namespace {

using stemma::id;

/// The contents of a tree over some files.
std::string text_of(const stemma::detail::message_tree& tree,
                    const std::vector<std::string>& files) {
    std::string text;
    tree.for_each([&](id file, std::uint64_t begin,
                      std::uint64_t size) { text.append(files[file], begin, size); },
                  [&](std::string_view more) { text.append(more); });
    return text;
}

std::size_t pieces_of(const stemma::detail::message_tree& tree) {
    std::size_t pieces = 0;
    tree.for_each([&](id, std::uint64_t, std::uint64_t) { ++pieces; },
                  [&](std::string_view) { ++pieces; });
    return pieces;
}

} // namespace

TEST_CASE("message_tree: contains what was appended") {
    test::random_numbers random(4);
    const std::vector<std::string> files{random.bytes(500), random.bytes(300)};
    for (int round = 0; round < 300; ++round) {
        stemma::detail::message_tree tree;
        std::string expected;
        for (auto n = random(20); n > 0; --n) {
            const auto kind = random(4);
            if (kind == 0) {
                const auto text = random.bytes(random(20));
                tree.add_text(text);
                expected.append(text);
            } else if (kind == 1) {
                const auto file = random(2);
                const auto begin = random(files[file].size());
                const auto size = random(files[file].size() - begin);
                tree.add_range(begin, size, static_cast<id>(file));
                expected.append(files[file], begin, size);
            } else if (kind == 2) {
                stemma::detail::message_tree inner;
                inner.add_text("abc");
                inner.add_range(3, 5, 1);
                tree.append(7, inner);
                expected.append(test::message().text(7, "abc" + files[1].substr(3, 5)).bytes());
            } else {
                const auto text = random.bytes(random(200));
                tree.append(3, text);
                expected.append(test::message().text(3, text).bytes());
            }
        }
        CHECK(tree.size() == expected.size());
        CHECK(text_of(tree, files) == expected);
        stemma::detail::message_tree copy;
        copy.append(tree);
        CHECK(text_of(copy, files) == expected);
    }
}

TEST_CASE("message_tree: merges adjacent ranges of one file") {
    stemma::detail::message_tree tree;
    tree.add_range(10, 5);
    tree.add_range(15, 5);
    tree.add_range(20, 0);
    CHECK(pieces_of(tree) == 1);
    tree.add_range(20, 5, 1);
    CHECK(pieces_of(tree) == 2);
    tree.add_range(26, 1, 1);
    CHECK(pieces_of(tree) == 3);
    tree.add_text("");
    tree.add_text("a");
    tree.add_text("b");
    CHECK(pieces_of(tree) == 4);
    CHECK(tree.seal() == 4);
    tree.add_text("c");
    CHECK(tree.seal() == 5);
    stemma::detail::message_tree last;
    last.append(tree, 4, 1);
    CHECK(text_of(last, {}) == "c");
}

TEST_CASE("message_tree: a message includes its tag if encoded as we would") {
    const auto plain = test::message().text(1, "content").bytes();
    const auto padded = test::message().text(1, "content", {2, 3}).bytes();
    for (const auto& file : {plain, padded}) {
        stemma::detail::message_tree tree;
        const auto begin = static_cast<std::uint32_t>(file.size() - 7);
        tree.append_message(file, 1, begin, 7);
        CHECK(text_of(tree, {file}) == plain);
        CHECK(pieces_of(tree) == (file == plain ? 1 : 2));
    }
}

TEST_CASE("message_tree: nested messages have correct lengths, short or long") {
    for (const std::size_t size : {0U, 1U, 120U, 130U, 1000U, 2000U, 100'000U}) {
        const std::string text(size, 't');
        stemma::detail::message_tree tree;
        tree.append_number(1, -1);
        tree.append(2, [&] {
            tree.append(3, text);
            tree.append(4, [&] { tree.append_entry(5, "key", text); });
            tree.append(6, [] {});
        });
        const auto expected =
            test::message()
                .number(1, static_cast<std::uint64_t>(-1))
                .inner(2, test::message()
                              .text(3, text)
                              .inner(4, test::message().inner(5, test::entry("key", text)))
                              .inner(6, test::message()));
        CHECK(text_of(tree, {}) == expected.bytes());
        CHECK(tree.size() == expected.bytes().size());
    }
}

namespace {

stemma::detail::wire_reader reader(const std::string& bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"};
}

/// Two levels of messages, with unknown fields and padded lengths.
std::string nested(const std::string& first, const std::string& second) {
    return test::message()
        .number(90, 7)
        .text(1, std::string(50, 'x'), {3, 4})
        .inner(2, test::message().text(8, first).text(9, "unknown"))
        .inner(2, test::message().text(8, second).text(9, std::string(50, 'y'), {2, 2}))
        .text(91, "unknown")
        .bytes();
}

} // namespace

TEST_CASE("message_tree: unchanged fields stay as they are, in one range") {
    const auto bytes = nested("one", "two");
    stemma::detail::message_tree tree;
    CHECK_FALSE(tree.edit(reader(bytes), [](stemma::detail::edited_field& field) {
        if (field.number == 2) {
            field.edit([](stemma::detail::edited_field& inside) {
                if (inside.is_bytes(8)) {
                    inside.set(std::string(inside.text()));
                }
            });
        }
    }));
    CHECK(pieces_of(tree) == 1);
    CHECK(text_of(tree, {bytes}) == bytes);
    CHECK_FALSE(tree.append_edited(3, reader(bytes), [](stemma::detail::edited_field&) {}));
    CHECK(tree.size() == bytes.size());
}

TEST_CASE("message_tree: sets, erases, replaces and adds fields in place") {
    const auto bytes = nested("one", "two");
    for (const auto file : {id{0}, stemma::detail::message_tree::in_memory}) {
        stemma::detail::message_tree tree;
        const auto change = [&](stemma::detail::edited_field& field) {
            if (field.number == 90) {
                field.erase();
            } else if (field.is_bytes(2)) {
                field.edit([&](stemma::detail::edited_field& inside) {
                    if (inside.is_bytes(8) && inside.text() == "two") {
                        inside.set("three");
                    }
                });
            } else if (field.is_bytes(91)) {
                tree.append(5, "in front");
                field.keep();
                tree.append(6, "behind");
            }
        };
        CHECK(tree.edit(reader(bytes), change, file));
        auto expected = nested("one", "three").substr(test::message().number(90, 7).bytes().size());
        const auto last = test::message().text(91, "unknown").bytes();
        expected.resize(expected.size() - last.size());
        // Only the length of the changed message is rewritten.
        CHECK(text_of(tree, {bytes}) == expected + test::message().text(5, "in front").bytes() +
                                            last + test::message().text(6, "behind").bytes());
    }
    stemma::detail::message_tree tree;
    CHECK(tree.append_edited(7, reader(bytes), [&](stemma::detail::edited_field& field) {
        field.number == 1 ? field.replace([&] { tree.append(1, "new"); }) : field.erase();
    }));
    CHECK(
        text_of(tree, {bytes}) ==
        test::message().inner(7, test::message().inner(1, test::message().text(1, "new"))).bytes());
}

TEST_CASE("message_tree: an unchanged message between others leaves no trace") {
    const auto bytes = test::message().inner(2, test::message().text(8, "one")).bytes();
    stemma::detail::message_tree tree;
    tree.append(1, "in front");
    CHECK_FALSE(tree.append_edited(2, reader(bytes), [](stemma::detail::edited_field& field) {
        field.edit([](stemma::detail::edited_field&) {});
    }));
    tree.append(3, "behind");
    CHECK(text_of(tree, {bytes}) == test::message().text(1, "in front").text(3, "behind").bytes());
    CHECK(pieces_of(tree) == 1);
}

TEST_CASE("message_tree: `text` and `write` produce the same bytes") {
    const auto bytes = nested("one", "two");
    stemma::detail::message_tree tree;
    tree.append(1, [&] { tree.edit(reader(bytes), [](stemma::detail::edited_field&) {}); });
    stemma::detail::string_splice splice(bytes);
    tree.write(splice);
    CHECK(splice.text == tree.text(bytes));
    CHECK(splice.text == test::message().text(1, bytes).bytes());
}

} // namespace test::onnx_detail_message_tree
