// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/dot.hpp>

#include "../catch.hpp"
#include "../count_of.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/model/module_tree_builder.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace test::report_dot {

namespace {

using stemma::id;

} // namespace

TEST_CASE("shape_label: extents stand with a times sign between them", "[dot]") {
    CHECK(stemma::detail::shape_label("[1,seq,32]") == "1\xc3\x97seq\xc3\x97"
                                                       "32");
    CHECK(stemma::detail::shape_label("[2]") == "[2]");
    CHECK(stemma::detail::shape_label("[]") == "scalar");
    CHECK(stemma::detail::shape_label("").empty());
}

TEST_CASE("shortened: cuts between characters", "[dot]") {
    CHECK(stemma::detail::shortened("abc", 3) == "abc");
    CHECK(stemma::detail::shortened("abcd", 3) == "abc\xe2\x80\xa6");
    CHECK(stemma::detail::shortened("\xc3\xa4\xc3\xa4\xc3\xa4", 2) ==
          "\xc3\xa4\xc3\xa4\xe2\x80\xa6");
}

TEST_CASE("write_dot: open modules are clusters, closed ones and operators boxes", "[dot]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const test::tagged_model tagged(bytes, &tree);
    const stemma::value_descriptions describe(tagged.model);
    for (const id depth : {0U, 1U, 3U, stemma::no_id}) {
        for (const std::size_t most : {10U, 60U, 1000U}) {
            stemma::string_sink sink;
            stemma::write_dot(sink, tagged.ops, tree, tagged.found, {0, depth, most}, describe);
            CHECK(count_of(sink.text, "{") == count_of(sink.text, "}"));
            CHECK(count_of(sink.text, "subgraph cluster_") >= 1);
            CHECK(count_of(sink.text, "\nb") - count_of(sink.text, " -> ") <= most);
            if (most == 1000 && depth == stemma::no_id) {
                const auto shown = [&] {
                    std::size_t count = 0;
                    for (id v = 0; v < tagged.model.node_count(); ++v) {
                        count += tagged.model.op_type(v) == "Constant" ? 0U : 1U;
                    }
                    return count;
                }();
                CHECK(count_of(sink.text, "\nb") - count_of(sink.text, " -> ") == shown);
            }
        }
    }
}

TEST_CASE("write_dot: a root without name and class is the model", "[dot]") {
    const auto bytes =
        test::model(test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"}, {"y"})).bytes();
    const test::tagged_model tagged(bytes);
    stemma::string_sink sink;
    stemma::write_dot(sink, tagged.ops, tagged.modules, tagged.found, {},
                      stemma::value_descriptions(tagged.model));
    CHECK(count_of(sink.text, "<B>model</B>") == 1);
    CHECK(count_of(sink.text, "<B></B>") == 0);
}

TEST_CASE("label_text: is never empty, and holds no control characters", "[dot]") {
    CHECK(stemma::detail::label_text("") == " ");
    CHECK(stemma::detail::label_text("a\n<\t") == "a &lt; ");
    CHECK(stemma::detail::label_text("\xc3\xa4") == "\xc3\xa4");
}

TEST_CASE("write_dot: a name of nothing but control characters is a label all the same", "[dot]") {
    const auto bytes =
        test::model(test::graph({test::node("", {"x"}, {"\t"})}, {"x"}, {"\t"})).bytes();
    stemma::module_tree_builder builder("\t\n");
    builder.set_class(0, "\n", "");
    const auto tree = builder.build();
    const test::tagged_model tagged(bytes, &tree);
    stemma::string_sink sink;
    stemma::write_dot(sink, tagged.ops, tree, tagged.found, {},
                      stemma::value_descriptions(tagged.model));
    CHECK(count_of(sink.text, "<B></B>") + count_of(sink.text, "label=<>") == 0);
    CHECK(count_of(sink.text, "label=<&#") + count_of(sink.text, "<B>&#") == 0);
    CHECK(count_of(sink.text, "label=< >") == 1);
}

TEST_CASE("write_dot: text of a model cannot break out of its place", "[dot]") {
    const auto bytes = test::model(test::graph({test::node("<B>&\"", {"x"}, {"\"]\nx"}, "\"\\"),
                                                test::node("Relu", {"\"]\nx"}, {"y"})},
                                               {"x"}, {"y"}))
                           .bytes();
    const test::tagged_model tagged(bytes);
    stemma::string_sink sink;
    stemma::write_dot(sink, tagged.ops, tagged.modules, tagged.found, {},
                      stemma::value_descriptions(tagged.model));
    CHECK(count_of(sink.text, "&lt;B&gt;&amp;&quot;") == 1);
    CHECK(count_of(sink.text, "\"]\nx") == 0);
    CHECK(count_of(sink.text, "\\") == 0);
}

} // namespace test::report_dot
