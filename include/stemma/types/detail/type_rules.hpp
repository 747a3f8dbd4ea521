// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_TYPE_RULES_HPP
#define STEMMA_TYPES_DETAIL_TYPE_RULES_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/types/detail/elementwise_rules.hpp>
#include <stemma/types/detail/layer_rules.hpp>
#include <stemma/types/detail/movement_rules.hpp>
#include <stemma/types/detail/product_rules.hpp>
#include <stemma/types/detail/reduction_rules.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/shape_rules.hpp>
#include <stemma/types/detail/signal_rules.hpp>
#include <stemma/types/detail/window_rules.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns the rank that an operator demands of an input, if it demands one of that.
using rank_demand = std::optional<std::size_t> (*)(const rule_node& node, std::size_t slot);

/// Ranks that operators demand of what they read.
namespace demands {

template <std::size_t Rank, std::size_t... Slots>
std::optional<std::size_t> fixed(const rule_node&, std::size_t slot) {
    return ((slot == Slots) || ...) ? std::optional(Rank) : std::nullopt;
}

/// As many extents as a window slides over, or as the weights have, besides batch and channels.
template <std::size_t Weights>
std::optional<std::size_t> window(const rule_node& node, std::size_t slot) {
    return slot == 0 ? rules::rank_of_window(node, Weights) : std::nullopt;
}

inline std::optional<std::size_t> permutation(const rule_node& node, std::size_t) {
    const auto order = node.attributes().wholes("perm");
    return order ? std::optional(order->size()) : std::nullopt;
}

inline std::optional<std::size_t> padding(const rule_node& node, std::size_t slot) {
    const auto pads = slot == 0 && !node.has_input(3) ? node.literal(1, "pads") : std::nullopt;
    return pads ? std::optional(pads->size() / 2) : std::nullopt;
}

/// All inputs have equal ranks.
inline std::optional<std::size_t> any_input(const rule_node& node, std::size_t) {
    for (std::size_t slot = 0; slot < node.input_count(); ++slot) {
        if (node.input(slot).ranked()) {
            return node.input(slot).rank();
        }
    }
    return std::nullopt;
}

} // namespace demands

/// A rule infers facts about the outputs of an operator from facts about its inputs.
struct type_rule {
    std::string_view op_type;
    void (*infer)(const rule_node& node);
    bool keeps_rank = false; // no attribute changes the rank of the output
    rank_demand demand = nullptr;
};

/// The standard domain.
inline constexpr type_rule standard_rules[] = {
    {"Abs", rules::like_first},
    {"Acos", rules::like_first},
    {"Acosh", rules::like_first},
    {"Add", rules::arithmetic<rules::sum>},
    {"AffineGrid", rules::affine_grid},
    {"And", rules::arithmetic<>},
    {"ArgMax", rules::place_of_extreme},
    {"ArgMin", rules::place_of_extreme},
    {"Asin", rules::like_first},
    {"Asinh", rules::like_first},
    {"Atan", rules::like_first},
    {"Atanh", rules::like_first},
    {"Attention", rules::scaled_attention},
    {"AveragePool", rules::pool<>, true, demands::window<0>},
    {"BatchNormalization", rules::batch_normalization, true},
    {"Bernoulli", rules::shaped_like_first},
    {"BitShift", rules::arithmetic<>},
    {"BitwiseAnd", rules::arithmetic<>},
    {"BitwiseNot", rules::like_first},
    {"BitwiseOr", rules::arithmetic<>},
    {"BitwiseXor", rules::arithmetic<>},
    {"BlackmanWindow", rules::window},
    {"Cast", rules::cast},
    {"CastLike", rules::cast_like},
    {"Ceil", rules::like_first},
    {"Celu", rules::like_first},
    {"CenterCropPad", rules::crop_or_pad},
    {"Clip", rules::like_first, true},
    {"Col2Im", rules::blocks_to_image},
    {"Concat", rules::concat, true, demands::any_input},
    {"Constant", rules::constant},
    {"ConstantOfShape", rules::constant_of_shape},
    {"Conv", rules::convolution<>, true, demands::window<1>},
    {"ConvInteger", rules::integer_convolution, false, demands::window<1>},
    {"ConvTranspose", rules::transposed_convolution, false, demands::window<1>},
    {"Cos", rules::like_first},
    {"Cosh", rules::like_first},
    {"CumSum", rules::like_first},
    {"DFT", rules::transform},
    {"DeformConv", rules::deformed_convolution},
    {"DepthToSpace", rules::move_blocks<true>, false, demands::fixed<4, 0>},
    {"DequantizeLinear", rules::dequantize},
    {"Div", rules::arithmetic<rules::quotient>},
    {"Dropout", rules::dropout, true},
    {"DynamicQuantizeLinear", rules::quantize_by_range},
    {"Einsum", rules::einsum},
    {"Elu", rules::like_first, true},
    {"Equal", rules::comparison},
    {"Erf", rules::like_first},
    {"Exp", rules::like_first},
    {"Expand", rules::expand},
    {"EyeLike", rules::shaped_like_first},
    {"Flatten", rules::flatten},
    {"Floor", rules::like_first},
    {"GRU", rules::recurrence, false, demands::fixed<3, 0, 5>},
    {"Gather", rules::gather, true},
    {"GatherElements", rules::gather_elements},
    {"GatherND", rules::gather_nd},
    {"Gelu", rules::like_first},
    {"Gemm", rules::gemm, true, demands::fixed<2, 0, 1>},
    {"GlobalAveragePool", rules::global_pool},
    {"GlobalLpPool", rules::global_pool},
    {"GlobalMaxPool", rules::global_pool},
    {"Greater", rules::comparison},
    {"GreaterOrEqual", rules::comparison},
    {"GridSample", rules::grid_sample},
    {"GroupNormalization", rules::like_first},
    {"HammingWindow", rules::window},
    {"HannWindow", rules::window},
    {"HardSigmoid", rules::like_first, true},
    {"HardSwish", rules::like_first},
    {"Hardmax", rules::like_first},
    {"Identity", rules::identity},
    {"InstanceNormalization", rules::like_first},
    {"IsInf", rules::element_test},
    {"IsNaN", rules::element_test},
    {"LRN", rules::like_first, true},
    {"LSTM", rules::recurrence, false, demands::fixed<3, 0, 5, 6>},
    {"LayerNormalization", rules::layer_normalization, true},
    {"LeakyRelu", rules::like_first, true},
    {"Less", rules::comparison},
    {"LessOrEqual", rules::comparison},
    {"Log", rules::like_first},
    {"LogSoftmax", rules::like_first, true},
    {"LpNormalization", rules::like_first},
    {"LpPool", rules::pool<>},
    {"MatMul", rules::product<>},
    {"MatMulInteger", rules::integer_product},
    {"Max", rules::arithmetic<rules::extreme<true>>},
    {"MaxPool", rules::pool<>, true, demands::window<0>},
    {"Mean", rules::arithmetic<>},
    {"MeanVarianceNormalization", rules::like_first},
    {"MelWeightMatrix", rules::filter_bank},
    {"Min", rules::arithmetic<rules::extreme<false>>},
    {"Mish", rules::like_first},
    {"Mod", rules::arithmetic<rules::remainder>},
    {"Mul", rules::arithmetic<rules::multiple>},
    {"Neg", rules::like_first},
    {"NonMaxSuppression", rules::selected_boxes},
    {"NonZero", rules::non_zero},
    {"Not", rules::like_first},
    {"OneHot", rules::one_hot},
    {"OptionalHasElement", rules::flag},
    {"Or", rules::arithmetic<>},
    {"PRelu", rules::like_first},
    {"Pad", rules::pad, false, demands::padding},
    {"Pow", rules::arithmetic<>},
    {"QLinearConv", rules::quantized_convolution, false, demands::window<3>},
    {"QLinearMatMul", rules::quantized_product},
    {"QuantizeLinear", rules::quantize},
    {"RMSNormalization", rules::scaled_normalization},
    {"RNN", rules::recurrence, false, demands::fixed<3, 0, 5>},
    {"RandomNormal", rules::random},
    {"RandomNormalLike", rules::shaped_like_first},
    {"RandomUniform", rules::random},
    {"RandomUniformLike", rules::shaped_like_first},
    {"Range", rules::range},
    {"Reciprocal", rules::like_first},
    {"ReduceL1", rules::reduction},
    {"ReduceL2", rules::reduction},
    {"ReduceLogSum", rules::reduction},
    {"ReduceLogSumExp", rules::reduction},
    {"ReduceMax", rules::reduction},
    {"ReduceMean", rules::reduction},
    {"ReduceMin", rules::reduction},
    {"ReduceProd", rules::reduction},
    {"ReduceSum", rules::reduction},
    {"ReduceSumSquare", rules::reduction},
    {"RegexFullMatch", rules::element_test},
    {"Relu", rules::like_first},
    {"Reshape", rules::reshape},
    {"Resize", rules::resize},
    {"ReverseSequence", rules::like_first},
    {"RoiAlign", rules::align_regions},
    {"RotaryEmbedding", rules::like_first},
    {"Round", rules::like_first},
    {"STFT", rules::short_transform},
    {"Scatter", rules::like_first},
    {"ScatterElements", rules::like_first},
    {"ScatterND", rules::like_first},
    {"Selu", rules::like_first, true},
    {"SequenceLength", rules::sequence_length},
    {"Shape", rules::shape},
    {"Shrink", rules::like_first},
    {"Sigmoid", rules::like_first},
    {"Sign", rules::like_first},
    {"SimplifiedLayerNormalization", rules::scaled_normalization},
    {"Sin", rules::like_first},
    {"Sinh", rules::like_first},
    {"Size", rules::size},
    {"Slice", rules::slice},
    {"Softmax", rules::like_first, true},
    {"Softplus", rules::like_first},
    {"Softsign", rules::like_first},
    {"SpaceToDepth", rules::move_blocks<false>, false, demands::fixed<4, 0>},
    {"Split", rules::split},
    {"Sqrt", rules::like_first},
    {"Squeeze", rules::squeeze},
    {"StringConcat", rules::arithmetic<>},
    {"StringSplit", rules::words},
    {"Sub", rules::arithmetic<rules::difference>},
    {"Sum", rules::arithmetic<>},
    {"Swish", rules::like_first},
    {"Tan", rules::like_first},
    {"Tanh", rules::like_first},
    {"TensorScatter", rules::like_first},
    {"ThresholdedRelu", rules::like_first},
    {"Tile", rules::tile},
    {"TopK", rules::top},
    {"Transpose", rules::transpose, true, demands::permutation},
    {"Trilu", rules::like_first},
    {"Unsqueeze", rules::unsqueeze},
    {"Upsample", rules::resize},
    {"Where", rules::where},
    {"Xor", rules::arithmetic<>},
};

/// `com.microsoft`: ONNX Runtime's replacements for several standard operators.
inline constexpr type_rule fused_rules[] = {
    {"Attention", rules::attention<0>},
    {"BiasAdd", rules::like_first},
    {"BiasDropout", rules::like_first},
    {"BiasGelu", rules::like_first},
    {"BiasSoftmax", rules::like_first},
    {"BiasSplitGelu", rules::gated_half},
    {"DequantizeLinear", rules::dequantize},
    {"DynamicQuantizeMatMul", rules::product<>},
    {"EmbedLayerNormalization", rules::embedding},
    {"FastGelu", rules::like_first},
    {"FusedConv", rules::convolution<>, false, demands::window<1>},
    {"FusedGemm", rules::gemm},
    {"FusedMatMul", rules::transposing_product},
    {"Gelu", rules::like_first},
    {"GroupNorm", rules::like_first},
    {"GroupQueryAttention", rules::attention_of_groups},
    {"MatMulBnb4", rules::packed_product},
    {"MatMulFpQ4", rules::packed_product},
    {"MatMulIntegerToFloat", rules::product<2>},
    {"MatMulNBits", rules::packed_product},
    {"MultiHeadAttention", rules::attention_of_heads},
    {"NhwcConv", rules::convolution<true>, false, demands::window<1>},
    {"NhwcFusedConv", rules::convolution<true>, false, demands::window<1>},
    {"NhwcMaxPool", rules::pool<true>, true, demands::window<0>},
    {"PackedAttention", rules::attention<0>},
    {"QAttention", rules::attention<2>},
    {"QGemm", rules::quantized_gemm},
    {"QLinearAdd", rules::quantized_arithmetic},
    {"QLinearAveragePool", rules::pool<>},
    {"QLinearConcat", rules::quantized_concat},
    {"QLinearConv", rules::quantized_convolution, false, demands::window<3>},
    {"QLinearGlobalAveragePool", rules::global_pool},
    {"QLinearLeakyRelu", rules::like_first},
    {"QLinearMul", rules::quantized_arithmetic},
    {"QLinearSigmoid", rules::like_first},
    {"QLinearSoftmax", rules::like_first},
    {"QuantizeLinear", rules::quantize},
    {"QuickGelu", rules::like_first},
    {"RotaryEmbedding", rules::like_first},
    {"SkipGroupNorm", rules::like_first},
    {"SkipLayerNormalization", rules::skip_normalization},
    {"SkipSimplifiedLayerNormalization", rules::skip_normalization},
};

/// `com.microsoft.nchwc`: operators of its layout optimization.
inline constexpr type_rule blocked_rules[] = {
    {"AveragePool", rules::pool<>, true, demands::window<0>},
    {"Conv", rules::convolution<>, true, demands::window<1>},
    {"GlobalAveragePool", rules::global_pool},
    {"GlobalMaxPool", rules::global_pool},
    {"MaxPool", rules::pool<>, true, demands::window<0>},
    {"ReorderInput", rules::to_blocks},
    {"ReorderOutput", rules::from_blocks},
    {"Upsample", rules::resize},
};

/// The rules of a domain, by operator.
struct domain_rules {
    std::string_view domain;
    std::span<const type_rule> rules;
};

inline constexpr std::array<domain_rules, 3> type_rules{{
    {"", standard_rules},
    {"com.microsoft", fused_rules},
    {"com.microsoft.nchwc", blocked_rules},
}};

static_assert(detail::range::all_of(type_rules, [](const domain_rules& of_domain) {
    return std::is_sorted(
        of_domain.rules.begin(), of_domain.rules.end(),
        [](const type_rule& a, const type_rule& b) { return a.op_type < b.op_type; });
}));

/// Returns: the rule of an operator, if there is one. Complexity: O(log rules).
[[nodiscard]] constexpr const type_rule* find_rule(std::string_view domain,
                                                   std::string_view op_type) {
    for (const auto& of_domain : type_rules) {
        if (of_domain.domain == domain) {
            const auto rule = std::lower_bound(
                of_domain.rules.begin(), of_domain.rules.end(), op_type,
                [](const type_rule& one, std::string_view type) { return one.op_type < type; });
            return rule != of_domain.rules.end() && rule->op_type == op_type ? &*rule : nullptr;
        }
    }
    return nullptr;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_TYPE_RULES_HPP
