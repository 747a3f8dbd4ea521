// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire_model.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../random_model.hpp"
#include "../random_numbers.hpp"
#include "../refusal.hpp"
#include "../scratch_folder.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::onnx_wire_model {

namespace {

using stemma::error_code;
using stemma::id;
using stemma::no_id;
using stemma::wire_model;

/// Returns: why a file is rejected, or nothing if it is read.
std::optional<stemma::error> refusal_of(std::string_view bytes) {
    return test::find_refusal([&] { return wire_model(bytes, "a file"); });
}

test::message constant(std::string_view result, const test::message& tensor) {
    return test::node("Constant", {}, {std::string(result)})
        .inner(5, test::message().text(1, "value").inner(5, tensor).number(20, 4));
}

void check_same(const wire_model& one, const wire_model& other) {
    const auto same_message = [](stemma::message_ref a, stemma::message_ref b) {
        return a.begin == b.begin && a.size == b.size && a.container == b.container;
    };
    const auto same_text = [](stemma::onnx_model::text_ref a, stemma::onnx_model::text_ref b) {
        return a.size == b.size && (a.size == 0 || a.offset == b.offset);
    };
    REQUIRE(one.node_count() == other.node_count());
    REQUIRE(one.value_count() == other.value_count());
    REQUIRE(one.graph_count() == other.graph_count());
    REQUIRE(one.operator_count() == other.operator_count());
    // A million assertions would take longer than what they check.
    const auto same_node = [&](id v) {
        return same_message(one.message(v), other.message(v)) &&
               one.name(v).data() == other.name(v).data() &&
               one.operator_id(v) == other.operator_id(v) && one.graph_of(v) == other.graph_of(v) &&
               one.position(v) == other.position(v) &&
               one.first_output(v) == other.first_output(v) &&
               one.output_count(v) == other.output_count(v) &&
               ranges::equal(one.inputs(v), other.inputs(v)) &&
               one.may_hold_tags(v) == other.may_hold_tags(v) &&
               one.has_metadata(v) == other.has_metadata(v) &&
               one.length_size(one.message(v)) == other.length_size(one.message(v));
    };
    id same = 0;
    while (same < one.node_count() && same_node(same)) {
        ++same;
    }
    REQUIRE(same == one.node_count());
    const auto same_value = [&](id v) {
        return one.value_name(v).data() == other.value_name(v).data() &&
               one.kind(v) == other.kind(v) && one.graph_of_value(v) == other.graph_of_value(v) &&
               one.producer(v) == other.producer(v);
    };
    id alike = 0;
    while (alike < one.value_count() && same_value(alike)) {
        ++alike;
    }
    REQUIRE(alike == one.value_count());
    for (id op = 0; op < one.operator_count(); ++op) {
        REQUIRE(one.operator_type(op) == other.operator_type(op));
        REQUIRE(one.operator_callee(op) == other.operator_callee(op));
    }
    for (id g = 0; g < one.graph_count(); ++g) {
        const auto& a = one.graph(g);
        const auto& b = other.graph(g);
        REQUIRE(a.kind == b.kind);
        REQUIRE(a.owner == b.owner);
        REQUIRE(a.node_count == b.node_count);
        REQUIRE(same_text(a.name, b.name));
        REQUIRE(one.graph_path(g) == other.graph_path(g));
        REQUIRE(a.inputs == b.inputs);
        REQUIRE(a.outputs == b.outputs);
        REQUIRE(a.initializers == b.initializers);
    }
    REQUIRE(ranges::equal(one.redefined(), other.redefined()));
    REQUIRE(ranges::equal(one.containers(), other.containers(), [](const auto& a, const auto& b) {
        return a.begin == b.begin && a.size == b.size && a.graph == b.graph &&
               a.parent == b.parent && a.owner == b.owner && a.ends_before == b.ends_before;
    }));
    REQUIRE(ranges::equal(one.tensors(), other.tensors(), [&](const auto& a, const auto& b) {
        return same_message(a.message, b.message) && a.graph == b.graph && a.value == b.value &&
               a.sparse == b.sparse && same_text(a.name, b.name);
    }));
    REQUIRE(
        ranges::equal(one.value_infos(), other.value_infos(), [&](const auto& a, const auto& b) {
            return same_message(a.message, b.message) && a.graph == b.graph && a.value == b.value &&
                   a.field == b.field && same_text(a.name, b.name);
        }));
    REQUIRE(
        ranges::equal(one.graph_fields(), other.graph_fields(), [](const auto& a, const auto& b) {
            return a.graph == b.graph && a.field.begin == b.field.begin &&
                   a.field.number == b.field.number;
        }));
    const auto metadata_of = [](const wire_model& model) {
        std::vector<std::string> all;
        model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
            all.push_back(std::to_string(value).append(key).append("=").append(text));
        });
        return all;
    };
    REQUIRE(metadata_of(one) == metadata_of(other));
}

/// Reads a file with one thread and with several, however small it is.
void check_threads(std::string_view bytes) {
    const auto refusal = refusal_of(bytes);
    const auto expected = refusal ? std::nullopt : std::optional<wire_model>(bytes);
    for (const unsigned most : {2U, 3U, 7U}) {
        const stemma::thread_scope threads({most, 1});
        CAPTURE(most);
        if (refusal) {
            const auto again = refusal_of(bytes);
            REQUIRE(again);
            CHECK(again->what() == std::string_view(refusal->what()));
        } else {
            check_same(*expected, wire_model(bytes));
        }
    }
}

/// Reads a file and processes it as the program would: nothing may break, whatever it contains.
void use(std::string_view bytes) {
    const wire_model model(bytes);
    REQUIRE(stemma::detail::flat_graph(model).vertex_count() == model.node_count());
    const auto tagged = test::tag(bytes, test::carriers_of(31));
    const bool comes_back = test::strip(tagged) == bytes;
    CHECK(comes_back);
}

std::string nested_bodies(std::size_t depth) {
    auto body = test::graph({test::node("Relu", {"x"}, {"y"})});
    for (std::size_t i = 0; i < depth; ++i) {
        body = test::graph(
            {test::owner_node("If", {"x"}, {"y"}, {test::graph_attribute("then_branch", body)})});
    }
    return test::model(body).bytes();
}

/// A model whose message at nesting level `level` has these bytes.
std::string model_with(std::size_t level, const std::string& bytes) {
    auto nested = test::message().raw(bytes);
    if (level > 2) {
        nested = test::message().inner(5, nested); // in an attribute of
    }
    if (level > 1) {
        nested = test::message().inner(1, nested); // a node of
    }
    if (level > 0) {
        nested = test::message().inner(7, nested); // the graph of
    }
    return test::model(test::graph()).append(nested).bytes();
}

} // namespace

TEST_CASE("wire_model: reads a model's description of itself") {
    const auto bytes = test::message()
                           .number(1, 10)
                           .text(2, "a tool")
                           .text(3, "1.2")
                           .inner(8, test::opset("", 21))
                           .inner(8, test::opset("local", 1))
                           .inner(14, test::entry("author", "someone"))
                           .inner(7, test::message().text(2, "main_graph"))
                           .bytes();
    const wire_model model(bytes, "the file");
    CHECK(model.file() == "the file");
    CHECK(model.bytes() == bytes);
    CHECK(model.ir_version() == 10);
    CHECK(model.producer_name() == "a tool");
    CHECK(model.producer_version() == "1.2");
    REQUIRE(model.opset_imports().size() == 2);
    CHECK(model.opset_imports()[0].domain.empty());
    CHECK(model.opset_imports()[0].version == 21);
    CHECK(model.opset_imports()[1].domain == "local");
    CHECK(model.text(model.graph(0).name) == "main_graph");
    std::string metadata;
    model.for_each_model_metadata([&](std::string_view key, std::string_view value) {
        metadata.append(key).append("=").append(value);
    });
    CHECK(metadata == "author=someone");
}

TEST_CASE("wire_model: without an opset there is none") {
    const test::built_model model(test::message().inner(7, test::graph()));
    CHECK(model.opset_imports().empty());
    CHECK(model.ir_version() == 0);
    CHECK(model.producer_name().empty());
}

TEST_CASE("wire_model: the last of repeated scalars counts") {
    auto node = test::node("Relu", {"x"}, {"y"}, "first");
    node.text(3, "last").text(4, "Tanh").text(7, "d1").text(7, "d2").text(8, "o1").text(8, "o2");
    auto model = test::model(test::graph({node}).text(2, "renamed"), 7);
    const test::built_model read(model.number(1, 9).text(2, "another"));
    CHECK(read.ir_version() == 9);
    CHECK(read.producer_name() == "another");
    CHECK(read.text(read.graph(0).name) == "renamed");
    CHECK(read.name(0) == "last");
    CHECK(read.op_type(0) == "Tanh");
    CHECK(read.domain(0) == "d2");
    CHECK(read.overload(0) == "o2");
}

TEST_CASE("wire_model: fields of another wire type are unknown ones") {
    auto node = test::node("Relu", {"x"}, {"y"}, "name");
    node.number(3, 5).fixed32(4, "four").group(1, test::message());
    const test::built_model model(test::model(test::graph({node})).text(1, "no number"));
    CHECK(model.name(0) == "name");
    CHECK(model.op_type(0) == "Relu");
    CHECK(model.inputs(0).size() == 1);
    CHECK(model.ir_version() == 8);
}

TEST_CASE("wire_model: chunks of a graph are one graph") {
    auto chunks = test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "n0")}, {"x"}));
    chunks.inner(7, test::graph({test::node("Tanh", {"y"}, {"z"}, "n1")}, {}, {"z"}));
    const test::built_model model(chunks);
    CHECK(model.graph_count() == 1);
    REQUIRE(model.node_count() == 2);
    CHECK(model.position(1) == 1);
    CHECK(model.graph(0).node_count == 2);
    CHECK(model.producer(model.inputs(1)[0]) == 0);
    CHECK(model.containers().size() == 2);
    CHECK(model.containers()[0].graph == model.containers()[1].graph);
}

TEST_CASE("wire_model: finds the messages of nodes, tensors and value infos") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"}, {"y"}, {"w"});
    graph.inner(13, test::value_info("y")).inner(13, test::value_info("nobody's"));
    graph.inner(15, test::sparse_tensor("s"))
        .inner(15, test::message().inner(2, test::tensor("i")));
    const auto bytes = test::model(graph).bytes();
    const wire_model model(bytes);
    const auto message = model.message(0);
    CHECK(bytes.substr(message.begin, message.size) == test::node("Relu", {"x"}, {"y"}).bytes());

    REQUIRE(model.tensors().size() == 2);
    const auto& dense = model.tensors()[0];
    const auto& sparse = model.tensors()[1];
    CHECK(bytes.substr(dense.message.begin, dense.message.size) == test::tensor("w").bytes());
    CHECK(bytes.substr(sparse.message.begin, sparse.message.size) == test::tensor("s").bytes());
    CHECK_FALSE(dense.sparse);
    CHECK(sparse.sparse);
    CHECK(dense.value == test::value_called(model, "w"));
    CHECK(model.kind(sparse.value) == stemma::value_kind::sparse_initializer);

    REQUIRE(model.value_infos().size() == 4);
    std::vector<std::uint32_t> fields;
    for (const auto& info : model.value_infos()) {
        fields.push_back(info.field);
        const bool is_nobodys = model.text(info.name) == "nobody's";
        CHECK((info.value == no_id) == is_nobodys);
        CHECK((is_nobodys || model.value_name(info.value) == model.text(info.name)));
    }
    CHECK(fields == std::vector<std::uint32_t>{11, 12, 13, 13});
}

TEST_CASE("wire_model: knows which nodes may hold tags") {
    const auto plain = test::node("Relu", {"x"}, {"y"});
    const auto with = [&](unsigned field, const test::message& more) {
        return test::node("Relu", {"x"}, {"y"}).inner(field, more);
    };
    const test::built_model model(test::model(
        test::graph({plain, with(9, test::entry("k", "v")), with(6, test::message().raw("doc")),
                     with(5, test::text_attribute("source_module", "/A")),
                     with(5, test::text_attribute("hierarchy_tags", "/A")),
                     with(5, test::text_attribute("axis", "1"))})));
    const std::vector<bool> expected{false, true, true, true, true, false};
    for (id node = 0; node < model.node_count(); ++node) {
        CHECK(model.may_hold_tags(node) == expected[node]);
        CHECK(model.has_metadata(node) == (node == 1));
    }
    std::string read;
    model.for_each_metadata(1, [&](std::string_view key, std::string_view value) {
        read.append(key).append("=").append(value);
    });
    CHECK(read == "k=v");
}

TEST_CASE("wire_model: reads the metadata of values") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"});
    graph.inner(5, test::tensor("w").inner(16, test::entry("on", "w")));
    graph.inner(5, test::tensor("v"));
    graph.inner(15, test::message().inner(1, test::tensor("s").inner(16, test::entry("on", "s"))));
    graph.inner(13, test::value_info("y").inner(4, test::entry("on", "y")));
    graph.inner(13, test::value_info("none").inner(4, test::entry("on", "none")));
    const test::built_model model(test::model(graph));
    std::vector<std::string> read;
    model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
        CHECK(key == "on");
        CHECK(model.value_name(value) == text);
        read.emplace_back(text);
    });
    CHECK(read == std::vector<std::string>{"w", "s", "y"});
}

TEST_CASE("wire_model: finds uniform initializers among those marked") {
    const std::string ones("\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f", 12);
    const std::string others("\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0", 12);
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"});
    graph.inner(5, test::tensor("raw").text(9, ones));
    graph.inner(5, test::tensor("floats").text(4, ones));
    graph.inner(5, test::tensor("different").text(9, others));
    graph.inner(5, test::tensor("one").text(9, ones.substr(0, 4)));
    graph.inner(5, test::tensor("a third").text(9, "\xab\xaa\xaa\x3e"));
    graph.inner(5, test::tensor("not asked").text(9, ones));
    graph.inner(5, test::tensor("elsewhere").number(14, 1));
    graph.inner(1, constant("held", test::tensor("").text(9, ones)));
    graph.inner(1, constant("held differently", test::tensor("").text(9, others)));
    const test::built_model model(test::model(graph));
    std::vector<bool> asked(model.value_count(), true);
    for (id value = 0; value < model.value_count(); ++value) {
        asked[value] = model.value_name(value) != "not asked";
    }
    const auto uniform = model.find_uniform(asked);
    for (id value = 0; value < model.value_count(); ++value) {
        const auto name = model.value_name(value);
        CHECK(uniform[value] ==
              (name == "raw" || name == "floats" || name == "one" || name == "held"));
    }
}

TEST_CASE("wire_model: finds initializers that must be weights") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"});
    graph.inner(5, test::tensor("matrix", {4, 8}));
    graph.inner(5, test::tensor("vector", {8}));
    graph.inner(5, test::message().number(1, 4).number(1, 8).number(2, 7).text(8, "indices"));
    graph.inner(5, test::tensor("not asked", {4, 8}));
    graph.inner(1, constant("held", test::tensor("", {4, 8})));
    graph.inner(1, constant("held vector", test::tensor("", {8})));
    const test::built_model model(test::model(graph));
    std::vector<bool> asked(model.value_count(), true);
    for (id value = 0; value < model.value_count(); ++value) {
        asked[value] = model.value_name(value) != "not asked";
    }
    const auto matrices = model.find_matrices(asked);
    for (id value = 0; value < model.value_count(); ++value) {
        const auto name = model.value_name(value);
        CHECK(matrices[value] == (name == "matrix" || name == "held"));
    }
}

TEST_CASE("is_weight_matrix: two extents above one, and a weight type") {
    using stemma::detail::is_weight_matrix;
    using extents = std::vector<std::int64_t>;
    for (const auto& dims : {extents{4, 8}, {8, 3, 3, 3}, {2, 1, 2}, {64, 64}, {32, 1}}) {
        for (std::int64_t type = 1; type <= 22; ++type) {
            CHECK(is_weight_matrix(type, dims) == (type < 6 || type > 9)); // indices, masks, texts
        }
    }
    for (const auto& dims : {extents{}, {768}, {1, 768, 1}}) {
        CHECK_FALSE(is_weight_matrix(1, dims));
    }
}

TEST_CASE("wire_model: Constants may hold weights") {
    const auto counts = test::message().number(1, 2).number(2, 7);
    const test::built_model model(test::model(test::graph(
        {constant("vector", test::tensor("", {8})), constant("scalar", test::tensor("")),
         constant("counts", counts), test::node("Constant", {}, {"nothing"})})));
    for (id node = 0; node < model.node_count(); ++node) {
        CHECK(model.may_hold_weight(node) == (node == 0));
    }
}

TEST_CASE("wire_model: knows the attributes of nodes by name, those that are set") {
    auto node = test::node("Conv", {"x"}, {"y"});
    node.inner(5, test::message().text(1, "group"));
    node.inner(5, test::message().text(1, "zero").number(3, 0).number(20, 2));
    node.inner(5, test::message().text(1, "one").number(3, 1).number(20, 2));
    node.inner(5, test::message().text(1, "empty").text(4, "").number(20, 3));
    node.inner(5, test::message().text(1, "text").text(4, "Relu").number(20, 3));
    const test::built_model model({node, test::node("Relu", {"y"}, {"z"})}, {"x"});
    for (const auto* name : {"group", "one", "text"}) {
        CHECK(model.sets_attribute(0, name));
        CHECK_FALSE(model.sets_attribute(1, name));
    }
    for (const auto* name : {"groups", "zero", "empty"}) {
        CHECK_FALSE(model.sets_attribute(0, name));
    }
}

TEST_CASE("wire_model: results are independent of the number of threads") {
    for (const auto& path : test::model_files()) {
        CAPTURE(path);
        check_threads(test::read_bytes(path));
    }
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        check_threads(test::random_model(seed, true).bytes());
    }
}

TEST_CASE("wire_model: threads agree on names that are defined late, twice or never") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        test::random_numbers random(seed);
        const auto name = [&] { return "v" + std::to_string(random(400)); };
        std::vector<test::message> nodes;
        for (int i = 0; i < 300; ++i) {
            if (random.one_in(10)) {
                const auto body = test::graph(
                    {test::node("Neg", {name()}, {name()}), test::node("Abs", {name()}, {name()})});
                nodes.push_back(test::owner_node("If", {name()}, {name()},
                                                 {test::graph_attribute("then_branch", body)}));
            } else {
                nodes.push_back(test::node(random.one_in(2) ? "Add" : "Mul", {name(), name()},
                                           {name()}, "/m" + std::to_string(i) + "/Add"));
            }
        }
        check_threads(test::model(test::graph(nodes, {name(), name()}, {name(), name()})).bytes());
    }
}

TEST_CASE("wire_model: threads reject a damaged file for the same reason") {
    const auto whole = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    test::random_numbers random(5);
    for (int i = 0; i < 100; ++i) {
        auto bytes = whole;
        for (std::size_t n = 1 + random(3); n > 0; --n) {
            bytes[random(bytes.size())] = static_cast<char>(random(256));
        }
        check_threads(bytes);
    }
    // Values of an attribute that look like operators.
    std::vector<test::message> nodes;
    std::string inside;
    for (int i = 0; i < 400; ++i) {
        inside += test::message().inner(1, test::node("Neg", {"a"}, {"b"})).bytes();
    }
    nodes.push_back(test::node("Constant", {}, {"a"}));
    nodes.back().inner(5, test::message().text(1, "value").text(4, inside));
    check_threads(test::model(test::graph(nodes)).bytes());
}

TEST_CASE("wire_model: ignores training_info") {
    auto model = test::model(test::graph({test::node("Relu", {"x"}, {"y"})}));
    model.inner(20, test::message().inner(2, test::graph({test::node("Adam", {"y"}, {"z"})})));
    const auto bytes = model.bytes();
    CHECK(wire_model(bytes).node_count() == 1);
}

TEST_CASE("wire_model: rejects truncated files by byte, unless still a model") {
    for (const auto* name :
         {"mlp/model.onnx", "control_flow/model.onnx", "shared_twice/model.functions.onnx",
          "bert_micro/model.keepinit.onnx", "resnet18/model.structure.onnx"}) {
        const auto bytes = test::read_bytes(test::fixture(name));
        for (std::size_t part = 0; part < 64; ++part) {
            const auto cut = std::string_view(bytes).substr(0, bytes.size() * part / 64);
            CAPTURE(name, part);
            const auto refusal = refusal_of(cut);
            if (!refusal) {
                use(cut);
                continue;
            }
            const std::string text = refusal->what();
            CHECK(refusal->code() == error_code::malformed);
            CHECK(text.find("a file: ") == 0);
            const bool says_where = text.find("byte ") != text.npos ||
                                    text.find("is empty") != text.npos ||
                                    text.find("has no graph") != text.npos;
            CHECK(says_where);
        }
    }
}

TEST_CASE("wire_model: rejects anything but a model") {
    REQUIRE(refusal_of(""));
    CHECK(refusal_of("")->what() == std::string("a file: the file is empty"));
    const std::vector<std::string> texts{
        "this is a text and no model\n",
        "{\"format\": \"json\"}",
        "PK\x03\x04 a zip archive",
        "<html></html>",
        test::message().number(1, 8).bytes(),
        test::message().text(2, "only a producer").bytes(),
        test::message().number(7, 8).bytes(),
        std::string(1000, '\0'),
        std::string(1000, '\xff'),
    };
    for (const auto& text : texts) {
        CAPTURE(text.substr(0, 20));
        const auto refusal = refusal_of(text);
        REQUIRE(refusal);
        CHECK(refusal->code() == error_code::malformed);
        CHECK(std::string_view(refusal->what()).find('\n') == std::string_view::npos);
    }
}

TEST_CASE("wire_model: reads or rejects random bytes") {
    test::random_numbers random(17);
    for (int i = 0; i < 3000; ++i) {
        auto bytes = random.bytes(random(200));
        if (i % 2 == 0) {
            bytes = test::message().text(7, bytes).bytes();
        }
        if (const auto refusal = refusal_of(bytes)) {
            CHECK(refusal->code() == error_code::malformed);
        }
    }
}

TEST_CASE("wire_model: reads a graph with cycles") {
    using test::node;
    use(test::model(test::graph({node("Add", {"x", "c"}, {"a"}), node("Relu", {"a"}, {"b"}),
                                 node("Tanh", {"b"}, {"c"})}))
            .bytes());
    use(test::model(test::graph({node("Relu", {"a"}, {"a"}, "/m/itself")})).bytes());
    // A body whose result is its owner's input.
    const auto body = test::graph({node("Relu", {"y"}, {"b"})}, {}, {"b"});
    use(test::model(test::graph({test::owner_node("If", {"y"}, {"y"},
                                                  {test::graph_attribute("then_branch", body)})}))
            .bytes());
    // A loop whose body starts with the loop's result.
    const auto loop = test::graph({node("Relu", {"s"}, {"t"})}, {"i", "c", "s"}, {"c", "t"});
    use(test::model(test::graph({test::owner_node("Loop", {"n", "", "y"}, {"y"},
                                                  {test::graph_attribute("body", loop)})}))
            .bytes());
}

TEST_CASE("wire_model: reads repeated and empty names") {
    using test::node;
    const auto bytes =
        test::model(
            test::graph({node("Relu", {"x"}, {"y"}, "same"), node("Tanh", {"x"}, {"y"}, "same"),
                         node("Add", {"y", ""}, {"", "z"}), node("", {"z"}, {}, "")},
                        {"x", "x", ""}, {"z", "z", "", "missing"}, {"x", "w", "w", ""}))
            .bytes();
    use(bytes);
    const wire_model model(bytes);
    CHECK(model.inputs(2)[0] == model.first_output(0)); // the first definition counts
    CHECK(model.inputs(2)[1] == no_id);
    CHECK(model.output_count(2) == 2);
    CHECK(model.value_name(model.first_output(2)).empty());
    std::vector<std::string> redefined;
    for (auto value : model.redefined()) {
        redefined.emplace_back(model.value_name(value));
    }
    CHECK(redefined == std::vector<std::string>{"y", "w"});
    REQUIRE(model.graph(0).outputs.size() == 4);
    CHECK(model.graph(0).outputs[0] == model.graph(0).outputs[1]);
    CHECK(model.graph(0).outputs[2] == no_id);
    CHECK(model.kind(model.graph(0).outputs[3]) == stemma::value_kind::undefined);
}

TEST_CASE("wire_model: an undefined name is one undefined value") {
    const auto body = test::graph({test::node("Relu", {"ghost"}, {"b"}, "inside")}, {}, {"b"});
    const auto bytes =
        test::model(test::graph({test::owner_node("If", {"ghost"}, {"y"},
                                                  {test::graph_attribute("then_branch", body)})}))
            .bytes();
    use(bytes);
    const wire_model model(bytes);
    REQUIRE(model.node_count() == 2);
    const auto ghost = model.inputs(0)[0];
    CHECK(model.kind(ghost) == stemma::value_kind::undefined);
    CHECK(model.inputs(1)[0] == ghost);
    CHECK(model.producer(ghost) == no_id);
    CHECK(model.graph_of_value(ghost) == 0);
}

TEST_CASE("wire_model: bodies nest as deep as in protobuf, and no deeper") {
    use(nested_bodies(32));
    const test::built_model deepest(nested_bodies(33));
    CHECK(deepest.graph_count() == 34);
    for (const std::size_t depth : {34U, 35U, 100U, 2000U}) {
        CAPTURE(depth);
        const auto refusal = refusal_of(nested_bodies(depth));
        REQUIRE(refusal);
        CHECK(refusal->code() == error_code::unsupported);
        CHECK(std::string(refusal->what()).find("byte ") != std::string::npos);
    }
}

TEST_CASE("wire_model: rejects group bombs at every level") {
    for (std::size_t level = 0; level < 4; ++level) {
        for (const std::size_t depth : {101U, 5000U, 1000000U}) {
            CAPTURE(level, depth);
            const auto refusal = refusal_of(model_with(level, std::string(depth, '\x0b')));
            REQUIRE(refusal);
            CHECK(refusal->code() == error_code::malformed);
        }
    }
}

TEST_CASE("wire_model: rejects impossible lengths at every level") {
    for (std::size_t level = 0; level < 4; ++level) {
        for (const unsigned field : {1U, 5U, 7U, 11U, 25U, 100U}) {
            for (const std::uint64_t length : {1ULL << 31U, 1ULL << 32U, 1ULL << 63U, ~0ULL}) {
                std::string bytes;
                test::put_varint(field << 3U | 2U, bytes);
                test::put_varint(length, bytes);
                CAPTURE(level, field, length);
                const auto refusal = refusal_of(model_with(level, bytes));
                REQUIRE(refusal);
                CHECK(refusal->code() == error_code::malformed);
            }
        }
    }
}

TEST_CASE("wire_model: reads a node with a million inputs") {
    const std::size_t count = 1000000;
    test::names inputs(count, "x");
    inputs.front() = "y";
    inputs.back() = "another";
    const test::built_model model(
        {test::node("Sum", inputs, {"y"}), test::node("Relu", {"y"}, {"z"})}, {"x"});
    REQUIRE(model.inputs(0).size() == count);
    CHECK(model.inputs(0)[0] == model.first_output(0));
    CHECK(model.inputs(0)[1] == model.inputs(0)[count - 2]);
    CHECK(model.kind(model.inputs(0)[count - 1]) == stemma::value_kind::undefined);
    CHECK(stemma::detail::flat_graph(model).edge_count() == 2);
}

TEST_CASE("wire_model: many operators and many functions find each other") {
    const std::size_t count = 60000;
    test::message graph;
    test::message functions;
    for (std::size_t i = 0; i < count; ++i) {
        graph.inner(1, test::node("f" + std::to_string(i), {}, {}, {}, "local"));
        functions.inner(25,
                        test::function("local", "f" + std::to_string(count - 1 - i), {}, {}, {}));
    }
    const test::built_model model(test::model(graph).append(functions));
    REQUIRE(model.node_count() == count);
    bool all = true;
    for (id node = 0; node < count; ++node) {
        all = all && model.callee(node) == count - 1 - node;
    }
    CHECK(all);
}

TEST_CASE("wire_model: rejects a file of 4 GiB, but reads one with 2 GiB of weights") {
    const test::scratch_folder folder;
    const auto with_hole = [&](const char* name, std::uint64_t hole) {
        std::string head;
        test::put_varint(7U << 3U | 2U, head);
        test::put_varint(hole + 12, head, 5);
        test::put_varint(5U << 3U | 2U, head);
        test::put_varint(hole + 6, head, 5);
        test::put_varint(9U << 3U | 2U, head);
        test::put_varint(hole, head, 5);
        std::ofstream out(folder.file(name), std::ios::binary);
        out << head;
        out.close();
        std::filesystem::resize_file(folder.file(name), head.size() + hole);
        return folder.file(name);
    };
    const stemma::mapped_file large(with_hole("large.onnx", (std::uint64_t{1} << 31U) + 1000));
    const wire_model model(large.bytes());
    CHECK(model.tensors().size() == 1);
    const stemma::mapped_file larger(with_hole("larger.onnx", std::uint64_t{1} << 32U));
    const auto refusal = refusal_of(larger.bytes());
    REQUIRE(refusal);
    CHECK(refusal->code() == error_code::unsupported);
}

} // namespace test::onnx_wire_model
