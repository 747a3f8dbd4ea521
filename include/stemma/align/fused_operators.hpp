// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_FUSED_OPERATORS_HPP
#define STEMMA_ALIGN_FUSED_OPERATORS_HPP

#include <stemma/config.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// What runtimes fuse into one operator, one group per line: `types = leading operators | operators
/// fused in`.
///
/// The leading ones are the main purpose of the fused operator; the others may be part of it. A
/// type whose name also exists in the standard domain is written as `domain::Type`.
inline constexpr std::string_view fused_operators = R"(
FusedConv NhwcFusedConv com.microsoft.nchwc::Conv = Conv | Add Sum Relu Sigmoid Tanh LeakyRelu Clip HardSigmoid HardSwish Gelu
NhwcConv QLinearConv ConvInteger NhwcQLinearConv = Conv
QLinearConvTranspose ConvTransposeWithDynamicPads = ConvTranspose
com.microsoft.nchwc::MaxPool com.ms.internal.nhwc::MaxPool NhwcMaxPool = MaxPool
com.microsoft.nchwc::AveragePool QLinearAveragePool = AveragePool
com.microsoft.nchwc::GlobalAveragePool QLinearGlobalAveragePool = GlobalAveragePool
com.microsoft.nchwc::GlobalMaxPool = GlobalMaxPool
com.microsoft.nchwc::Upsample = Resize Upsample
FusedMatMul TransposeMatMul = MatMul | Transpose Mul Div
FusedMatMulActivation = MatMul | Transpose Mul Div Add Relu Sigmoid Tanh LeakyRelu Clip
FusedGemm GemmFastGelu = Gemm MatMul | Add Relu Sigmoid Tanh LeakyRelu Elu Selu Softplus Softsign HardSigmoid Gelu Erf
GemmFloat8 QGemm MatMulNBits MatMulIntegerToFloat DynamicQuantizeMatMul = MatMul Gemm | Add
MatMulBnb4 MatMulFpQ4 QLinearMatMul MatMulInteger MatMulInteger16 = MatMul Gemm
BiasGelu BiasSplitGelu = Gelu Erf | Add Mul Split
FastGelu = Gelu Tanh | Add
QuickGelu = Sigmoid Swish | Mul
BiasAdd = Add
BiasDropout BitmaskBiasDropout = Dropout | Add
BiasSoftmax = Softmax | Add
SkipLayerNormalization = LayerNormalization ReduceMean | Add
SkipSimplifiedLayerNormalization SkipRMSNormalization = SimplifiedLayerNormalization RMSNormalization ReduceMean | Add
EmbedLayerNormalization QEmbedLayerNormalization = LayerNormalization ReduceMean | Gather Add
SkipGroupNorm GroupNorm = GroupNormalization InstanceNormalization | Add Sigmoid Mul
Attention QAttention QOrderedAttention LongformerAttention PackedAttention DecoderAttention = Softmax | MatMul Gemm Add Mul Div Sub Sqrt Transpose Reshape Split Slice Squeeze Unsqueeze Where Concat Expand Cast Trilu
MultiHeadAttention PackedMultiHeadAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention GroupQueryAttention SparseAttention PagedAttention MultiScaleDeformableAttention = Softmax | MatMul Add Mul Div Sub Sqrt Transpose Reshape Where Concat Expand Cast Trilu
RelativePositionBias GatedRelativePositionBias = Gather | MatMul Add Mul Sub Where Log Min Abs Less Cast Sigmoid Transpose Reshape
RotaryEmbedding GemmaRotaryEmbedding = Mul | Add Sub Neg Slice Split Concat Cos Sin Gather Unsqueeze
QMoE MoE = MatMul | Gemm TopK Softmax Relu Gelu Sigmoid Mul Add
QLinearAdd = Add
QLinearMul = Mul
QLinearSigmoid = Sigmoid
QLinearLeakyRelu = LeakyRelu
QLinearSoftmax = Softmax
QLinearConcat = Concat
QLinearWhere = Where
QLinearReduceMean = ReduceMean
DynamicQuantizeLSTM = LSTM
ReorderInput ReorderOutput = Transpose
)";

/// Whether a fused operator always includes one from a neighbour of the module whose parameters it
/// reads: an activation, or the addition before a normalization.
[[nodiscard]] constexpr bool joins_neighbour(std::string_view type) noexcept {
    constexpr std::array<std::string_view, 6> types{
        "BiasGelu",    "BiasSplitGelu",          "BiasSoftmax",
        "BiasDropout", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization"};
    return std::find(types.begin(), types.end(), type) != types.end();
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_FUSED_OPERATORS_HPP
