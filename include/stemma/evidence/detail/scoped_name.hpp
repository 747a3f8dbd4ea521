// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPED_NAME_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPED_NAME_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// How operator names encode scopes.
enum class scope_style : std::uint8_t {
    called,   ///< `/encoder/layer.0/Add_1`: instance names of the modules called, as torch exports
    relative, ///< `model/layers.0/Add_node_7`: names relative to the parent, as builders write
    typed, ///< `app.Net::/app.Block::layer.0/Add`: instances with classes, as PyTorch stores them
};

/// The number of styles, and thus of root scopes.
inline constexpr id scope_style_count = 3;

/// Returns: whether `text` is `stem`, or `stem` followed by `_` and a number.
[[nodiscard]] constexpr bool is_counted(std::string_view text, std::string_view stem) noexcept {
    if (!begins_with(text, stem)) {
        return false;
    }
    text.remove_prefix(stem.size());
    return text.empty() || (text.front() == '_' && is_number(text.substr(1)));
}

/// A parsed name: its scope and the style it is written in.
struct scoped_name {
    std::string_view scope;                  ///< without enclosing slashes; "" for the root
    scope_style style = scope_style::called; ///< which root it starts at
    bool exact = true;   ///< written for this operator rather than one it replaced
    bool within = false; ///< of something around, which may also call the operator's module
};

/// Removes `suffix` and a number after it, `_token_12`; leaves other names unchanged.
constexpr void drop_numbered(std::string_view& name, std::string_view suffix) noexcept {
    auto stem = name;
    while (!stem.empty() && is_digit(stem.back())) {
        stem.remove_suffix(1);
    }
    if (stem.size() < name.size() && stem.ends_with(suffix)) {
        name = stem.substr(0, stem.size() - suffix.size());
    }
}

/// Whether a name is one that torch's exporter gives to what a node computes, as
/// `/encoder/Constant_output_0`, and not to parameters.
[[nodiscard]] constexpr bool is_result_name(std::string_view name) noexcept {
    return name.starts_with('/') && name.find("_output_") != name.npos;
}

/// Returns: a name without the prefixes of ONNX Runtime for conversions to another precision:
/// `InsertedPrecisionFreeCast_/fc/MatMul_output_0`, `InsertedCast_fc.weight`, and `FusedBack_` in
/// front of what it merged with such a conversion.
[[nodiscard]] constexpr std::string_view without_cast(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 3> casts{"InsertedPrecisionFreeCast_", "InsertedCast_",
                                                    "FusedBack_"};
    for (std::size_t before = 0; before != name.size();) {
        before = name.size();
        for (const auto cast : casts) {
            name.remove_prefix(begins_with(name, cast) ? cast.size() : 0);
        }
    }
    return name;
}

/// Returns: the name that a parameter, or another value, had before an optimizer fused it with
/// others and put a prefix in front that ends in a capital: `ConvBnFusion_BN_B_layer1.bn.bias`,
/// `ConvAddFusion_Add_B_...`.
[[nodiscard]] constexpr std::string_view without_fusion_prefix(std::string_view name) noexcept {
    constexpr std::string_view fusion = "Fusion_";
    const auto position = name.substr(0, name.find('.')).find(fusion);
    if (position == name.npos || name.front() < 'A' || name.front() > 'Z') {
        return name;
    }
    const auto rest = name.substr(position + fusion.size());
    const auto is_role = [&](std::size_t at) { // `B_`
        return at + 1 < rest.size() && is_capital(rest[at]) && rest[at + 1] == '_';
    };
    if (is_role(0)) {
        return rest.substr(2);
    }
    const auto first = std::min(rest.find('_'), rest.size()); // after `BN`, `Add`, `Mul`
    return first > 0 && first <= 3 && is_capital(rest.front()) && is_role(first + 1)
               ? rest.substr(first + 3)
               : name;
}

/// Whether a parameter was fused with others, `ConvBnFusion_BN_B_layer1.bn.bias`.
[[nodiscard]] constexpr bool is_fused_name(std::string_view name) noexcept {
    name = without_cast(name);
    return without_fusion_prefix(name).size() != name.size();
}

/// Returns: a name without the prefix that a runtime gives to what it fused, `fused /conv1/Conv`,
/// or converted, also if that was a constant which it fused, `ConvMulFusion_Mul_B_/fc/Constant`.
[[nodiscard]] constexpr std::string_view without_fused(std::string_view name) noexcept {
    constexpr std::string_view fused = "fused ";
    name.remove_prefix(begins_with(name, fused) ? fused.size() : 0);
    name = without_cast(name);
    const auto value = without_fusion_prefix(name);
    return value.starts_with('/') ? value : name;
}

/// Removes suffixes that runtimes and quantizers append to the names of operators or values they
/// replace: `/MatMulAddFusion`, `/duplicated`, `_nchwc`, `_token_12`, `_output_0`.
constexpr void drop_tool_suffixes(std::string_view& name) noexcept {
    constexpr std::array<std::string_view, 2> layouts{"_nchwc", "_bn"};
    for (std::size_t before = 0; before != name.size();) {
        before = name.size();
        while (name.size() > 1 && name.back() == '/') {
            name.remove_suffix(1);
        }
        const auto slash = name.rfind('/');
        if (slash != name.npos && slash > 0 && name.ends_with("Fusion")) {
            name.remove_suffix(name.size() - slash);
        }
        drop_numbered(name, "_token_");
        if (const auto copy = name.rfind('/');
            copy != name.npos && copy > 0 && is_counted(name.substr(copy + 1), "duplicated")) {
            name.remove_suffix(name.size() - copy);
        }
        for (const auto layout : layouts) {
            name.remove_suffix(name.ends_with(layout) ? layout.size() : 0);
        }
    }
    drop_numbered(name, "_output_");
}

/// Returns: the name of the operator or value whose gradient another one computes, `/fc/Gemm` for
/// `/fc/Gemm_Grad/ReduceSum_2`, `onnx::Gemm_4`, `fc.weight`; other names unchanged, as modules may
/// be called `conv_Grad`.
[[nodiscard]] constexpr std::string_view differentiated(std::string_view name) noexcept {
    constexpr std::string_view gradient = "_Grad";
    if (name.find('G') == name.npos) { // rarer than `_`
        return name;
    }
    const auto is_type = [](std::string_view part) {
        return !part.empty() && is_capital(part.front()) && part.find('.') == part.npos;
    };
    for (auto at = name.find(gradient); at != name.npos; at = name.find(gradient, at + 1)) {
        const auto before = name.substr(0, at);
        auto behind = name.substr(at + gradient.size());
        const bool is_value = before.find('/') == before.npos &&
                              (before.find('.') != before.npos || before.find("::") != before.npos);
        bool is_gradient = (is_value || is_type(before.substr(before.rfind('/') + 1))) &&
                           (behind.empty() || behind.front() == '/' || behind.front() == '_');
        while (is_gradient && behind.starts_with('/')) { // operators, and what fused them
            behind.remove_prefix(1);
            const auto part = behind.substr(0, behind.find('/'));
            is_gradient = part.empty() || is_type(part);
            behind.remove_prefix(part.size());
        }
        if (is_gradient) {
            return before;
        }
    }
    return name;
}

/// Whether `text` begins with `stem`, ignoring case: some tools write operators as `add`.
[[nodiscard]] constexpr bool starts_alike(std::string_view text, std::string_view stem) noexcept {
    return text.size() >= stem.size() &&
           std::equal(stem.begin(), stem.end(), text.begin(),
                      [&](char a, char b) { return to_lower(a) == to_lower(b); });
}

/// Returns: the first level of a name with its `/`; "" if it has none, or a very long one.
[[nodiscard]] constexpr std::string_view first_level(std::string_view name) noexcept {
    constexpr std::size_t longest = 256;
    const auto slash = name.find('/');
    return name.substr(0, slash < longest ? slash + 1 : 0);
}

/// Calls `f(part)` for each of several names joined by `_`, `a/bn/Relu_a/conv/Conv2D`: the first
/// level occurs again. Complexity: O(length).
template <class Function>
constexpr void for_each_joined(std::string_view name, Function f) {
    const auto level = first_level(name);
    const auto is_again = [&](std::size_t at) {
        return !level.empty() && at > level.size() && name[at - 1] != '/' &&
               name.substr(at + 1).starts_with(level);
    };
    std::size_t begin = 0;
    for (auto at = name.find('_'); at != name.npos; at = name.find('_', at + 1)) {
        if (is_again(at)) {
            f(name.substr(begin, at - begin));
            begin = at + 1;
        }
    }
    f(name.substr(begin));
}

/// Whether it is the joined names of several operators: `a/Conv2D;a/BiasAdd`. Some tools write `;`
/// as `_`: there a name before the last one ends in the type of an operator.
[[nodiscard]] constexpr bool is_joined(std::string_view name) noexcept {
    if (name.starts_with('/')) {
        return false;
    }
    if (name.find(';') != name.npos) {
        return true;
    }
    const auto level = first_level(name);
    bool joined = false;
    if (!level.empty() && name.find(level, level.size()) != name.npos) {
        for_each_joined(name, [&](std::string_view part) {
            const auto last = part.substr(part.rfind('/') + 1);
            joined =
                joined || (part.end() != name.end() && !last.empty() && is_capital(last.front()));
        });
    }
    return joined;
}

/// Returns: the scope that all of several names joined by `_` share, possibly "". Complexity:
/// O(length).
[[nodiscard]] constexpr std::string_view joined_scope(std::string_view name) noexcept {
    auto shared = name;
    for_each_joined(name, [&](std::string_view part) {
        part = part.substr(0, part.rfind('/') + 1);
        const auto differ = std::mismatch(part.begin(), part.end(), shared.begin(), shared.end());
        shared = part.substr(0, static_cast<std::size_t>(differ.first - part.begin()));
        shared = shared.substr(0, shared.rfind('/') + 1);
    });
    return shared.substr(0, shared.empty() ? 0 : shared.size() - 1);
}

/// Returns: the scope in an operator's name, if it is a scoped name for this operator type.
[[nodiscard]] constexpr std::optional<scoped_name>
split_scoped_name(std::string_view name, std::string_view op_type) noexcept {
    const auto slash = name.rfind('/');
    if (op_type.empty() || detail::is_joined(name) ||
        detail::differentiated(name).size() != name.size()) {
        return std::nullopt;
    }
    if (slash == name.npos) {
        // Builders write the root's operators without any slash.
        const bool built = name.size() > op_type.size() && name.starts_with(op_type) &&
                           is_counted(name.substr(op_type.size()), "_node") && name.back() != 'e';
        return built ? std::optional(scoped_name{"", scope_style::relative, true}) : std::nullopt;
    }
    auto last = name.substr(slash + 1);
    if (name.substr(0, slash).find("::") != name.npos) {
        return is_counted(last, op_type)
                   ? std::optional(scoped_name{name.substr(0, slash), scope_style::typed, true})
                   : std::nullopt;
    }
    if (name.front() == '/') {
        if (!is_counted(last, op_type)) {
            return std::nullopt;
        }
        return scoped_name{name.substr(1, slash == 0 ? 0 : slash - 1), scope_style::called, true};
    }
    if (detail::starts_alike(last, op_type)) {
        last.remove_prefix(op_type.size());
        if (is_counted(last, "") || is_counted(last, "_") || is_counted(last, "_node")) {
            return scoped_name{name.substr(0, slash), scope_style::relative, true};
        }
    }
    return std::nullopt;
}

/// Returns: the scope of the operator whose name, or whose result's name, an optimizer left as part
/// of this one: `fused /layer1/conv1/Conv`, `/encoder/dense/MatMul/MatMulAddFusion`,
/// `/norm/Pow/LayerNormFusion/`, `/conv1/Conv_output_0_nchwc`, `_inlfunc_Gelu_/act/Mul`,
/// `/fc/MatMul_quant`. With an operator type also of one whose name ends in a word of another
/// framework: `bert/norm/moments/mean`; constants are called after what reads them, `add/y`. Names
/// joined by `_` mean what contains all of them; those joined by `;` mean nothing.
/// Complexity: O(length).
[[nodiscard]] constexpr std::optional<scoped_name>
split_leftover_name(std::string_view name, std::string_view op_type = {}) noexcept {
    constexpr std::string_view inlined = "_inlfunc_";
    name = detail::without_fused(name);
    if (name.starts_with(inlined)) {
        const auto original = name.find("_/");
        if (original == name.npos) {
            return std::nullopt;
        }
        name.remove_prefix(original + 1);
    }
    name = detail::differentiated(name);
    detail::drop_tool_suffixes(name);
    if (detail::is_joined(name)) {
        const auto shared = name.find(';') == name.npos ? detail::joined_scope(name) : "";
        return shared.empty()
                   ? std::nullopt
                   : std::optional(scoped_name{shared, scope_style::relative, false, true});
    }
    const auto slash = name.rfind('/');
    if (slash == name.npos || slash + 1 == name.size()) {
        return std::nullopt;
    }
    const bool typed = name.substr(0, slash).find("::") != name.npos;
    const bool foreign = !typed && name.front() != '/' && !op_type.empty() && op_type != "Constant";
    // Operators are capitalized like classes, modules lower-case like variables.
    const char first = name[slash + 1];
    const bool lower = first >= 'a' && first <= 'z';
    if ((first < 'A' || first > 'Z') && !(foreign && lower)) {
        return std::nullopt;
    }
    if (typed) {
        return scoped_name{name.substr(0, slash), scope_style::typed, false};
    }
    return name.front() == '/'
               ? scoped_name{name.substr(1, slash == 0 ? 0 : slash - 1), scope_style::called, false}
               : scoped_name{name.substr(0, slash), scope_style::relative, false};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPED_NAME_HPP
