// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_REWRITTEN_OPERATORS_HPP
#define STEMMA_ALIGN_REWRITTEN_OPERATORS_HPP

#include <stemma/align/fused_operators.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/category.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/model/detail/operator_domain.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// What converters, exporters and quantizers rewrite, as in `fused_operators`: `types = leading
/// operators | operators fused in`.
inline constexpr std::string_view rewritten_operators = R"(
Upsample = Resize
Resize = Upsample
Gelu = Erf Tanh | Div Mul Add Sqrt Pow
LayerNormalization = ReduceMean Pow Sqrt | Sub Add Div Mul Cast
RMSNormalization SimplifiedLayerNormalization = ReduceMean Pow Sqrt | Add Div Mul Cast Reciprocal
GroupNormalization = InstanceNormalization | Reshape Mul Add
InstanceNormalization = GroupNormalization | Reshape
HardSwish = HardSigmoid | Mul Clip Add Div
Gemm = MatMul | Add Transpose
MatMul = Gemm | Transpose
ReduceSum ReduceMean ReduceMax ReduceMin GlobalAveragePool AveragePool = ReduceMean ReduceSum GlobalAveragePool AveragePool
Softmax LogSoftmax = Exp | ReduceMax Sub ReduceSum Div Log Flatten Reshape
Attention = Softmax | MatMul Mul Div Transpose Reshape Add Cast Concat
Swish = Sigmoid | Mul
CastLike = Cast
Split = Slice Gather
Conv ConvTranspose FusedConv NhwcFusedConv com.microsoft.nchwc::Conv = | BatchNormalization Mul Add Sub Div Pad
Gemm MatMul = | BatchNormalization Mul Add
)";

/// Types that only rearrange their input, as tools insert them next to others.
inline constexpr std::string_view layout_operators =
    " Reshape Transpose Squeeze Unsqueeze Flatten Expand Slice Split Concat Pad Shape Gather "
    "Constant ";

/// Types that pass on their input in another type, layout or place: an inserted one belongs where
/// its data come from.
inline constexpr std::string_view passing_operators =
    " QuantizeLinear DequantizeLinear DynamicQuantizeLinear Cast Identity ReorderInput "
    "ReorderOutput MemcpyFromHost MemcpyToHost ";

/// Types that read and produce matrices only: operators inserted around them to change the rank
/// belong to them.
inline constexpr std::string_view matrix_operators = " Gemm FusedGemm QGemm ";

/// Whether such a list contains a type, in any domain. Complexity: O(length).
[[nodiscard]] inline bool lists_type(std::string_view list, std::string_view type) {
    return list.find(std::string(" ").append(plain_type(type)).append(" ")) != list.npos;
}

} // namespace detail

/// Which operators tools turn into which: those of the same type, or those that runtimes fuse,
/// converters lower or quantizers replace, from tables.
class rewritten_operators {
public:
    using policy_category = lexicon_category;

    /// With the built-in tables.
    rewritten_operators()
        : rewritten_operators({detail::fused_operators, detail::rewritten_operators}) {}

    /// Parses tables of that form. Complexity: O(length).
    explicit rewritten_operators(std::initializer_list<std::string_view> tables) {
        for (auto table : tables) {
            while (!table.empty()) {
                read(detail::take_until(table, '\n'));
            }
        }
    }

    /// Returns: how an operator of the changed graph fits one of the original.
    [[nodiscard]] correspondence correspond(std::string_view before, std::string_view after) const {
        if (before == after) {
            return correspondence::head;
        }
        auto best = correspondence::none;
        const auto range = find(after);
        for (const auto& [type, kind] : range) {
            best = type == before ? std::max(best, kind) : best;
        }
        // The reverse, for an operator that was decomposed.
        for (const auto& [type, kind] : find(before)) {
            best = type == after ? std::max(best, std::min(kind, correspondence::part)) : best;
        }
        return best;
    }

    [[nodiscard]] constexpr trail trail_of(std::string_view) const noexcept { return trail::maybe; }

private:
    struct entry {
        std::string type;
        correspondence kind = correspondence::none;
    };

    [[nodiscard]] const std::vector<entry>& find(std::string_view type) const {
        static const std::vector<entry> none;
        auto match = made_of_.find(std::string(type));
        match =
            match == made_of_.end() ? made_of_.find(std::string(detail::plain_type(type))) : match;
        return match == made_of_.end() ? none : match->second;
    }

    void read(std::string_view line) {
        const auto equals = line.find('=');
        if (equals == line.npos) {
            return;
        }
        const auto parts = line.substr(equals + 1);
        const auto bar = std::min(parts.find('|'), parts.size());
        for_each_word(line.substr(0, equals), [&](std::string_view type) {
            auto& list = made_of_[std::string(type)];
            for_each_word(parts.substr(0, bar), [&](std::string_view word) {
                list.push_back({std::string(word), correspondence::head});
            });
            for_each_word(parts.substr(std::min(bar + 1, parts.size())),
                          [&](std::string_view word) {
                              list.push_back({std::string(word), correspondence::part});
                          });
        });
    }

    template <class Function>
    static void for_each_word(std::string_view text, Function f) {
        for (;;) {
            const auto first = text.find_first_not_of(' ');
            if (first == text.npos) {
                return;
            }
            text.remove_prefix(first);
            const auto word = text.substr(0, text.find(' '));
            f(word);
            text.remove_prefix(word.size());
        }
    }

    std::unordered_map<std::string, std::vector<entry>> made_of_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_REWRITTEN_OPERATORS_HPP
