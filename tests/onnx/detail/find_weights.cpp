// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/find_weights.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_find_weights {

namespace {

using kind = stemma::weight_kind;
using stemma::detail::stated_kind;

constexpr std::uint64_t float32 = 1;
constexpr std::uint64_t uint8 = 2;
constexpr std::uint64_t int8 = 3;
constexpr std::uint64_t int32 = 6;
constexpr std::uint64_t int64 = 7;
constexpr std::uint64_t boolean = 9;
constexpr std::uint64_t int4 = 22;

test::message tensor(std::string_view name, std::uint64_t type,
                     const std::vector<std::uint64_t>& dims) {
    return test::message().packed(1, dims).number(2, type).text(8, name);
}

test::message constant(std::uint64_t type, const std::vector<std::uint64_t>& dims,
                       const std::string& output) {
    const auto attribute =
        test::message().text(1, "value").inner(5, tensor("", type, dims)).number(20, 4);
    return test::node("Constant", {}, {output}).inner(5, attribute);
}

test::message with_number(test::message node, std::string_view name, std::uint64_t value) {
    return node.inner(5, test::message().text(1, name).number(3, value).number(20, 2));
}

struct found_weights {
    std::map<std::string, stemma::detail::stored_weight> by_name;
    std::map<stemma::weight_kind, std::uint64_t> elements;
    std::map<stemma::weight_kind, std::uint64_t> bytes;
};

found_weights find(const test::message& model_message) {
    const test::built_model model(model_message);
    found_weights weights;
    for (const auto& weight : stemma::detail::find_weights(model)) {
        CHECK(weights.by_name.emplace(model.value_name(weight.value), weight).second);
        weights.elements[weight.kind] += weight.elements;
        weights.bytes[weight.kind] += weight.bytes;
    }
    return weights;
}

found_weights find(const std::vector<test::message>& nodes,
                   const std::vector<test::message>& tensors) {
    auto graph = test::graph(nodes, {"x"}, {"y"});
    for (const auto& one : tensors) {
        graph.inner(5, one);
    }
    return find(test::model(graph));
}

stemma::detail::stated_kinds kinds_in(const test::message& model) {
    return stemma::detail::stated_kinds(test::built_model(model));
}

test::message with_signature(std::string_view text) {
    return test::model(test::graph().inner(
        16, test::entry("pkg.torch.export.ExportedProgram.graph_signature", text)));
}

} // namespace

TEST_CASE("find_weights: counts kernel and bias of a quantized convolution with DequantizeLinear") {
    const auto weights =
        find({test::node("QuantizeLinear", {"x", "xs", "xz"}, {"q"}),
              test::node("DequantizeLinear", {"q", "xs", "xz"}, {"d"}),
              test::node("DequantizeLinear", {"w", "ws", "wz"}, {"wd"}),
              test::node("DequantizeLinear", {"b", "bs", "bz"}, {"bd"}),
              test::node("Conv", {"d", "wd", "bd"}, {"y"})},
             {tensor("xs", float32, {}), tensor("xz", uint8, {}), tensor("w", int8, {4, 3, 3, 3}),
              tensor("ws", float32, {4}), tensor("wz", int8, {4}), tensor("b", int32, {4}),
              tensor("bs", float32, {4}), tensor("bz", int32, {4})});
    CHECK(weights.elements.at(kind::parameter) == 4 * 27 + 4);
    CHECK(weights.bytes.at(kind::parameter) == 4 * 27 + 16);
    CHECK(weights.elements.at(kind::scale) == 1 + 4 + 4);
    CHECK(weights.elements.at(kind::zero_point) == 1 + 4 + 4);
    CHECK(weights.by_name.size() == 8);
}

TEST_CASE("find_weights: dequantized running statistics are still buffers") {
    const auto weights =
        find({test::node("DequantizeLinear", {"m", "s"}, {"md"}),
              test::node("BatchNormalization", {"x", "g", "b", "md", "v"}, {"y"})},
             {tensor("m", int8, {5}), tensor("s", float32, {}), tensor("g", float32, {5}),
              tensor("b", float32, {5}), tensor("v", float32, {5})});
    CHECK(weights.elements.at(kind::parameter) == 10);
    CHECK(weights.elements.at(kind::buffer) == 10);
    CHECK(weights.elements.at(kind::scale) == 1);
}

TEST_CASE(
    "find_weights: integers that are cast, shifted and scaled are the weight, not the scale") {
    const auto weights =
        find({test::node("Cast", {"w"}, {"c"}), test::node("Sub", {"c", "z"}, {"d"}),
              test::node("Mul", {"d", "s"}, {"m"}), test::node("MatMul", {"x", "m"}, {"y"})},
             {tensor("w", int8, {4, 6}), tensor("z", float32, {6}), tensor("s", float32, {6})});
    CHECK(weights.elements.at(kind::parameter) == 24);
    CHECK(weights.bytes.at(kind::parameter) == 24);
    CHECK(weights.elements.at(kind::scale) == 6);
    CHECK(weights.elements.at(kind::zero_point) == 6);
}

TEST_CASE("find_weights: a Constant may hold a list of numbers, or a sparse tensor") {
    const std::string numbers(6 * sizeof(float), 'x');
    const auto list = test::message().text(1, "value_floats").text(7, numbers).number(20, 6);
    const auto sparse = test::message()
                            .text(1, "sparse_value")
                            .inner(22, test::message()
                                           .inner(1, tensor("", float32, {4}))
                                           .inner(2, tensor("", int64, {4}))
                                           .packed(3, {6, 5}))
                            .number(20, 11);
    const auto weights = find({test::node("Constant", {}, {"b"}).inner(5, list),
                               test::node("Add", {"x", "b"}, {"h"}),
                               test::node("Constant", {}, {"k"}).inner(5, sparse),
                               test::node("MatMul", {"h", "k"}, {"y"})},
                              {});
    CHECK(weights.by_name.at("b").elements == 6);
    CHECK(weights.by_name.at("b").bytes == 24);
    CHECK(weights.by_name.at("k").elements == 4);
    CHECK(weights.elements.at(kind::parameter) == 10);
}

TEST_CASE("find_weights: QLinearConv and QLinearMatMul have integer weights") {
    const auto weights =
        find({test::node("QLinearConv", {"x", "s", "z", "w", "ws", "wz", "s", "z", "b"}, {"h"}),
              test::node("QLinearMatMul", {"h", "s", "z", "m", "s", "z", "s", "z"}, {"y"})},
             {tensor("s", float32, {}), tensor("z", uint8, {}), tensor("w", uint8, {8, 1, 3, 3}),
              tensor("ws", float32, {8}), tensor("wz", uint8, {8}), tensor("b", int32, {8}),
              tensor("m", int8, {10, 20})});
    CHECK(weights.elements.at(kind::parameter) == 72 + 8 + 200);
    CHECK(weights.elements.at(kind::scale) == 9);
    CHECK(weights.elements.at(kind::zero_point) == 9);
}

TEST_CASE("find_weights: the factor of a dynamic quantization is a scale, not a parameter") {
    const auto weights =
        find({test::node("DynamicQuantizeLinear", {"x"}, {"q", "qs", "qz"}),
              test::node("MatMulInteger", {"q", "w", "qz", "wz"}, {"i"}),
              test::node("Cast", {"i"}, {"c"}), test::node("Mul", {"qs", "ws"}, {"s"}),
              test::node("Mul", {"c", "s"}, {"m"}), test::node("Mul", {"m", "gain"}, {"g"}),
              test::node("Add", {"g", "b"}, {"y"})},
             {tensor("w", int8, {6, 7}), tensor("wz", int8, {}), tensor("ws", float32, {7}),
              tensor("gain", float32, {7}), tensor("b", float32, {7})});
    CHECK(weights.elements.at(kind::parameter) == 42 + 7 + 7);
    CHECK(weights.elements.at(kind::scale) == 7);
    CHECK(weights.elements.at(kind::zero_point) == 1);
}

TEST_CASE("find_weights: counts each packed element") {
    const auto blocks = test::node("MatMulNBits", {"x", "w", "s", "z"}, {"h"}, "", "com.microsoft");
    const auto table =
        test::node("GatherBlockQuantized", {"t", "i", "ts", "tz"}, {"y"}, "", "com.microsoft");
    const std::vector<test::message> tensors{
        tensor("w", uint8, {16, 4, 8}), tensor("s", float32, {64}), tensor("z", uint8, {32}),
        tensor("t", uint8, {10, 16}),   tensor("i", int64, {3}),    tensor("ts", float32, {10}),
        tensor("tz", uint8, {5})};
    const auto four = find({blocks, table}, tensors);
    CHECK(four.by_name.at("w").elements == 1024);
    CHECK(four.by_name.at("w").bytes == 512);
    CHECK(four.by_name.at("t").elements == 320);
    CHECK(four.elements.at(kind::parameter) == 1344);
    CHECK(four.elements.at(kind::scale) == 74);
    CHECK(four.elements.at(kind::zero_point) == 64 + 10);
    CHECK_FALSE(four.by_name.contains("i"));
    const auto eight =
        find({with_number(blocks, "bits", 8), with_number(table, "bits", 2)}, tensors);
    CHECK(eight.by_name.at("w").elements == 512);
    CHECK(eight.by_name.at("t").elements == 640);
}

TEST_CASE("find_weights: counts elements of four-bit types, which take half the bytes") {
    const auto weights =
        find({test::node("DequantizeLinear", {"w", "s", "z"}, {"d"}),
              test::node("MatMul", {"x", "d"}, {"h"}),
              test::node("GatherBlockQuantized", {"t", "i", "s"}, {"y"}, "", "com.microsoft")},
             {tensor("w", int4, {32, 8}), tensor("s", float32, {2, 8}), tensor("z", int4, {2, 8}),
              tensor("t", int4, {10, 16})});
    CHECK(weights.by_name.at("w").elements == 256);
    CHECK(weights.by_name.at("w").bytes == 128);
    CHECK(weights.by_name.at("t").elements == 160);
    CHECK(weights.elements.at(kind::zero_point) == 16);
}

TEST_CASE("find_weights: counts an integer lookup table that is dequantized") {
    const auto weights =
        find({test::node("Gather", {"t", "x"}, {"g"}),
              test::node("DequantizeLinear", {"g", "s", "z"}, {"y"})},
             {tensor("t", uint8, {100, 8}), tensor("s", float32, {}), tensor("z", uint8, {})});
    CHECK(weights.elements.at(kind::parameter) == 800);
}

TEST_CASE("find_weights: counts weights in Constants, but not scalars and shapes") {
    const auto weights = find(
        {constant(float32, {3, 4}, "w"), constant(float32, {}, "half"),
         constant(float32, {1}, "one"), constant(int64, {2}, "shape"),
         constant(float32, {1}, "slope"), test::node("MatMul", {"x", "w"}, {"a"}),
         test::node("Mul", {"a", "half"}, {"b"}), test::node("Add", {"b", "one"}, {"c"}),
         test::node("PRelu", {"c", "slope"}, {"d"}), test::node("Reshape", {"d", "shape"}, {"y"})},
        {});
    CHECK(weights.by_name.size() == 2);
    CHECK(weights.by_name.at("w").elements == 12);
    CHECK(weights.by_name.at("w").bytes == 48);
    CHECK(weights.by_name.at("slope").elements == 1);
}

TEST_CASE("find_weights: a scalar that a tool moved from a Constant to an initializer is none") {
    const auto weights =
        find({test::node("Mul", {"x", "/act/Constant_output_0"}, {"a"}),
              test::node("Add", {"a", "/act/Concat_output_0"}, {"b"}),
              test::node("Mul", {"b", "temperature"}, {"y"})},
             {tensor("/act/Constant_output_0", float32, {}),
              tensor("/act/Concat_output_0", float32, {4}), tensor("temperature", float32, {})});
    CHECK(weights.by_name.size() == 2);
    CHECK(weights.by_name.contains("/act/Concat_output_0"));
    CHECK(weights.by_name.contains("temperature"));
}

TEST_CASE("find_weights: running statistics and initial states are buffers") {
    const auto weights =
        find({test::node("BatchNormalization", {"x", "g", "b", "m", "v"}, {"n"}),
              constant(float32, {2, 3, 16}, "zeros"), test::node("Expand", {"zeros", "x"}, {"h"}),
              test::node("LSTM", {"n", "w", "r", "", "", "h", "h"}, {"y"})},
             {tensor("g", float32, {5}), tensor("b", float32, {5}), tensor("m", float32, {5}),
              tensor("v", float32, {5}), tensor("w", float32, {2, 64, 5}),
              tensor("r", float32, {2, 64, 16})});
    CHECK(weights.elements.at(kind::parameter) == 10 + 640 + 2048);
    CHECK(weights.elements.at(kind::buffer) == 10 + 96);
}

TEST_CASE("find_weights: ignores indices, extents, masks and flags") {
    const auto weights = find(
        {test::node("Gather", {"x", "index"}, {"a"}), test::node("Resize", {"a", "", "by"}, {"b"}),
         test::node("Slice", {"mask", "from", "to"}, {"m"}), test::node("Cast", {"m"}, {"f"}),
         test::node("Where", {"f", "b", "low"}, {"c"}),
         test::node("Where", {"flag", "c", "low"}, {"y"})},
        {tensor("index", int64, {49, 49}), tensor("by", float32, {4}),
         tensor("mask", uint8, {1, 1, 64, 64}), tensor("from", int64, {2}),
         tensor("to", int64, {2}), tensor("flag", boolean, {64, 64})});
    CHECK(weights.by_name.empty());
}

TEST_CASE("find_weights: a limit or fill value counts only if it is named like a parameter") {
    const auto weights = find(
        {test::node("Clip", {"x", "onnx::Clip_7", "act.alpha"}, {"a"}),
         test::node("Pad", {"a", "pads", "value"}, {"b"}),
         test::node("Dropout", {"b", "ratio"}, {"y"}),
         test::node("OneHot", {"x", "depth", "ends"}, {"c"}),
         test::node("Range", {"from", "to", "by"}, {"d"})},
        {tensor("onnx::Clip_7", float32, {}), tensor("act.alpha", float32, {}),
         tensor("pads", int64, {4}), tensor("value", float32, {}), tensor("ratio", float32, {}),
         tensor("depth", float32, {}), tensor("ends", float32, {2}), tensor("from", float32, {}),
         tensor("to", float32, {}), tensor("by", float32, {})});
    CHECK(weights.by_name.size() == 1);
    CHECK(weights.by_name.at("act.alpha").kind == kind::parameter);
}

TEST_CASE("find_weights: what the exporter says of a tensor decides") {
    auto graph = test::graph({test::node("Conv", {"x", "stft.basis", "bias"}, {"a"}),
                              test::node("LSTM", {"a", "w", "r", "", "", "h"}, {"b"}),
                              test::node("Gather", {"b", "index"}, {"y"})},
                             {"x"}, {"y"});
    for (const auto* name : {"stft.basis", "bias", "w", "r", "h"}) {
        graph.inner(5, tensor(name, float32, {2, 3, 4}));
    }
    graph.inner(5, tensor("index", int64, {2}));
    graph.inner(16, test::entry("pkg.torch.export.ExportedProgram.graph_signature",
                                "b_basis: BUFFER target='stft.basis' persistent=True\n"
                                "p_h: PARAMETER target='h'\n"
                                "p_index: PARAMETER target='index'\n"
                                "p_unread: PARAMETER target='unread'\n"));
    graph.inner(5, tensor("unread", float32, {2}));
    const auto weights = find(test::model(graph));
    CHECK(weights.by_name.size() == 5);
    CHECK(weights.by_name.at("stft.basis").kind == kind::buffer);
    CHECK(weights.by_name.at("bias").kind == kind::parameter);
    CHECK(weights.by_name.at("h").kind == kind::parameter);
}

TEST_CASE("find_weights: integers read by an unknown operator count only as matrices") {
    const auto weights = find({test::node("Odd", {"x", "w", "z", "i"}, {"y"}, "", "com.example"),
                               test::node("Add", {"y", "w2"}, {"u"})},
                              {tensor("w", int8, {4, 4}), tensor("z", int8, {4}),
                               tensor("i", int32, {4, 4}), tensor("w2", int8, {4, 4})});
    CHECK(weights.by_name.size() == 1);
    CHECK(weights.elements.at(kind::parameter) == 16);
}

TEST_CASE("find_weights: a function's use decides about its call's weights") {
    auto graph = test::graph({test::node("outer", {"x", "w", "m"}, {"y"}, "", "f")}, {"x"}, {"y"});
    graph.inner(5, tensor("w", int8, {5, 5})).inner(5, tensor("m", float32, {5}));
    auto message = test::model(graph);
    message.inner(
        25, test::function(
                "f", "inner", {"x", "w", "m"}, {"y"},
                {constant(float32, {5}, "s"), test::node("DequantizeLinear", {"w", "s"}, {"d"}),
                 test::node("Transpose", {"d"}, {"t"}), test::node("MatMul", {"x", "t"}, {"h"}),
                 test::node("BatchNormalization", {"h", "s", "s", "m", "m"}, {"y"})}));
    message.inner(25, test::function("f", "outer", {"a", "b", "c"}, {"r"},
                                     {test::node("inner", {"a", "b", "c"}, {"r"}, "", "f")}));
    const auto weights = find(message);
    CHECK(weights.by_name.at("w").kind == kind::parameter);
    CHECK(weights.by_name.at("m").kind == kind::buffer);
    CHECK(weights.elements.at(kind::parameter) ==
          25 + 5); // one used in a normalization is no mere scale
}

TEST_CASE("find_weights: a weight counts once, and not at all if unread") {
    const auto weights =
        find({test::node("Gather", {"w", "x"}, {"a"}), test::node("Transpose", {"w"}, {"t"}),
              test::node("MatMul", {"a", "t"}, {"y"})},
             {tensor("w", float32, {9, 4}), tensor("unread", float32, {3})});
    CHECK(weights.by_name.size() == 1);
    CHECK(weights.elements.at(kind::parameter) == 36);
}

TEST_CASE(
    "find_weights: counts all floating-point initializers of fresh exports except statistics") {
    for (const auto& path : test::files_called("model.onnx", ".onnx")) {
        CAPTURE(path);
        const auto bytes = test::read_bytes(path);
        const stemma::wire_model model(bytes);
        std::uint64_t real = 0;
        for (const auto& read : model.tensors()) {
            const auto header = stemma::read_tensor_header(model, read);
            real += stemma::detail::is_floating_type(header.data_type) ? header.elements() : 0;
        }
        std::uint64_t counted = 0;
        for (const auto& weight : stemma::detail::find_weights(model)) {
            CHECK(weight.bytes == 4 * weight.elements);
            counted += model.is_initializer(weight.value) ? weight.elements : 0;
        }
        CHECK(counted == real);
    }
}

TEST_CASE("stated_kinds: reads a graph signature with a line for each tensor") {
    const auto kinds = kinds_in(with_signature("\n# inputs\n"
                                               "p_fc_weight: PARAMETER target='fc.weight'\n"
                                               "b_it's: BUFFER target=\"it's\" persistent=True\n"
                                               "c_table: CONSTANT_TENSOR target='table'\n"
                                               "x: USER_INPUT\n\n# outputs\n"
                                               "add: BUFFER_MUTATION target='count'\n"));
    CHECK(kinds.of("fc.weight") == stated_kind::parameter);
    CHECK(kinds.of("it's") == stated_kind::fixed);
    CHECK(kinds.of("table") == stated_kind::fixed);
    CHECK(kinds.of("count") == stated_kind::none);
    CHECK(kinds.of("x") == stated_kind::none);
}

TEST_CASE("stated_kinds: reads a graph signature that is a Python expression") {
    const auto kinds = kinds_in(
        with_signature("ExportGraphSignature(input_specs=["
                       "InputSpec(kind=<InputKind.PARAMETER: 2>, arg=TensorArgument(name='p_w'), "
                       "target='fc.weight', persistent=None), "
                       "InputSpec(kind=<InputKind.BUFFER: 3>, arg=TensorArgument(name='b_mask'), "
                       "target='mask', persistent=True), "
                       "InputSpec(kind=<InputKind.USER_INPUT: 1>, arg=TensorArgument(name='x'), "
                       "target=None, persistent=None)], output_specs=["
                       "OutputSpec(kind=<OutputKind.BUFFER_MUTATION: 3>, "
                       "arg=TensorArgument(name='add'), target='count')])"));
    CHECK(kinds.of("fc.weight") == stated_kind::parameter);
    CHECK(kinds.of("mask") == stated_kind::fixed);
    CHECK(kinds.of("count") == stated_kind::none);
}

TEST_CASE("stated_kinds: reads what the metadata of values say") {
    const auto note = test::entry("pkg.torch.export.graph_signature.InputSpec.kind", "BUFFER");
    auto graph = test::graph({test::node("Add", {"x", "mask"}, {"y"})}, {"x"}, {"y"}, {"mask"});
    graph.inner(13, test::value_info("mask").inner(4, note));
    const auto kinds = kinds_in(test::model(graph));
    CHECK(kinds.of("mask") == stated_kind::fixed);
    CHECK(kinds.of("y") == stated_kind::none);
}

TEST_CASE("stated_kinds: ignores damaged signatures") {
    for (const auto* text : {"", "target=", " target=", "a: BUFFER target='b", "BUFFER target=b",
                             "InputKind. target='b'", "InputKind.BUFFER target=\"b"}) {
        CHECK(kinds_in(with_signature(text)).of("b") == stated_kind::none);
    }
}

} // namespace test::onnx_detail_find_weights
