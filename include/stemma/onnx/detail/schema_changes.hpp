// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_SCHEMA_CHANGES_HPP
#define STEMMA_ONNX_DETAIL_SCHEMA_CHANGES_HPP

#include <stemma/config.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The last opset of the standard domain that `changed_between` knows.
inline constexpr std::int64_t last_known_opset = 24;

/// Operators of the standard domain that an opset added or changed; from the changelog published by
/// ONNX (docs/Changelog.md), separated by blanks.
struct opset_changes {
    std::int64_t opset;
    std::string_view operators;
};

inline constexpr std::array<opset_changes, 7> opset_history{{
    {18,
     " BitwiseAnd BitwiseNot BitwiseOr BitwiseXor CenterCropPad Col2Im GroupNormalization LpPool "
     "Mish OptionalGetElement OptionalHasElement Pad ReduceL1 ReduceL2 ReduceLogSum "
     "ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare Resize "
     "ScatterElements ScatterND Split "},
    {19,
     " AveragePool Cast CastLike Constant DeformConv DequantizeLinear Equal Identity If Loop Pad "
     "QuantizeLinear Reshape Resize Scan Shape Size "},
    {20, " AffineGrid ConstantOfShape DFT Gelu GridSample ImageDecoder IsInf IsNaN ReduceMax "
         "ReduceMin RegexFullMatch StringConcat StringSplit "},
    {21, " Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten GroupNormalization "
         "Identity If Loop Pad QLinearMatMul QuantizeLinear Reshape Scan Shape Size Squeeze "
         "Transpose Unsqueeze "},
    {22,
     " Acos Acosh Asin Asinh Atan Atanh AveragePool Bernoulli Conv ConvTranspose Cos Cosh "
     "DeformConv Det Dropout Elu EyeLike GRU GlobalAveragePool GlobalLpPool GlobalMaxPool "
     "GridSample HardSigmoid HardSwish InstanceNormalization LSTM LpNormalization LpPool MaxPool "
     "MaxRoiPool MaxUnpool Mish Multinomial NegativeLogLikelihoodLoss RNN RandomNormal "
     "RandomNormalLike RandomUniform RandomUniformLike RoiAlign Round Selu Sin Sinh Softplus "
     "Softsign Tan ThresholdedRelu "},
    {23,
     " Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear RMSNormalization Reshape RotaryEmbedding Scan Shape Size Squeeze "
     "Transpose Unsqueeze "},
    {24,
     " Attention Cast CastLike Constant ConstantOfShape DequantizeLinear Flatten Identity If Loop "
     "Pad QuantizeLinear Reshape Scan Shape Size SplitToSequence Squeeze Swish TensorScatter "
     "TopK Transpose Unsqueeze "},
}};

/// Whether an operator of the standard domain may differ between opsets `later` and `earlier`, both
/// at least 17; true for unknown opsets.
/// Complexity: O(changes of the standard).
[[nodiscard]] constexpr bool changed_between(std::string_view op_type, std::int64_t earlier,
                                             std::int64_t later) noexcept {
    if (later > last_known_opset || earlier < 17) {
        return later != earlier;
    }
    if (op_type.empty() || op_type.find(' ') != op_type.npos) {
        return false;
    }
    for (const auto& change : detail::opset_history) {
        if (change.opset <= earlier || change.opset > later) {
            continue;
        }
        for (auto at = change.operators.find(op_type); at != std::string_view::npos;
             at = change.operators.find(op_type, at + 1)) {
            if (change.operators[at - 1] == ' ' && change.operators[at + op_type.size()] == ' ') {
                return true;
            }
        }
    }
    return false;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_SCHEMA_CHANGES_HPP
