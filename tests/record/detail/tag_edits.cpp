// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/tag_edits.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::record_detail_tag_edits {

using stemma::detail::tag_edits;
using test::message;

namespace {

/// Returns: the content of a node after edits; `added`, if any, are the new tags.
std::string edited(const message& node, const stemma::detail::wire_carrier_sink* added,
                   bool our_namespaces = false) {
    const auto bytes = test::model(test::graph({node})).bytes();
    const stemma::wire_model model(bytes);
    stemma::detail::message_edits edits;
    tag_edits(model, our_namespaces).edit_node(0, added, edits);
    const auto at = model.message(0);
    auto text = bytes.substr(at.begin, at.size);
    std::int64_t moved = -static_cast<std::int64_t>(at.begin);
    edits.for_each([&](const stemma::detail::edit& e) {
        text.replace(static_cast<std::size_t>(e.at + moved), e.removed, e.text);
        moved += static_cast<std::int64_t>(e.text.size()) - e.removed;
    });
    return text;
}

std::string stripped(const message& node, bool our_namespaces = false) {
    return edited(node, nullptr, our_namespaces);
}

message plain() {
    return test::node("Relu", {"x"}, {"y"}, "n");
}

/// What a carrier might write.
stemma::detail::wire_carrier_sink sink() {
    stemma::detail::wire_carrier_sink carriers;
    carriers.metadata("pkg.stemma.source_module", "/Net/A");
    carriers.attribute("source_module", "/Net/A");
    carriers.doc_line(std::string(stemma::detail::doc_line_mark) + "/Net/A");
    carriers.name_space("net/a");
    return carriers;
}

} // namespace

TEST_CASE("tag_edits: a node without tags is not touched by strip") {
    for (const auto& node :
         {plain(), plain().text(6, "a doc"), plain().inner(9, test::entry("key", "value")),
          plain().inner(5, test::text_attribute("source_module", "theirs")),
          plain().inner(9, test::entry("namespace", "theirs"))}) {
        CHECK(stripped(node) == node.bytes());
    }
}

TEST_CASE("tag_edits: strip removes what was written") {
    const auto written = sink();
    for (const auto& node :
         {plain(), plain().text(6, "a doc"), plain().text(6, ""), plain().text(6, "ends\n"),
          plain().inner(9, test::entry("namespace", "theirs")), plain().text(6, "a").text(6, "b"),
          plain().inner(5, test::text_attribute("source_module", "theirs"))}) {
        const auto tagged = edited(node, &written);
        CHECK(tagged != node.bytes());
        const auto again = message().raw(tagged);
        CHECK(stripped(again, true) == node.bytes());
        // Writing the same again changes nothing.
        CHECK(edited(again, &written, true) == tagged);
    }
}

TEST_CASE("tag_edits: keys with our prefix are ours, others not") {
    auto node = plain();
    node.inner(9, test::entry("pkg.stemma.anything", "1")).inner(9, test::entry("pkg.stemm", "2"));
    CHECK(stripped(node) == plain().inner(9, test::entry("pkg.stemm", "2")).bytes());
}

TEST_CASE("tag_edits: an attribute is ours by its name and its mark") {
    const auto marked = [](const char* name, std::string_view mark) {
        return test::text_attribute(name, "/Net").text(13, mark);
    };
    const std::string mark(stemma::detail::attribute_mark);
    CHECK(stripped(plain().inner(5, marked("source_module", mark))) == plain().bytes());
    CHECK(stripped(plain().inner(5, marked("hierarchy_tags", mark))) == plain().bytes());
    for (const auto& theirs : {marked("source_module", "about it"), marked("axis", mark)}) {
        const auto node = plain().inner(5, theirs);
        CHECK(stripped(node) == node.bytes());
    }
}

TEST_CASE("tag_edits: our attribute yields to a foreign one with its name") {
    stemma::detail::wire_carrier_sink written;
    written.attribute("source_module", "/Net/A");
    const auto node = plain().inner(5, test::text_attribute("source_module", "theirs"));
    CHECK(edited(node, &written) == node.bytes());
    const std::array<std::string, 2> two{"/Net/A", "/Net/B"};
    written.attribute("hierarchy_tags", two);
    CHECK(edited(node, &written).size() > node.bytes().size());
}

TEST_CASE("tag_edits: a namespace is theirs unless the record says it is ours") {
    const auto node = plain().inner(9, test::entry("namespace", "a/b"));
    CHECK(stripped(node, false) == node.bytes());
    CHECK(stripped(node, true) == plain().bytes());
    const auto saved = plain().inner(9, test::entry("pkg.stemma.saved.namespace", "a/b"));
    CHECK(stripped(saved, true) == node.bytes());
}

TEST_CASE("tag_edits: a namespace after a saved one is ours even without a record") {
    const auto foreign = plain().inner(9, test::entry("namespace", "a/b"));
    const auto written = sink();
    const auto tagged = message().raw(edited(foreign, &written));
    CHECK(stripped(tagged) == foreign.bytes());
    CHECK(edited(tagged, &written) == tagged.bytes());
    const auto before = plain()
                            .inner(9, test::entry("namespace", "first"))
                            .inner(9, test::entry("pkg.stemma.saved.namespace", "second"));
    CHECK(stripped(before) == plain()
                                  .inner(9, test::entry("namespace", "first"))
                                  .inner(9, test::entry("namespace", "second"))
                                  .bytes());
}

TEST_CASE("tag_edits: only the marked last line of a doc string is ours") {
    const std::string line = std::string(stemma::detail::doc_line_mark) + "/Net";
    CHECK(tag_edits::split_doc_string("text\n" + line).kept == 4);
    CHECK(tag_edits::split_doc_string("\n" + line).kept == 0);
    CHECK_FALSE(tag_edits::split_doc_string("\n" + line).whole_field_ours);
    CHECK(tag_edits::split_doc_string(line).whole_field_ours);
    CHECK(tag_edits::split_doc_string("text\n" + line + "\nstemma#1a").kept == 4);
    CHECK(tag_edits::split_doc_string("text\nstemma#1a").kept == 4);
    CHECK(tag_edits::split_doc_string("stemma#1a").whole_field_ours);
    for (const auto& theirs : {std::string("text"), std::string(), line + "\nmore", "x" + line,
                               std::string("stemma#1a\nmore"), std::string("text\nstemma#1A")}) {
        const auto split = tag_edits::split_doc_string(theirs);
        CHECK(split.kept == theirs.size());
        CHECK_FALSE(split.whole_field_ours);
    }
}

TEST_CASE("tag_edits: a mark is the node's number, after the existing doc string") {
    stemma::detail::wire_carrier_sink written;
    written.mark();
    const auto with_doc = [&](std::string_view doc) { return plain().text(6, doc); };
    CHECK(edited(plain(), &written) == with_doc("stemma#0").bytes());
    CHECK(edited(with_doc("text"), &written) == with_doc("text\nstemma#0").bytes());
    CHECK(edited(with_doc(""), &written) == with_doc("\nstemma#0").bytes());
    CHECK(edited(with_doc("text\nstemma#7"), &written) == with_doc("text\nstemma#0").bytes());
    for (const auto* doc : {"text", "", "a\nb"}) {
        const auto marked = edited(with_doc(doc), &written);
        CHECK(marked != with_doc(doc).bytes());
        const auto both = std::string(doc) + "\nstemma#0";
        CHECK(stripped(with_doc(both)) == with_doc(doc).bytes());
    }
    written.doc_line(std::string(stemma::detail::doc_line_mark) + "{}");
    CHECK(edited(plain(), &written) == with_doc("pkg.stemma {}\nstemma#0").bytes());
    CHECK(stripped(with_doc("pkg.stemma {}\nstemma#0")) == plain().bytes());
}

TEST_CASE("tag_edits: repeated keys are all removed") {
    auto node = plain();
    for (const auto* module : {"a", "b"}) {
        node.inner(9, test::entry("pkg.stemma.module", module));
        node.inner(9, test::entry("pkg.stemma.source_module", module));
    }
    CHECK(stripped(node) == plain().bytes());
    stemma::detail::wire_carrier_sink written;
    written.metadata("pkg.stemma.module", "c");
    CHECK(edited(node, &written) ==
          plain().inner(9, test::entry("pkg.stemma.module", "c")).bytes());
}

TEST_CASE("tag_edits: entries of a model and of values are recognized by key") {
    const auto info =
        test::value_info("x").inner(4, test::entry("pkg.stemma.hierarchy_tags", "[]"));
    auto graph = test::graph({plain()}, {}, {"y"});
    graph.inner(11, info);
    const auto bytes = test::model(graph)
                           .inner(14, test::entry("author", "me"))
                           .inner(14, test::entry("pkg.stemma.model", "{}"))
                           .bytes();
    const stemma::wire_model model(bytes);
    const tag_edits editor(model, false);
    stemma::detail::message_edits edits;
    editor.edit_model("", edits);
    CHECK(edits.growth() ==
          -static_cast<std::int64_t>(
              message().inner(14, test::entry("pkg.stemma.model", "{}")).bytes().size()));
    edits.clear();
    for (const auto& one : model.value_infos()) {
        editor.edit_metadata(one, 4, "", edits);
    }
    CHECK(edits.growth() ==
          -static_cast<std::int64_t>(
              message().inner(4, test::entry("pkg.stemma.hierarchy_tags", "[]")).bytes().size()));
}

} // namespace test::record_detail_tag_edits
