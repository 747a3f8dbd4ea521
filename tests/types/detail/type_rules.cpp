// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/detail/type_rules.hpp>

#include "../../catch.hpp"
#include "../../inferred_types.hpp"

#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::types_detail_type_rules {

namespace {

/// What an operator makes: `attributes` are `name=1`, `name=[1,2]` or `name='text'`, outputs the
/// types of as many values.
struct example {
    std::string_view domain;
    std::string_view op_type;
    std::string_view inputs;
    std::string_view attributes;
    std::string_view outputs;
};

// Types: x float32[2,3,4], y float32[4], i int64[2,3,4], c bool[2,1,4], q uint8[2,3,4], s
// float32[], h float16[4], m float32[6,7], w float32[7,5], w4 float32[4,5], w6 float32[4,6], img
// float32[1,3,8,9], k float32[6,3,3,3], n int64[2], ids int32[2,5], words float32[30,6]; constants:
// shape [4,6], two [2], axes [1].
constexpr std::string_view std_domain;
constexpr std::string_view ms = "com.microsoft";
constexpr std::string_view blocks = "com.microsoft.nchwc";

const example examples[] = {
    {std_domain, "Identity", "x", "", "float32[2,3,4]"},
    {std_domain, "Add", "x y", "", "float32[2,3,4]"},
    {std_domain, "Mul", "y x", "", "float32[2,3,4]"},
    {std_domain, "Sub", "y x", "", "float32[2,3,4]"},
    {std_domain, "Div", "y x", "", "float32[2,3,4]"},
    {std_domain, "Mod", "y x", "", "float32[2,3,4]"},
    {std_domain, "Max", "y y x", "", "float32[2,3,4]"},
    {std_domain, "Min", "y y x", "", "float32[2,3,4]"},
    {std_domain, "Equal", "x y", "", "bool[2,3,4]"},
    {std_domain, "Greater", "x y", "", "bool[2,3,4]"},
    {std_domain, "GreaterOrEqual", "x y", "", "bool[2,3,4]"},
    {std_domain, "Less", "y x", "", "bool[2,3,4]"},
    {std_domain, "LessOrEqual", "y x", "", "bool[2,3,4]"},
    {std_domain, "IsInf", "x", "", "bool[2,3,4]"},
    {std_domain, "IsNaN", "x", "", "bool[2,3,4]"},
    {std_domain, "Where", "c x y", "", "float32[2,3,4]"},
    {std_domain, "Where", "c y y", "", "float32[2,1,4]"},
    {std_domain, "Cast", "x", "to=7", "int64[2,3,4]"},
    {std_domain, "CastLike", "x n", "", "int64[2,3,4]"},
    {std_domain, "Dropout", "x", "", "float32[2,3,4] bool[2,3,4]"},
    {std_domain, "BatchNormalization", "img y y y q", "",
     "float32[1,3,8,9] float32[4] uint8[2,3,4]"},
    {std_domain, "LayerNormalization", "x y y", "axis=1",
     "float32[2,3,4] float32[2,1,1] float32[2,1,1]"},
    {std_domain, "RMSNormalization", "x h", "", "float16[2,3,4]"},
    {std_domain, "SimplifiedLayerNormalization", "x h", "", "float16[2,3,4]"},
    {std_domain, "MatMul", "x w4", "", "float32[2,3,5]"},
    {std_domain, "MatMul", "x y", "", "float32[2,3]"},
    {std_domain, "MatMul", "y w4", "", "float32[5]"},
    {std_domain, "MatMulInteger", "q w4", "", "int32[2,3,5]"},
    {std_domain, "Gemm", "m w", "", "float32[6,5]"},
    {std_domain, "Gemm", "w m", "transA=1 transB=1", "float32[5,6]"},
    {std_domain, "Conv", "img k", "", "float32[1,6,6,7]"},
    {std_domain, "Conv", "img k", "pads=[1,1,1,1] strides=[2,2]", "float32[1,6,4,5]"},
    {std_domain, "Conv", "img k", "auto_pad='SAME_UPPER' strides=[2,2]", "float32[1,6,4,5]"},
    {std_domain, "Conv", "img k", "auto_pad='VALID' pads=[1,1,1,1]", "float32[1,6,6,7]"},
    {std_domain, "Conv", "img k", "dilations=[2,3]", "float32[1,6,4,3]"},
    {std_domain, "ConvInteger", "img k", "pads=[1,1,1,1]", "int32[1,6,8,9]"},
    {std_domain, "ConvTranspose", "img k", "", "float32[1,3,10,11]"},
    {std_domain, "MaxPool", "img", "kernel_shape=[2,2]", "float32[1,3,7,8] int64[1,3,7,8]"},
    {std_domain, "AveragePool", "img", "kernel_shape=[2,2] ceil_mode=1", "float32[1,3,7,8]"},
    {std_domain, "LpPool", "img", "kernel_shape=[2,2] strides=[2,2]", "float32[1,3,4,4]"},
    {std_domain, "GlobalAveragePool", "img", "", "float32[1,3,1,1]"},
    {std_domain, "GlobalMaxPool", "img", "", "float32[1,3,1,1]"},
    {std_domain, "GlobalLpPool", "img", "", "float32[1,3,1,1]"},
    {std_domain, "ReduceSum", "x axes", "", "float32[2,1,4]"},
    {std_domain, "ReduceSum", "x", "keepdims=0", "float32[]"},
    {std_domain, "ReduceMean", "x", "axes=[1]", "float32[2,1,4]"},
    {std_domain, "ReduceMean", "x", "axes=[1] keepdims=0", "float32[2,4]"},
    {std_domain, "ReduceSum", "x n", "", "float32[?,?,?]"},
    {std_domain, "ReduceSum", "x n", "keepdims=0", "-"},
    {std_domain, "ReduceSum", "x none", "noop_with_empty_axes=1", "float32[2,3,4]"},
    {std_domain, "ArgMax", "x", "axis=-1", "int64[2,3,1]"},
    {std_domain, "ArgMin", "x", "keepdims=0", "int64[3,4]"},
    {std_domain, "ArgMin", "x", "axis=2 keepdims=0", "int64[2,3]"},
    {std_domain, "TopK", "x two", "axis=1", "float32[2,2,4] int64[2,2,4]"},
    {std_domain, "OneHot", "i two y", "", "float32[2,3,4,2]"},
    {std_domain, "OneHot", "i n y", "axis=1", "float32[2,?,3,4]"},
    {std_domain, "OneHot", "i two y", "axis=9", "float32[?,?,?,?]"},
    {std_domain, "NonZero", "x", "", "int64[3,?]"},
    {std_domain, "LSTM", "x r r", "", "float32[2,?,3,?]"},
    {std_domain, "LSTM", "x x rr", "", "float32[2,1,3,8] float32[1,3,8] float32[1,3,8]"},
    {std_domain, "GRU", "x x rr", "", "float32[2,1,3,8] float32[1,3,8]"},
    {std_domain, "RNN", "x x rr", "layout=1", "-"},
    {std_domain, "QuantizeLinear", "x s", "", "uint8[2,3,4]"},
    {std_domain, "QLinearConv", "img s s k s s s q", "", "uint8[1,6,6,7]"},
    {std_domain, "QLinearMatMul", "x s s w4 s s s q", "", "uint8[2,3,5]"},
    {std_domain, "QuantizeLinear", "x s", "output_dtype=3", "int8[2,3,4]"},
    {std_domain, "QuantizeLinear", "x s n", "output_dtype=3", "int64[2,3,4]"},
    {std_domain, "DequantizeLinear", "q s", "", "float32[2,3,4]"},
    {std_domain, "DynamicQuantizeLinear", "x", "", "uint8[2,3,4] float32[] uint8[]"},
    {std_domain, "Einsum", "x y", "equation='abc,c->ba'", "float32[3,2]"},
    {std_domain, "GridSample", "img grid", "", "float32[1,3,5,6]"},
    {std_domain, "NonMaxSuppression", "x x", "", "int64[?,3]"},
    {std_domain, "Slice", "x axes two axes", "", "float32[2,1,4]"},
    {std_domain, "Split", "x", "axis=2", "float32[2,3,2] float32[2,3,2]"},
    {std_domain, "Constant", "", "value_ints=[1,2,3]", "int64[3]"},
    {std_domain, "Constant", "", "value_int=1", "int64[]"},
    {std_domain, "Shape", "x", "start=1", "int64[2]"},
    {std_domain, "Shape", "x", "", "int64[3]"},
    {std_domain, "Size", "x", "", "int64[]"},
    {std_domain, "ConstantOfShape", "shape", "", "float32[4,6]"},
    {std_domain, "Expand", "y41 shape", "", "float32[4,6]"},
    {std_domain, "Reshape", "x shape", "", "float32[4,6]"},
    {std_domain, "Reshape", "x open", "", "float32[2,12]"},
    {std_domain, "Flatten", "x", "", "float32[2,12]"},
    {std_domain, "Flatten", "x", "axis=0", "float32[1,24]"},
    {std_domain, "Flatten", "x", "axis=-1", "float32[6,4]"},
    {std_domain, "RandomNormal", "", "shape=[4,6]", "float32[4,6]"},
    {std_domain, "RandomNormalLike", "q", "dtype=10", "float16[2,3,4]"},
    {std_domain, "RandomUniform", "", "shape=[4] dtype=11", "float64[4]"},
    {std_domain, "RandomUniformLike", "x", "", "float32[2,3,4]"},
    {std_domain, "Bernoulli", "x", "", "float32[2,3,4]"},
    {std_domain, "EyeLike", "m", "dtype=7", "int64[6,7]"},
    {std_domain, "RoiAlign", "img m n", "output_height=5", "float32[6,3,5,1]"},
    {std_domain, "Range", "i i i", "", "int64[?]"},
    {std_domain, "Tile", "x n", "", "float32[?,?,?]"},
    {std_domain, "Tile", "m repeats", "", "float32[18,7]"},
    {std_domain, "Pad", "x n", "", "float32[?,?,?]"},
    {std_domain, "Resize", "x n", "", "float32[?,?,?]"},
    {std_domain, "Upsample", "x n", "", "float32[?,?,?]"},
    {std_domain, "DepthToSpace", "img", "blocksize=2", "float32[1,?,16,18]"},
    {std_domain, "SpaceToDepth", "img", "blocksize=2", "float32[1,12,4,?]"},
    {std_domain, "Unsqueeze", "x axes", "", "float32[2,1,3,4]"},
    {std_domain, "Squeeze", "c axes", "", "bool[2,4]"},
    {std_domain, "Squeeze", "c", "", "bool[2,4]"},
    {std_domain, "Transpose", "x", "perm=[1,0,2]", "float32[3,2,4]"},
    {std_domain, "Transpose", "x", "", "float32[4,3,2]"},
    {std_domain, "Gather", "x n", "axis=1", "float32[2,2,4]"},
    {std_domain, "GatherElements", "x i", "", "float32[2,3,4]"},
    {std_domain, "GatherND", "x n", "", "float32[4]"},
    {std_domain, "GatherND", "x n", "batch_dims=9", "-"},
    {std_domain, "Concat", "x x", "axis=0", "float32[4,3,4]"},
    {std_domain, "RegexFullMatch", "x", "", "bool[2,3,4]"},
    {std_domain, "StringConcat", "x y", "", "float32[2,3,4]"},
    {std_domain, "StringSplit", "m", "", "float32[6,7,?] int64[6,7]"},
    {std_domain, "OptionalHasElement", "x", "", "bool[]"},
    {std_domain, "SequenceLength", "x", "", "int64[]"},
    {std_domain, "RotaryEmbedding", "x y y", "", "float32[2,3,4]"},
    {std_domain, "TensorScatter", "x y", "", "float32[2,3,4]"},
    {std_domain, "HammingWindow", "two", "", "float32[2]"},
    {std_domain, "HannWindow", "two", "", "float32[2]"},
    {std_domain, "BlackmanWindow", "two", "", "float32[2]"},
    {std_domain, "MelWeightMatrix", "two two", "", "float32[2,2]"},
    {std_domain, "STFT", "x two", "", "float32[2,1,2,2]"},
    {std_domain, "DFT", "x", "", "float32[2,3,2]"},
    {std_domain, "AffineGrid", "x n", "", "-"},
    {std_domain, "DeformConv", "img k", "", "float32[1,6,6,7]"},
    {std_domain, "DeformConv", "img unknown grid", "", "float32[1,?,6,2]"},
    {std_domain, "Col2Im", "x shape two", "", "float32[2,1,4,6]"},
    {std_domain, "CenterCropPad", "x shape", "axes=[0,2]", "float32[4,3,6]"},
    {std_domain, "CenterCropPad", "m n", "", "float32[?,?]"},
    {std_domain, "Attention", "x x x", "q_num_heads=2 kv_num_heads=1",
     "float32[2,3,8] float32[2,1,?,4] float32[2,1,?,4] float32[2,2,3,?]"},
    {std_domain, "Attention", "img img img", "",
     "float32[1,3,8,9] float32[1,3,?,9] float32[1,3,?,9] float32[1,3,8,?]"},
    {ms, "SkipLayerNormalization", "x x y", "", "float32[2,3,4] - - float32[2,3,4]"},
    {ms, "SkipSimplifiedLayerNormalization", "x x y", "", "float32[2,3,4] - - float32[2,3,4]"},
    {ms, "FusedConv", "img k", "", "float32[1,6,6,7]"},
    {ms, "FusedGemm", "m w", "", "float32[6,5]"},
    {ms, "FusedMatMul", "x w4", "", "float32[2,3,5]"},
    {ms, "FusedMatMul", "x x", "transB=1", "float32[2,3,3]"},
    {ms, "DynamicQuantizeMatMul", "x w4", "", "float32[2,3,5]"},
    {ms, "MatMulIntegerToFloat", "q w4 s", "", "float32[2,3,5]"},
    {ms, "MatMulNBits", "x q", "N=9", "float32[2,3,9]"},
    {ms, "MatMulBnb4", "x q", "N=9", "float32[2,3,9]"},
    {ms, "MatMulFpQ4", "x q", "", "float32[2,3,?]"},
    {ms, "QLinearAdd", "q s s y", "", "uint8[2,3,4]"},
    {ms, "QLinearMul", "q s s y", "", "uint8[2,3,4]"},
    {ms, "QuantizeLinear", "x s q", "", "uint8[2,3,4]"},
    {ms, "DequantizeLinear", "q s s", "", "float32[2,3,4]"},
    {ms, "QGemm", "m s s w s s s s q", "", "uint8[6,5]"},
    {ms, "QGemm", "m s s w s s", "", "float32[6,5]"},
    {ms, "QLinearConv", "img s s k s s s q", "", "uint8[1,6,6,7]"},
    {ms, "QLinearConv", "img s s k s s s q", "channels_last=1", "uint8[1,1,6,6]"},
    {ms, "NhwcMaxPool", "img", "kernel_shape=[2,2]", "float32[1,2,7,9]"},
    {ms, "QLinearAveragePool", "img s s s s", "kernel_shape=[2,2]", "float32[1,3,7,8]"},
    {ms, "QLinearAveragePool", "img s s s s", "channels_last=1", "float32[1,?,?,9]"},
    {ms, "QLinearGlobalAveragePool", "img s s s s", "", "float32[1,3,1,1]"},
    {ms, "QLinearGlobalAveragePool", "img s s s s", "channels_last=1", "float32[1,1,1,9]"},
    {ms, "QLinearConcat", "s s q s s q s s", "axis=2", "uint8[2,3,8]"},
    {ms, "Attention", "x w6", "", "float32[2,3,2] float32[2,2,?,?,?]"},
    {ms, "Attention", "x unknown y", "qkv_hidden_sizes=[4,4,8]", "float32[2,3,8]"},
    {ms, "QAttention", "q unknown h", "", "float16[2,3,1]"},
    {ms, "PackedAttention", "m w6", "", "float32[6,2]"},
    {ms, "MultiHeadAttention", "x", "", "float32[2,3,4] float32[2,?,?,?] float32[2,?,?,?]"},
    {ms, "MultiHeadAttention", "x x img", "", "float32[2,3,27]"},
    {ms, "MultiHeadAttention", "x x unknown", "", "float32[2,3,?]"},
    {ms, "GroupQueryAttention", "x x", "", "float32[2,3,4] float32[2,?,?,?] float32[2,?,?,?]"},
    {ms, "GroupQueryAttention", "x", "num_heads=2 kv_num_heads=1", "float32[2,3,2]"},
    {ms, "NhwcConv", "img k", "", "float32[1,1,6,6]"},
    {ms, "NhwcFusedConv", "img k", "", "float32[1,1,6,6]"},
    {ms, "BiasSplitGelu", "x y", "", "float32[2,3,2]"},
    {ms, "EmbedLayerNormalization", "ids ids words", "", "float32[2,5,6] int32[2] float32[2,5,6]"},
    {blocks, "Conv", "img k", "", "float32[1,6,6,7]"},
    {blocks, "MaxPool", "img", "kernel_shape=[2,2]", "float32[1,3,7,8]"},
    {blocks, "AveragePool", "img", "kernel_shape=[2,2]", "float32[1,3,7,8]"},
    {blocks, "GlobalMaxPool", "img", "", "float32[1,3,1,1]"},
    {blocks, "GlobalAveragePool", "img", "", "float32[1,3,1,1]"},
    {blocks, "ReorderInput", "img", "", "float32[1,?,8,9]"},
    {blocks, "ReorderOutput", "img", "channels=5", "float32[1,5,8,9]"},
    {blocks, "ReorderOutput", "img", "", "float32[1,?,8,9]"},
    {blocks, "Upsample", "img", "scales=[1,1,2,2]", "float32[1,3,16,18]"},
    {blocks, "Upsample", "img", "scales=[2,2]", "float32[?,?,?,?]"},
};

/// The result of an operator on named extents: what inference says of every run, and what it says
/// if it may assume a usual one.
struct named_example {
    std::string_view domain;
    std::string_view op_type;
    std::string_view inputs;
    std::string_view attributes;
    std::string_view type;
    std::string_view assumed;
};

// Types as above; rows float32[N,4], others float32[M,4], image float32[N,32,H,9], N int64[1] and
// length int64[] are the extent of that name.
const named_example named_examples[] = {
    {std_domain, "Add", "rows others", "", "float32[?,4]", "[N,4]"},
    {std_domain, "Expand", "y size", "", "float32[N,4]", "[N,4]"},
    {std_domain, "Range", "start length step", "", "int64[N]", "[N]"},
    {std_domain, "Range", "step length step", "", "int64[?]", "[N - 1]"},
    {std_domain, "ConstantOfShape", "size", "", "float32[N,4]", "[N,4]"},
    {std_domain, "Reshape", "rows open", "", "float32[2,?]", "[2,2*N]"},
    {std_domain, "Reshape", "image size", "", "float32[N,4]", "[N,4]"},
    {std_domain, "Flatten", "image", "", "float32[N,?]", "[N,288*H]"},
    {std_domain, "Tile", "rows repeats", "", "float32[?,4]", "[3*N,4]"},
    {std_domain, "Concat", "rows others", "axis=0", "float32[?,4]", "[N + M,4]"},
    {std_domain, "Concat", "rows others", "axis=1", "float32[N,8]", "[N,8]"},
    {std_domain, "Slice", "rows axes far axes", "", "float32[N,3]", "[N,3]"},
    {std_domain, "Slice", "rows zero far zero", "", "float32[N,4]", "[N,4]"},
    {std_domain, "Slice", "rows axes far zero", "", "float32[?,4]", "[N - 1,4]"},
    {std_domain, "Slice", "rows zero two zero", "", "float32[?,4]", "[min(N, 2),4]"},
    {std_domain, "Split", "rows", "axis=0", "float32[N,4]", "[N,4]"},
    {std_domain, "Pad", "rows padding", "", "float32[?,6]", "[N + 1,6]"},
    {std_domain, "TopK", "rows N", "axis=1", "float32[N,N]", "[N,N]"},
    {std_domain, "OneHot", "i N y", "", "float32[2,3,4,N]", "[2,3,4,N]"},
    {std_domain, "Conv", "image k", "pads=[1,1,1,1]", "float32[N,6,H,9]", "[N,6,H,9]"},
    {std_domain, "Conv", "image k", "", "float32[N,6,?,7]", "[N,6,H - 2,7]"},
    {std_domain, "MaxPool", "image", "kernel_shape=[2,2] strides=[2,2] ceil_mode=1",
     "float32[N,32,?,5]", "[N,32,floor((H + 1)/2),5]"},
    {std_domain, "MaxPool", "image", "kernel_shape=[1,1] strides=[2,2] ceil_mode=1",
     "float32[N,32,?,5]", "[N,32,floor(H/2) + 1,5]"},
    {std_domain, "ConvTranspose", "image k", "", "float32[N,3,?,11]", "[N,3,H + 2,11]"},
    {std_domain, "DepthToSpace", "image", "blocksize=2", "float32[N,8,?,18]", "[N,8,2*H,18]"},
    {blocks, "ReorderInput", "image", "", "float32[N,32,H,9]", "[N,32,H,9]"},
    {blocks, "ReorderInput", "img", "", "float32[1,?,8,9]", "[1,3,8,9]"},
    {blocks, "ReorderInput", "image", "channels_last=1", "float32[N,?,32,H]", "[N,9,32,H]"},
    {blocks, "ReorderOutput", "image", "channels_last=1 channels=30", "float32[N,H,9,30]",
     "[N,H,9,30]"},
};

inference_scene known_values() {
    return inference_scene()
        .input("x", {2, 3, 4})
        .input("y", {4})
        .input("y41", {4, 1})
        .input("i", {2, 3, 4}, 7)
        .input("c", {2, 1, 4}, 9)
        .input("q", {2, 3, 4}, 2)
        .input("s", {})
        .input("h", {4}, 10)
        .input("m", {6, 7})
        .input("w", {7, 5})
        .input("w4", {4, 5})
        .input("w6", {4, 6})
        .input("img", {1, 3, 8, 9})
        .input("k", {6, 3, 3, 3})
        .input("grid", {1, 5, 6, 2})
        .input("n", {2}, 7)
        .open_input("rows", {"N", "4"})
        .open_input("others", {"M", "4"})
        .open_input("image", {"N", "32", "H", "9"})
        .input("ids", {2, 5}, 6)
        .input("words", {30, 6})
        .input("r", {4})
        .input("rr", {1, 32, 8})
        .numbers("shape", {4, 6})
        .numbers("open", {2, ~std::uint64_t{0}})
        .numbers("two", {2})
        .numbers("axes", {1})
        .numbers("none", {})
        .numbers("zero", {0})
        .numbers("far", {1U << 31U})
        .numbers("padding", {1, 0, 0, 2})
        .numbers("repeats", {3, 1})
        .node(test::node("Shape", {"rows"}, {"size"}))
        .node(test::node("Gather", {"size", "zero"}, {"N"}))
        .node(test::node("Squeeze", {"N"}, {"length"}))
        .node(test::node("Squeeze", {"axes"}, {"step"}))
        .node(test::node("Squeeze", {"zero"}, {"start"}));
}

/// A model with one operator.
inference_scene scene_with(std::string_view domain, std::string_view op_type,
                           std::string_view inputs, std::string_view attributes,
                           const names& outputs) {
    auto node = owner_node(op_type, words_of(inputs), outputs, test::attributes(attributes));
    return known_values().node(domain.empty() ? node : node.text(7, domain));
}

/// Returns: the types of the outputs, `-` for one that is not known.
std::string made_by(const example& tried) {
    names outputs;
    for (std::size_t i = 0; i < words_of(tried.outputs).size(); ++i) {
        outputs.push_back("out" + std::to_string(i));
    }
    const auto scene =
        scene_with(tried.domain, tried.op_type, tried.inputs, tried.attributes, outputs);
    std::string types;
    for (const auto& output : outputs) {
        const auto type = scene.type_of(output);
        types.append(types.empty() ? "" : " ").append(type.empty() ? "-" : type);
    }
    return types;
}

} // namespace

TEST_CASE("type_rules: each rule agrees with its operator") {
    for (const auto& tried : examples) {
        INFO(tried.domain << "::" << tried.op_type << " of " << tried.inputs << " with '"
                          << tried.attributes << "'");
        CHECK(made_by(tried) == tried.outputs);
    }
}

TEST_CASE("type_rules: named extents are computed with, and names told if they hold in every run") {
    for (const auto& tried : named_examples) {
        INFO(tried.domain << "::" << tried.op_type << " of " << tried.inputs << " with '"
                          << tried.attributes << "'");
        const auto scene =
            scene_with(tried.domain, tried.op_type, tried.inputs, tried.attributes, {"result"});
        CHECK(scene.type_of("result") == tried.type);
        CHECK(exact_extents(scene.model_with("result"), "result") == tried.assumed);
    }
}

TEST_CASE("type_rules: operators that share a rule agree") {
    for (const auto& domain_rules : stemma::detail::type_rules) {
        for (const auto& rule : domain_rules.rules) {
            INFO(domain_rules.domain << "::" << rule.op_type);
            if (rule.infer == stemma::detail::rules::like_first) {
                CHECK(made_by({domain_rules.domain, rule.op_type, "x y q", "", "type"}) ==
                      "float32[2,3,4]");
            } else if (rule.infer == stemma::detail::rules::arithmetic<>) {
                CHECK(made_by({domain_rules.domain, rule.op_type, "y x", "", "type"}) ==
                      "float32[2,3,4]");
            } else if (rule.infer == stemma::detail::rules::reduction) {
                CHECK(made_by({domain_rules.domain, rule.op_type, "x", "axes=[0]", "type"}) ==
                      made_by({domain_rules.domain, "ReduceSum", "x", "axes=[0]", "type"}));
            }
        }
    }
}

TEST_CASE("type_rules: there is an example for each rule, and a rule for each example") {
    std::set<std::pair<std::string_view, std::string_view>> tried;
    for (const auto& one : examples) {
        CHECK(stemma::detail::find_rule(one.domain, one.op_type) != nullptr);
        tried.emplace(one.domain, one.op_type);
    }
    for (const auto& domain_rules : stemma::detail::type_rules) {
        for (const auto& rule : domain_rules.rules) {
            const bool shared = rule.infer == stemma::detail::rules::like_first ||
                                rule.infer == stemma::detail::rules::arithmetic<> ||
                                rule.infer == stemma::detail::rules::reduction;
            INFO(domain_rules.domain << "::" << rule.op_type);
            CHECK((shared || tried.count({domain_rules.domain, rule.op_type}) == 1));
        }
    }
}

TEST_CASE("find_rule: by domain and operator") {
    CHECK(stemma::detail::find_rule("", "Conv")->op_type == "Conv");
    CHECK(stemma::detail::find_rule("", "Conv")->keeps_rank);
    CHECK_FALSE(stemma::detail::find_rule("", "Reshape")->keeps_rank);
    CHECK(stemma::detail::find_rule("com.microsoft", "Conv") == nullptr);
    CHECK(stemma::detail::find_rule("own", "Conv") == nullptr);
    CHECK(stemma::detail::find_rule("", "") == nullptr);
    CHECK(stemma::detail::find_rule("", "Zzz") == nullptr);
    CHECK(stemma::detail::find_rule("", "If") == nullptr);
}

namespace demands = stemma::detail::demands;

namespace {

/// What is demanded of an input of an operator that reads a value of unknown type.
std::optional<std::size_t> rank(stemma::detail::rank_demand demand, std::size_t slot,
                                const test::names& inputs,
                                const std::vector<test::message>& attributes = {}) {
    const auto bytes = test::inference_scene()
                           .weight("w", {6, 3, 5})
                           .numbers("pads", {0, 1, 0, 1})
                           .node(test::owner_node("Any", inputs, {"y"}, attributes))
                           .model_with("y");
    const stemma::wire_model model(bytes);
    stemma::value_types types(model);
    stemma::detail::fact_table table(model, types);
    return demand(stemma::detail::rule_node(table, 0), slot);
}

} // namespace

TEST_CASE("demand_rules: fixed ranks of some inputs") {
    CHECK(rank(demands::fixed<3, 0, 5>, 0, {"x"}) == 3U);
    CHECK(rank(demands::fixed<3, 0, 5>, 5, {"x"}) == 3U);
    CHECK(rank(demands::fixed<3, 0, 5>, 1, {"x"}) == std::nullopt);
}

TEST_CASE("demand_rules: a window has the rank of its size or of its weights") {
    const auto size = test::ints_attribute("kernel_shape", {3, 3});
    CHECK(rank(demands::window<1>, 0, {"x", "w"}) == 3U);
    CHECK(rank(demands::window<1>, 0, {"x", "v"}) == std::nullopt);
    CHECK(rank(demands::window<1>, 0, {"x", "v"}, {size}) == 4U);
    CHECK(rank(demands::window<1>, 1, {"x", "w"}) == std::nullopt);
    CHECK(rank(demands::window<0>, 0, {"w"}) == std::nullopt);
}

TEST_CASE("demand_rules: permutations, padding, and what has equal ranks") {
    CHECK(rank(demands::permutation, 0, {"x"}, test::attributes("perm=[1,0]")) == 2U);
    CHECK(rank(demands::permutation, 0, {"x"}) == std::nullopt);
    CHECK(rank(demands::padding, 0, {"x", "pads"}) == 2U);
    CHECK(rank(demands::padding, 0, {"x", "pads", "", "axes"}) == std::nullopt);
    CHECK(rank(demands::any_input, 0, {"x", "w"}) == 3U);
    CHECK(rank(demands::any_input, 0, {"x", "v"}) == std::nullopt);
}

} // namespace test::types_detail_type_rules
