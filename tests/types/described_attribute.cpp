// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/described_attribute.hpp>

#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/model_file.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::types_described_attribute {

namespace {

/// A model of one node with some attributes.
std::vector<stemma::described_attribute> describe(const std::vector<test::message>& attributes,
                                                  const std::string& op_type = "Conv",
                                                  const std::string& domain = "") {
    test::message node;
    node.text(1, "x").text(2, "y").text(4, op_type);
    for (const auto& one : attributes) {
        node.text(5, one.bytes());
    }
    if (!domain.empty()) {
        node.text(7, domain);
    }
    test::message graph;
    graph.text(1, node.bytes());
    test::message model;
    model.number(1, 8).text(7, graph.bytes());
    const stemma::model_file file(stemma::mapped_file::holding(model.bytes(), "test"));
    // Nodes of bodies come first.
    return stemma::describe_attributes(file.model(), file.model().node_count() - 1);
}

test::message named(const std::string& name, unsigned type) {
    test::message one;
    one.text(1, name).number(20, type);
    return one;
}

std::string text_of(const test::message& attribute, const std::string& op_type = "Conv",
                    const std::string& domain = "") {
    const auto all = describe({attribute}, op_type, domain);
    REQUIRE(all.size() == 1);
    return to_text(all[0]);
}

std::string float_bytes(float number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
}

stemma::detail::tensor_text read(const std::string& bytes, std::size_t most = 4) {
    return stemma::detail::read_tensor_text(
        stemma::detail::wire_reader(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                                    "tensor"),
        most);
}

} // namespace

TEST_CASE("described_attribute: numbers, texts and lists are human-readable") {
    CHECK(text_of(named("group", 2).number(3, 1)) == "group=1");
    CHECK(text_of(named("axis", 2).number(3, ~std::uint64_t{0})) == "axis=-1");
    CHECK(text_of(named("axis", 2)) == "axis=0"); // a 0 need not be written
    CHECK(text_of(named("auto_pad", 3).text(4, "SAME_UPPER")) == "auto_pad=SAME_UPPER");
    CHECK(text_of(named("strides", 7).number(8, 2).number(8, 3)) == "strides=[2,3]");
    CHECK(text_of(named("strides", 7).text(8, "\x02\x03")) == "strides=[2,3]");
    CHECK(text_of(named("scales", 6).text(7, float_bytes(0.5F) + float_bytes(2))) ==
          "scales=[0.5,2]");
    CHECK(text_of(named("activations", 8).text(9, "Tanh").text(9, "Relu")) ==
          "activations=[Tanh,Relu]");
    CHECK(text_of(named("pads", 7)) == "pads=[]");
}

TEST_CASE(
    "described_attribute: a number that stands for a type is its name, in standard operators") {
    CHECK(text_of(named("to", 2).number(3, 10), "Cast") == "to=float16");
    CHECK(text_of(named("to", 2).number(3, 10), "Cast", "my.domain") == "to=10");
    CHECK(text_of(named("to", 2).number(3, 999), "Cast") == "to=999");
    CHECK(describe({named("to", 2).number(3, 10)}, "Cast")[0].number == 10);
}

TEST_CASE("described_attribute: long ones are truncated, with their length") {
    auto list = named("pads", 7);
    for (std::uint64_t i = 0; i < 64; ++i) {
        list.number(8, i);
    }
    CHECK(text_of(list) == "pads=[0,1,2,3,4,5,6,7,\xe2\x80\xa6] (64)");
    const auto text = describe({named("blob", 3).text(4, std::string(1000, 'x'))})[0];
    CHECK(text.cut);
    CHECK(text.length == 1000);
    CHECK(text.text.size() < 100);
    CHECK(to_text(text).ends_with(" (1000 bytes)"));
    // Not in the middle of a character, and without bytes that are none.
    const auto wide =
        describe({named("blob", 3).text(4, std::string(59, 'x') + "\xc3\xa4\xc3\xa4")})[0];
    CHECK(wide.text == std::string(59, 'x') + "\xe2\x80\xa6");
    CHECK(describe({named("blob", 3).text(4, "a\xff")})[0].text == "a?");
}

TEST_CASE("described_attribute: tensors show type, shape and their first numbers") {
    test::message tensor;
    tensor.number(1, 2).number(2, 7).text(7, "\x01\x7f");
    CHECK(text_of(named("value", 4).text(5, tensor.bytes()), "Constant") ==
          "value=int64[2] [1,127]");
    test::message scalar;
    scalar.number(2, 1).text(9, float_bytes(0.125F));
    CHECK(text_of(named("value", 4).text(5, scalar.bytes()), "Constant") ==
          "value=float32[] 0.125");
    test::message large;
    large.number(1, 100).number(2, 3).text(9, std::string(100, '\1'));
    CHECK(text_of(named("value", 4).text(5, large.bytes()), "Constant") ==
          "value=int8[100] [1,1,1,1,1,1,1,1,\xe2\x80\xa6] (100)");
    test::message half;
    half.number(1, 1).number(2, 10).text(9, "ab");
    CHECK(text_of(named("value", 4).text(5, half.bytes()), "Constant") == "value=float16[1]");
}

TEST_CASE(
    "described_attribute: bodies say how many nodes they have, references whose value they take") {
    test::message body;
    body.text(1, test::message().text(4, "Add").bytes());
    body.text(1, test::message().text(4, "Mul").bytes());
    CHECK(text_of(named("then_branch", 5).text(6, body.bytes()), "If") == "then_branch={2 nodes}");
    CHECK(text_of(named("axis", 2).text(21, "outer")) == "axis=@outer");
}

TEST_CASE("described_attribute: a missing type follows from the contents") {
    test::message untyped; // as in files of the first versions
    untyped.text(1, "group").number(3, 4);
    CHECK(text_of(untyped) == "group=4");
    CHECK(describe({untyped})[0].type == "int");
}

TEST_CASE("read_tensor_text: reads numbers from any field") {
    CHECK(read(test::message().number(1, 2).number(2, 6).text(5, "\x01\x02").bytes()).text ==
          "int32[2] [1,2]");
    CHECK(read(test::message().number(1, 1).number(2, 13).number(11, ~std::uint64_t{0}).bytes())
              .text == "uint64[1] [18446744073709551615]");
    CHECK(read(test::message().number(1, 2).number(2, 9).text(9, std::string("\0\1", 2)).bytes())
              .text == "bool[2] [0,1]");
    const double number = -1.5;
    CHECK(read(test::message()
                   .number(2, 11)
                   .text(10, {reinterpret_cast<const char*>(&number), sizeof number})
                   .bytes())
              .text == "float64[] -1.5");
}

TEST_CASE("read_tensor_text: reports what it omitted, and that it read nothing") {
    const auto some = read(test::message().number(1, 3).number(2, 2).text(9, "\1\2\3").bytes(), 2);
    CHECK(some.text == "uint8[3] [1,2,\xe2\x80\xa6]");
    CHECK(some.cut);
    CHECK(some.elements == 3);
    // Elsewhere, packed, of an unknown type, or with too few bytes.
    CHECK(read(test::message().number(1, 3).number(2, 1).number(14, 1).bytes()).text ==
          "float32[3]");
    CHECK(read(test::message().number(1, 2).number(2, 22).text(9, "\1").bytes()).text == "int4[2]");
    CHECK(read(test::message().number(1, 2).number(2, 99).text(9, "\1").bytes()).text ==
          "type 99[2]");
    CHECK(read(test::message().number(1, 2).number(2, 1).text(9, "\1").bytes()).text ==
          "float32[2]");
}

} // namespace test::types_described_attribute
