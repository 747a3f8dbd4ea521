// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_WEIGHTS_DETAIL_DERIVED_NAMES_HPP
#define STEMMA_WEIGHTS_DETAIL_DERIVED_NAMES_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/evidence/detail/find_quantized.hpp>
#include <stemma/weights/detail/weight_uses.hpp>

#include <array>
#include <map>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Suffixes that tools append to the name of a derived initializer.
struct made_of {
    std::string_view suffix;
    bool quantized;
    bool transposed;

    /// Whether it holds the quantized values, rather than their scale or zero point.
    [[nodiscard]] constexpr bool is_whole() const noexcept {
        return range::contains(quantized_suffixes, suffix);
    }
};

inline constexpr std::array<made_of, 7> name_suffixes{{{quantized_suffixes[0], true, false},
                                                       {"_scale", true, false},
                                                       {"_zero_point", true, false},
                                                       {quantized_suffixes[1], true, false},
                                                       {"_scales", true, false},
                                                       {"_transposed", false, true},
                                                       {"_fp16", false, false}}};

/// Whether ONNX Runtime named a weight that it stores in blocks of channels.
/// Complexity: O(1).
[[nodiscard]] constexpr bool is_named_after_layout(std::string_view name) noexcept {
    return name == "reorder" || name.starts_with("reorder_token_");
}

/// Returns: the operator after whose result PyTorch's exporter named an initializer, `Exp` for
/// `/a/Exp_1_output_0`, also between what tools add; nothing for other names.
/// Complexity: O(length).
[[nodiscard]] constexpr std::string_view type_in_result(std::string_view name) noexcept {
    const auto end = name.rfind("_output_");
    const auto begin = end == name.npos ? end : name.rfind('/', end);
    const auto type = begin == name.npos ? "" : name.substr(begin + 1, end - begin - 1);
    return type.substr(0, type.find('_')); // without the number of a repeated operator
}

/// Whether PyTorch gave a name to what a computation returned: `onnx::Mul_46`, stored instead of a
/// parameter, or `/a/Exp_output_0`, unless that operator only moves or converts elements.
/// Complexity: O(length).
[[nodiscard]] constexpr bool is_named_after_result(std::string_view name) noexcept {
    const auto type = type_in_result(name);
    return type.empty() ? name.find("::") != name.npos
                        : type != "Constant" && hands_on(type) == handed_on::no;
}

/// Names of initializers that tools derived from that of a weight.
class derived_names {
public:
    /// Adds the name of an initializer, which outlives this. Complexity: O(length * log names).
    void add(std::string_view name) {
        for (const auto& tool : name_suffixes) {
            if (tool.quantized && name.ends_with(tool.suffix)) {
                auto& seen = quantized_[name.substr(0, name.size() - tool.suffix.size())];
                (tool.is_whole() ? seen.whole : seen.part) = true;
            }
        }
    }

    /// Whether several names agree that a weight was quantized: `fc.weight_quantized` and
    /// `fc.weight_scale` for `fc.weight`. Complexity: as above.
    [[nodiscard]] bool is_quantized(std::string_view weight) const {
        const auto seen = quantized_.find(weight);
        return seen != quantized_.end() && seen->second.whole && seen->second.part;
    }

private:
    struct group {
        bool whole = false;
        bool part = false;
    };

    std::map<std::string_view, group> quantized_; // by weight
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_WEIGHTS_DETAIL_DERIVED_NAMES_HPP
