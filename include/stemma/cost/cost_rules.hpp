// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_COST_RULES_HPP
#define STEMMA_COST_COST_RULES_HPP

#include <stemma/config.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/model/detail/operator_domain.hpp>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Costs of operators, one formula per line, followed by a colon and the operators; `domain::type`
/// for those of a single domain. docs/cost.md explains the formulas.
inline constexpr std::string_view operator_cost_rules = R"(
alias: Identity Reshape Flatten Squeeze Unsqueeze Dropout
moves: Cast CastLike Transpose Concat Slice Split Gather GatherElements GatherND Expand Tile Pad
moves: Shape Size Constant ConstantOfShape Range OneHot Scatter ScatterElements ScatterND EyeLike
moves: DepthToSpace SpaceToDepth Trilu ReverseSequence Compress NonZero Unique Where QLinearConcat
moves: TensorScatter SplitToSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase
moves: SequenceInsert SequenceLength ConcatFromSequence Optional OptionalGetElement
moves: OptionalHasElement BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor And Or Xor Not
moves: QLinearWhere ReorderInput ReorderOutput CenterCropPad Col2Im GatherBlockQuantized
moves: StringConcat StringNormalizer StringSplit RegexFullMatch TfIdfVectorizer
moves: ZipMap CastMap DictVectorizer FeatureVectorizer LabelEncoder CategoryMapper ArrayFeatureExtractor
moves: RandomNormal RandomNormalLike RandomUniform RandomUniformLike Bernoulli Multinomial
moves: MemcpyFromHost MemcpyToHost
each 1: Abs Acos Acosh Add Asin Asinh Atan Atanh Ceil Clip Cos Cosh Div Equal Erf Exp Floor Greater
each 1: GreaterOrEqual IsInf IsNaN Less LessOrEqual Log Mod Mul Neg PRelu Pow Reciprocal Relu Round
each 1: Sign Sin Sinh Sqrt Sub Tan Tanh ThresholdedRelu BiasAdd Binarizer Scaler Imputer
each 2: LeakyRelu Shrink Softsign HardSigmoid
each 3: Elu Celu Selu Softplus HardSwish Sigmoid
each 4: Swish QuickGelu
each 5: Gelu Mish Softmax LogSoftmax
each 6: BiasGelu BiasSoftmax
each 8: FastGelu
each 2: BatchNormalization DequantizeLinear BatchNormInternal
each 3: QuantizeLinear RotaryEmbedding com.microsoft::RotaryEmbedding
each 4: DynamicQuantizeLinear RMSNormalization SimplifiedLayerNormalization LpNormalization
each 5: SkipSimplifiedLayerNormalization
each 7: LayerNormalization GroupNormalization InstanceNormalization MeanVarianceNormalization
each 7: GroupNorm Normalizer
each 8: SkipLayerNormalization SkipGroupNorm QLinearSigmoid QLinearLeakyRelu QLinearSoftmax
each 9: QLinearAdd QLinearMul
each 9: EmbedLayerNormalization
each 7: BiasSplitGelu
each 2: BiasDropout
sum: Max Mean Min Sum
input 1: ArgMax ArgMin CumSum ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum TopK Hardmax
input 1: GlobalAveragePool GlobalMaxPool NonMaxSuppression Det MaxUnpool
input 2: ReduceL1 ReduceL2 ReduceLogSum ReduceSumSquare GlobalLpPool LRN
input 3: ReduceLogSumExp QLinearGlobalAveragePool QLinearReduceMean
pool 1: AveragePool MaxPool NhwcMaxPool
pool 2: LpPool
pool 3: QLinearAveragePool
each 7: Resize Upsample GridSample
each 28: RoiAlign
each 1: MaxRoiPool AffineGrid
product 0 1: MatMul FusedMatMul MatMulInteger MatMulInteger16 TransposeMatMul FusedMatMulActivation
product 0 1 0 3: DynamicQuantizeMatMul
product 0 1 0 2: MatMulIntegerToFloat
product 0 3 0 3: QLinearMatMul
product 0 1 0 1: QOrderedMatMul
packed: MatMulNBits MatMulBnb4 MatMulFpQ4
gemm 0 1 2: Gemm FusedGemm GemmFloat8
gemm 0 1 2 8: GemmFastGelu
gemm 0 3 6 3: QGemm
convolution 1 2: Conv NhwcConv
convolution 1 3: DeformConv
convolution 1 2 1: FusedConv NhwcFusedConv
convolution 1 9: ConvInteger
convolution 3 8 3: QLinearConv
transposed 1 2: ConvTranspose
recurrence 12: LSTM DynamicQuantizeLSTM
recurrence 12: GRU
recurrence 3: RNN
einsum: Einsum
attention: Attention
weighted_attention 1: com.microsoft::Attention
weighted_attention 1: QAttention PackedAttention DecoderMaskedSelfAttention
head_attention: MultiHeadAttention DecoderMaskedMultiHeadAttention
group_attention: GroupQueryAttention
)";

/// Whether a domain is the standard one or one of ONNX Runtime's, in which a type means the same
/// unless the table has a line for the domain.
[[nodiscard]] constexpr bool has_usual_operators(std::string_view domain) noexcept {
    return is_standard_domain(domain) || domain.starts_with("com.microsoft") ||
           domain == "com.ms.internal.nhwc";
}

} // namespace detail

/// The costs of operators, as a replaceable table.
class cost_rules {
public:
    /// How to count the operations of one operator.
    struct rule {
        std::string_view formula;            ///< see `detail::operator_cost_rules`
        std::array<std::int64_t, 4> numbers; ///< its numbers; 0 if omitted
    };

    /// Operators of the standard and of ONNX Runtime.
    cost_rules() : cost_rules(detail::operator_cost_rules) {}

    /// Reads a table in the format of `detail::operator_cost_rules`.
    /// Requires: `table` outlives this. Complexity: O(length).
    explicit cost_rules(std::string_view table) {
        while (!table.empty()) {
            const auto line = detail::take_until(table, '\n');
            if (const auto colon = line.find(": "); colon != line.npos) {
                read_line(line.substr(0, colon), line.substr(colon + 2));
            }
        }
    }

    /// Returns: the rule of an operator: for its domain, or, if that is the standard one or one of
    /// ONNX Runtime's, without a domain; null if not listed. Complexity: O(length), expected.
    [[nodiscard]] const rule* find(std::string_view domain, std::string_view type) const {
        if (!domain.empty()) {
            std::string full(domain);
            if (const auto own = rules_.find(full.append("::").append(type)); own != rules_.end()) {
                return &own->second;
            }
        }
        if (!detail::has_usual_operators(domain)) {
            return nullptr;
        }
        const auto any = rules_.find(std::string(type));
        return any == rules_.end() ? nullptr : &any->second;
    }

private:
    void read_line(std::string_view formula, std::string_view operators) {
        rule read{detail::take_until(formula, ' '), {}};
        for (auto& number : read.numbers) {
            const auto word = detail::take_until(formula, ' ');
            std::from_chars(word.data(), word.data() + word.size(), number);
        }
        while (!operators.empty()) {
            rules_.insert_or_assign(std::string(detail::take_until(operators, ' ')), read);
        }
    }

    std::unordered_map<std::string, rule> rules_; // by type, or domain and type
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COST_COST_RULES_HPP
