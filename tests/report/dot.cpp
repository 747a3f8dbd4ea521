// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/dot.hpp>

#include "../catch.hpp"
#include "../count_of.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"
#include "../tagged_fixture.hpp"
#include "../wire_builder.hpp"

#include <stemma/model/module_tree_builder.hpp>
#include <stemma/types/value_descriptions.hpp>

#include <algorithm>
#include <string>

namespace test::report_dot {

namespace {

using stemma::id;

} // namespace

TEST_CASE("write_dot: open modules are clusters, closed ones and operators boxes", "[dot]") {
    const test::tagged_fixture tagged("bert_micro");
    const stemma::value_descriptions describe(tagged.model);
    for (const id depth : {0U, 1U, 3U, stemma::no_id}) {
        for (const std::size_t most : {10U, 60U, 1000U}) {
            stemma::string_sink sink;
            stemma::write_dot(sink, tagged.ops, tagged.modules, tagged.found, {0, depth, most},
                              describe);
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

namespace {

/// The second node reads what comes from outside.
struct reads_x : stemma::detail::no_annotations {
    template <class Function>
    void for_each_input(id node, Function f) const {
        if (node == 1) {
            f(0);
        }
    }
};

struct all_quiet : stemma::detail::no_annotations {
    [[nodiscard]] bool is_quiet(id) const { return true; }
};

} // namespace

TEST_CASE(
    "write_dot: shape arithmetic is one box, and equal modules without a class have one colour",
    "[dot]") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model tagged(bytes);
    const stemma::value_descriptions describe(tagged.model);
    stemma::string_sink loud;
    stemma::write_dot(loud, tagged.ops, tagged.modules, tagged.found, {}, describe);
    CHECK(count_of(loud.text, "shape arithmetic") == 0);
    stemma::string_sink quiet;
    stemma::write_dot(quiet, tagged.ops, tagged.modules, tagged.found, {}, describe, all_quiet());
    CHECK(count_of(quiet.text, "shape arithmetic") >= 1);
    CHECK(count_of(quiet.text, "\nb") < count_of(loud.text, "\nb"));
    const auto fill_of = [&](const std::string& path) {
        const auto end = loud.text.find("tooltip=\"" + path + "\"");
        REQUIRE(end != std::string::npos);
        const auto fill = loud.text.rfind("fillcolor=\"", end);
        return loud.text.substr(fill, 20);
    };
    CHECK(fill_of("encoder.layer.0") == fill_of("encoder.layer.1"));
    CHECK(fill_of("encoder.layer.0") != fill_of("pooler"));
}

TEST_CASE("write_dot: a box without inputs is at the level of its only reader", "[dot]") {
    const auto bytes = test::model(test::graph({test::node("DequantizeLinear", {"w"}, {"a"}),
                                                test::node("Relu", {"x"}, {"b"}),
                                                test::node("MatMul", {"b", "a"}, {"y"})},
                                               {"x"}, {"y"}, {"w"}))
                           .bytes();
    const test::tagged_model tagged(bytes);
    const stemma::value_descriptions describe(tagged.model);
    stemma::string_sink sink;
    stemma::write_dot(sink, tagged.ops, tagged.modules, tagged.found, {}, describe, reads_x());
    CHECK(count_of(sink.text, "minlen=0") == 1);
    CHECK(count_of(sink.text, "i0 -> ") == 1);
}

TEST_CASE("write_dot: a name of only control characters still gives a label", "[dot]") {
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

TEST_CASE("write_dot: text of a model is escaped", "[dot]") {
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
