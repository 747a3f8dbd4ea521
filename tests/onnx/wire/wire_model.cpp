// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/wire/wire_model.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../random_numbers.hpp"
#include "../../scratch_folder.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <stemma/error.hpp>
#include <stemma/io/file.hpp>
#include <stemma/onnx/flat_graph.hpp>

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

namespace test::onnx_wire_wire_model {

namespace {

using stemma::error_code;
using stemma::id;
using stemma::no_id;
using stemma::wire_model;

/// Returns: why a file is refused, or nothing when it is read.
std::optional<stemma::error> refusal_of(std::string_view bytes) {
    try {
        const wire_model model(bytes, "a file");
    } catch (const stemma::error& refusal) {
        return refusal;
    }
    return std::nullopt;
}

/// Reads a file and does with it what the program does: nothing may break, whatever it holds.
void use(std::string_view bytes) {
    const wire_model model(bytes);
    REQUIRE(stemma::flat_graph(model).vertex_count() == model.node_count());
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

/// A model whose `level`-th message around the innermost holds these bytes.
std::string model_with(std::size_t level, const std::string& bytes) {
    auto held = test::message().raw(bytes);
    if (level > 2) {
        held = test::message().inner(5, held); // in an attribute of
    }
    if (level > 1) {
        held = test::message().inner(1, held); // a node of
    }
    if (level > 0) {
        held = test::message().inner(7, held); // the graph of
    }
    return test::model(test::graph()).append(held).bytes();
}

} // namespace

TEST_CASE("wire_model: reads what a model says of itself", "[onnx][wire_model]") {
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
    CHECK(model.model_metadata().size() == 1);
    std::string metadata;
    model.for_each_model_metadata([&](std::string_view key, std::string_view value) {
        metadata.append(key).append("=").append(value);
    });
    CHECK(metadata == "author=someone");
}

TEST_CASE("wire_model: without an opset there is none", "[onnx][wire_model]") {
    const auto bytes = test::message().inner(7, test::graph()).bytes();
    const wire_model model(bytes);
    CHECK(model.opset_imports().empty());
    CHECK(model.ir_version() == 0);
    CHECK(model.producer_name().empty());
}

TEST_CASE("wire_model: of a scalar that is given twice the last one counts", "[onnx][wire_model]") {
    auto node = test::node("Relu", {"x"}, {"y"}, "first");
    node.text(3, "last").text(4, "Tanh").text(7, "d1").text(7, "d2").text(8, "o1").text(8, "o2");
    auto model = test::model(test::graph({node}).text(2, "renamed"), 7);
    const auto bytes = model.number(1, 9).text(2, "another").bytes();
    const wire_model read(bytes);
    CHECK(read.ir_version() == 9);
    CHECK(read.producer_name() == "another");
    CHECK(read.text(read.graph(0).name) == "renamed");
    CHECK(read.name(0) == "last");
    CHECK(read.op_type(0) == "Tanh");
    CHECK(read.domain(0) == "d2");
    CHECK(read.overload(0) == "o2");
}

TEST_CASE("wire_model: fields of another wire type are unknown ones", "[onnx][wire_model]") {
    auto node = test::node("Relu", {"x"}, {"y"}, "name");
    node.number(3, 5).fixed32(4, "four").group(1, test::message());
    const auto bytes = test::model(test::graph({node})).text(1, "no number").bytes();
    const wire_model model(bytes);
    CHECK(model.name(0) == "name");
    CHECK(model.op_type(0) == "Relu");
    CHECK(model.inputs(0).size() == 1);
    CHECK(model.ir_version() == 8);
}

TEST_CASE("wire_model: chunks of a graph are one graph", "[onnx][wire_model]") {
    auto chunks = test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "n0")}, {"x"}));
    chunks.inner(7, test::graph({test::node("Tanh", {"y"}, {"z"}, "n1")}, {}, {"z"}));
    const auto bytes = chunks.bytes();
    const wire_model model(bytes);
    CHECK(model.graph_count() == 1);
    REQUIRE(model.node_count() == 2);
    CHECK(model.position(1) == 1);
    CHECK(model.graph(0).node_count == 2);
    CHECK(model.producer(model.inputs(1)[0]) == 0);
    CHECK(model.containers().size() == 2);
    CHECK(model.containers()[0].graph == model.containers()[1].graph);
}

TEST_CASE("wire_model: gives the messages of nodes, tensors and value infos",
          "[onnx][wire_model]") {
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

TEST_CASE("wire_model: knows which nodes may hold tags", "[onnx][wire_model]") {
    const auto plain = test::node("Relu", {"x"}, {"y"});
    const auto with = [&](unsigned field, const test::message& more) {
        return test::node("Relu", {"x"}, {"y"}).inner(field, more);
    };
    const auto bytes =
        test::model(
            test::graph({plain, with(9, test::entry("k", "v")), with(6, test::message().raw("doc")),
                         with(5, test::text_attribute("source_module", "/A")),
                         with(5, test::text_attribute("hierarchy_tags", "/A")),
                         with(5, test::text_attribute("axis", "1"))}))
            .bytes();
    const wire_model model(bytes);
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

TEST_CASE("wire_model: reads the metadata of values", "[onnx][wire_model]") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"});
    graph.inner(5, test::tensor("w").inner(16, test::entry("on", "w")));
    graph.inner(5, test::tensor("v"));
    graph.inner(15, test::message().inner(1, test::tensor("s").inner(16, test::entry("on", "s"))));
    graph.inner(13, test::value_info("y").inner(4, test::entry("on", "y")));
    graph.inner(13, test::value_info("none").inner(4, test::entry("on", "none")));
    const auto bytes = test::model(graph).bytes();
    const wire_model model(bytes);
    std::vector<std::string> read;
    model.for_each_value_metadata([&](id value, std::string_view key, std::string_view text) {
        CHECK(key == "on");
        CHECK(model.value_name(value) == text);
        read.emplace_back(text);
    });
    CHECK(read == std::vector<std::string>{"w", "s", "y"});
}

TEST_CASE("wire_model: finds initializers of one number among those asked for",
          "[onnx][wire_model]") {
    const std::string ones("\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f", 12);
    const std::string others("\0\0\x80\x3f\0\0\x80\x3f\0\0\0\0", 12);
    auto graph = test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"});
    graph.inner(5, test::tensor("raw").text(9, ones));
    graph.inner(5, test::tensor("floats").text(4, ones));
    graph.inner(5, test::tensor("different").text(9, others));
    graph.inner(5, test::tensor("not asked").text(9, ones));
    graph.inner(5, test::tensor("elsewhere").number(14, 1));
    const auto bytes = test::model(graph).bytes();
    const wire_model model(bytes);
    std::vector<bool> asked(model.value_count(), true);
    for (id value = 0; value < model.value_count(); ++value) {
        asked[value] = model.value_name(value) != "not asked";
    }
    const auto uniform = model.find_uniform(asked);
    for (id value = 0; value < model.value_count(); ++value) {
        const auto name = model.value_name(value);
        CHECK(uniform[value] == (name == "raw" || name == "floats"));
    }
}

TEST_CASE("wire_model: leaves training_info alone", "[onnx][wire_model]") {
    auto model = test::model(test::graph({test::node("Relu", {"x"}, {"y"})}));
    model.inner(20, test::message().inner(2, test::graph({test::node("Adam", {"y"}, {"z"})})));
    const auto bytes = model.bytes();
    CHECK(wire_model(bytes).node_count() == 1);
}

TEST_CASE("wire_model: a file that ends early is refused, naming the byte, or still a model",
          "[onnx][wire_model][bad_input]") {
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

TEST_CASE("wire_model: what is no model is refused", "[onnx][wire_model][bad_input]") {
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

TEST_CASE("wire_model: random bytes are refused or a model", "[onnx][wire_model][bad_input]") {
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

TEST_CASE("wire_model: a graph with cycles is read", "[onnx][wire_model][bad_input]") {
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
    // A loop whose body starts with what the loop makes.
    const auto loop = test::graph({node("Relu", {"s"}, {"t"})}, {"i", "c", "s"}, {"c", "t"});
    use(test::model(test::graph({test::owner_node("Loop", {"n", "", "y"}, {"y"},
                                                  {test::graph_attribute("body", loop)})}))
            .bytes());
}

TEST_CASE("wire_model: repeated and empty names are read", "[onnx][wire_model][bad_input]") {
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

TEST_CASE("wire_model: a value that nothing defines is one undefined value",
          "[onnx][wire_model][bad_input]") {
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

TEST_CASE("wire_model: bodies nest as deep as protobuf reads, and no deeper",
          "[onnx][wire_model][bad_input]") {
    use(nested_bodies(32));
    const auto at_the_limit = nested_bodies(33);
    const wire_model deepest(at_the_limit);
    CHECK(deepest.graph_count() == 34);
    for (const std::size_t depth : {34U, 35U, 100U, 2000U}) {
        CAPTURE(depth);
        const auto refusal = refusal_of(nested_bodies(depth));
        REQUIRE(refusal);
        CHECK(refusal->code() == error_code::unsupported);
        CHECK(std::string(refusal->what()).find("byte ") != std::string::npos);
    }
}

TEST_CASE("wire_model: group bombs are refused at every level", "[onnx][wire_model][bad_input]") {
    for (std::size_t level = 0; level < 4; ++level) {
        for (const std::size_t depth : {101U, 5000U, 1000000U}) {
            CAPTURE(level, depth);
            const auto refusal = refusal_of(model_with(level, std::string(depth, '\x0b')));
            REQUIRE(refusal);
            CHECK(refusal->code() == error_code::malformed);
        }
    }
}

TEST_CASE("wire_model: lengths that no file has are refused at every level",
          "[onnx][wire_model][bad_input]") {
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

TEST_CASE("wire_model: a node with a million inputs is read", "[onnx][wire_model][bad_input]") {
    const std::size_t count = 1000000;
    test::names inputs(count, "x");
    inputs.front() = "y";
    inputs.back() = "another";
    const auto bytes = test::model(test::graph({test::node("Sum", inputs, {"y"}),
                                                test::node("Relu", {"y"}, {"z"})},
                                               {"x"}))
                           .bytes();
    const wire_model model(bytes);
    REQUIRE(model.inputs(0).size() == count);
    CHECK(model.inputs(0)[0] == model.first_output(0));
    CHECK(model.inputs(0)[1] == model.inputs(0)[count - 2]);
    CHECK(model.kind(model.inputs(0)[count - 1]) == stemma::value_kind::undefined);
    CHECK(stemma::flat_graph(model).edge_count() == 2);
}

TEST_CASE("wire_model: many operators and many functions find each other",
          "[onnx][wire_model][bad_input]") {
    const std::size_t count = 60000;
    test::message graph;
    test::message functions;
    for (std::size_t i = 0; i < count; ++i) {
        graph.inner(1, test::node("f" + std::to_string(i), {}, {}, {}, "local"));
        functions.inner(25,
                        test::function("local", "f" + std::to_string(count - 1 - i), {}, {}, {}));
    }
    const auto bytes = test::model(graph).append(functions).bytes();
    const wire_model model(bytes);
    REQUIRE(model.node_count() == count);
    bool all = true;
    for (id node = 0; node < count; ++node) {
        all = all && model.callee(node) == count - 1 - node;
    }
    CHECK(all);
}

TEST_CASE("wire_model: a file of 4 GiB is refused, one of 2 GiB of weights is read",
          "[onnx][wire_model][bad_input]") {
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

} // namespace test::onnx_wire_wire_model
