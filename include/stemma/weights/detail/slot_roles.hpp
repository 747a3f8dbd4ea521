// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_SLOT_ROLES_HPP
#define STEMMA_WEIGHTS_DETAIL_SLOT_ROLES_HPP

#include <stemma/config.hpp>
#include <stemma/core/text_list.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The name in PyTorch modules of an operator's input.
struct slot_role {
    std::string_view attribute{}; ///< `weight`; "" if unknown
    bool transposed = false;      ///< read transposed
    bool sure = false;            ///< it can be nothing else
};

/// One operator per line with the names of its inputs; `.` for no entry. `'` marks transposed
/// inputs, `?` uncertain ones.
inline constexpr std::string_view operator_slot_roles = R"(
Conv . weight bias
ConvTranspose . weight bias
FusedConv . weight bias
NhwcConv . weight bias
NhwcFusedConv . weight bias
ConvInteger . weight
QLinearConv . . . weight . . . . bias
Gemm weight? weight bias
FusedGemm weight? weight bias
QGemm . . . weight . . bias
MatMul weight? weight'
FusedMatMul weight? weight'
MatMulInteger weight? weight'
MatMulIntegerToFloat weight? weight' . . . . bias
DynamicQuantizeMatMul . weight' . . bias
QLinearMatMul . . . weight'
MatMulNBits . weight'
Add bias? bias?
Mul weight? weight?
Gather weight
EmbeddingBag weight
BatchNormalization . weight bias running_mean running_var
InstanceNormalization . weight bias
LayerNormalization . weight bias
GroupNormalization . weight bias
RMSNormalization . weight
SimplifiedLayerNormalization . weight
SkipLayerNormalization . . weight bias
SkipSimplifiedLayerNormalization . . weight
PRelu . weight
BiasGelu . bias
FastGelu . bias
)";

/// Returns: the role of an input of an operator. Complexity: O(length of the table).
[[nodiscard]] constexpr slot_role role_of_slot(std::string_view type, std::size_t slot) noexcept {
    auto table = operator_slot_roles;
    while (!table.empty()) {
        auto line = take_until(table, '\n');
        if (!line.starts_with(type) || line.size() == type.size() || line[type.size()] != ' ') {
            continue;
        }
        line.remove_prefix(type.size() + 1);
        for (; slot > 0 && !line.empty(); --slot) {
            take_until(line, ' ');
        }
        auto word = line.substr(0, line.find(' '));
        if (word.empty() || word == ".") {
            return {};
        }
        slot_role role{word, false, true};
        if (word.ends_with('\'')) {
            role = {word.substr(0, word.size() - 1), true, true};
        } else if (word.ends_with('?')) {
            role = {word.substr(0, word.size() - 1), false, false};
        }
        return role;
    }
    return {};
}

/// Returns: the number of gates of a recurrent operator whose input is a weight or bias of all of
/// them; else 0. Complexity: O(1).
[[nodiscard]] constexpr unsigned gates_of_slot(std::string_view type, std::size_t slot) noexcept {
    return slot < 1 || slot > 3 ? 0
           : type == "LSTM"     ? 4
           : type == "GRU"      ? 3
           : type == "RNN"      ? 1
                                : 0;
}

/// Whether two parameter names have the same use: `gamma` and `weight`.
[[nodiscard]] inline bool means_alike(std::string_view attribute, std::string_view role) noexcept {
    constexpr std::array<std::string_view, 5> shifts{"bias", "beta", "shift", "offset", "pos"};
    const bool shift = std::any_of(shifts.begin(), shifts.end(), [&](std::string_view word) {
        return attribute.find(word) != attribute.npos;
    });
    return role == "bias" ? shift : role == "weight" && !shift;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_SLOT_ROLES_HPP
