// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_INPUT_ROLES_HPP
#define STEMMA_ONNX_DETAIL_INPUT_ROLES_HPP

#include <stemma/config.hpp>
#include <stemma/core/text_list.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// What an operator uses an input as, as far as it distinguishes weights from other constants.
enum class input_role : std::uint8_t {
    operand,     ///< computes with it: its type decides whether it is a weight
    weight,      ///< kernel, matrix, bias: a weight of any type
    buffer,      ///< not learned: running statistics, masks, initial states, tables
    scale,       ///< multiplies quantized values
    zero_point,  ///< is subtracted from quantized values
    index,       ///< positions, extents and shapes
    setting,     ///< limits, thresholds, fill values: a weight only if named like one
    moved,       ///< passed through: the reader of the result decides
    dequantized, ///< passed through as real numbers: their reader decides
    factor,      ///< an operand; a scale if another factor is one, or quantized
    difference,  ///< an operand; a zero point if subtracted from a quantized constant
};

/// What one operator does with its inputs.
struct operator_roles {
    std::string_view inputs;         ///< a letter for each, see `input_roles`
    std::string_view outputs;        ///< the same for outputs; mostly ""
    std::string_view bits_attribute; ///< the attribute with the number of bits of a packed element
    unsigned bits = 0;               ///< its default; 0: never packed

    /// Returns: the role of an input; `operand` if unspecified. Complexity: O(1).
    [[nodiscard]] constexpr input_role input(std::size_t slot) const noexcept {
        return of(inputs, slot);
    }

    /// Returns: the role of an output, if it is a scale or a zero point. Complexity: O(1).
    [[nodiscard]] constexpr input_role output(std::size_t slot) const noexcept {
        return of(outputs, slot);
    }

private:
    [[nodiscard]] static constexpr input_role of(std::string_view letters,
                                                 std::size_t slot) noexcept {
        if (letters.ends_with('*')) { // repeats the letter before it
            slot = std::min(slot, letters.size() - 2);
        }
        constexpr std::string_view roles = ".wbszio>df-"; // in the order of `input_role`
        const auto role = roles.find(slot < letters.size() ? letters[slot] : '.');
        return role == roles.npos ? input_role::operand : static_cast<input_role>(role);
    }
};

/// The roles of operators' inputs, one operator per line, `domain::type` if domains differ: a
/// letter for each input (`.` operand, `w` weight, `b` buffer, `s` scale, `z` zero point, `i`
/// index, `o` setting, `>` moved, `d` dequantized, `f` factor, `-` difference; `*`: and so on),
/// after `->` one for each output, after `/` the attribute with the number of bits of a packed
/// element, and its default.
inline constexpr std::string_view operator_input_roles = R"(
Conv .ww
ConvTranspose .ww
DeformConv .w.w
Gemm .ww
MatMul ww
Gather >i
GatherElements >i
GatherND >i
BatchNormalization .wwbb
InstanceNormalization .ww
LayerNormalization .ww
GroupNormalization .ww
RMSNormalization .w
PRelu .w
LSTM .wwwibbw
GRU .wwwib
RNN .wwwib
Attention ...bbb
RotaryEmbedding .bbi
Resize .iii
Upsample .i
Identity >
Cast >
CastLike >
Transpose >
Reshape >i
Flatten >
Squeeze >i
Unsqueeze >i
Expand >i
Tile >i
Slice >iiii
Split >i
Pad >ioi
Clip .oo
Dropout .oi
OneHot iio
Range ooo
NonMaxSuppression ..ioo
MelWeightMatrix iiooo
Concat >*
QuantizeLinear >sz
DequantizeLinear dsz
DynamicQuantizeLinear . -> .sz
Mul ff
Sub --
QLinearConv .szwszszw
QLinearMatMul wszwszsz
ConvInteger .wzz
MatMulInteger wwzz
MatMulInteger16 ww
MatMulIntegerToFloat wwsszzw
DynamicQuantizeMatMul .wszw
DynamicQuantizeLSTM .wwwibbwszsz
QGemm .szwszwsz
QAttention .wwssbzzb
QEmbedLayerNormalization iiwwwwwissssszzzzz
QLinearAdd wszwszsz
QLinearMul wszwszsz
QLinearConcat szwszwszwszwsz
QLinearWhere iwszwszsz
QLinearSigmoid .szsz
QLinearLeakyRelu .szsz
QLinearSoftmax .szsz
QLinearAveragePool .szsz
QLinearGlobalAveragePool .szsz
QLinearReduceMean .szsz
QOrderedMatMul .swssw.s
MatMulNBits .wsziw / bits 4
MatMulBnb4 .ws / bits 4
MatMulFpQ4 .wi / bits 4
GatherBlockQuantized wisz / bits 4
QMoE ..wswwswwswzzz / expert_weight_bits 4
MoE ..wwwwww
GemmFloat8 .wwsss
GemmFastGelu .ww
FusedConv .ww.
FusedGemm .ww
FusedMatMul ww
FusedMatMulActivation ww
NhwcConv .ww
NhwcFusedConv .ww.
TransposeMatMul ww
BatchNormInternal .wwbb
BiasAdd .w.
BiasDropout .w.o
BitmaskDropout .o
BitmaskBiasDropout .w.o
BiasGelu .w
BiasSoftmax .b
BiasSplitGelu .w
FastGelu .w
GroupNorm .ww
SimplifiedLayerNormalization .w
SkipGroupNorm .ww.w
SkipLayerNormalization ..www
SkipSimplifiedLayerNormalization ..ww
EmbedLayerNormalization iiwwwwwii
RelativePositionBias wii
com.microsoft::Attention .wwbb.i
com.microsoft::RotaryEmbedding .ibb
PackedAttention .wwii.
PackedMultiHeadAttention ...wii.
DecoderMaskedSelfAttention .wwbb
SparseAttention ...bbiiiibb
LongformerAttention .wwbwwi
MultiHeadAttention ...wb.bb
DecoderMaskedMultiHeadAttention ...b.bb
GroupQueryAttention ...bbiibbi.w
)";

/// The roles of operators' inputs: a replaceable table.
class input_roles {
public:
    /// Standard operators, and those of ONNX Runtime.
    input_roles() : input_roles(operator_input_roles) {}

    /// Parses a table of the form of `operator_input_roles`.
    /// Requires: `table` outlives this. Complexity: O(length).
    explicit input_roles(std::string_view table) {
        while (!table.empty()) {
            read_line(take_until(table, '\n'));
        }
    }

    /// Returns: the entry of an operator, for its domain or for any; null if it is not listed.
    /// Complexity: O(length), expected.
    [[nodiscard]] const operator_roles* find(std::string_view domain, std::string_view type) const {
        if (!domain.empty()) {
            std::string full(domain);
            const auto entry = rows_.find(full.append("::").append(type));
            if (entry != rows_.end()) {
                return &entry->second;
            }
        }
        const auto match = rows_.find(std::string(type));
        return match == rows_.end() ? nullptr : &match->second;
    }

private:
    void read_line(std::string_view line) {
        const auto type = take_until(line, ' ');
        if (type.empty()) {
            return;
        }
        operator_roles row;
        row.inputs = take_until(line, ' ');
        while (!line.empty()) {
            const auto mark = take_until(line, ' ');
            const auto word = take_until(line, ' ');
            if (mark == "->") {
                row.outputs = word;
            } else if (mark == "/") {
                row.bits_attribute = word;
                const auto number = take_until(line, ' ');
                std::from_chars(number.data(), number.data() + number.size(), row.bits);
            }
        }
        rows_.insert_or_assign(std::string(type), row);
    }

    std::unordered_map<std::string, operator_roles> rows_; // by type, or domain and type
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_INPUT_ROLES_HPP
