// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_COMPARE_DECLARATIONS_HPP
#define STEMMA_COMPARE_DETAIL_COMPARE_DECLARATIONS_HPP

#include <stemma/compare/detail/compare_headers.hpp>
#include <stemma/compare/detail/compare_structure.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <optional>
#include <string>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the first difference between what two models with equal graphs declare: versions of
/// used operator sets, types and shapes of inputs and outputs.
/// Complexity: that of `compare_opsets` and `compare_interfaces`.
[[nodiscard]] inline std::optional<structure_difference> compare_declarations(const wire_model& a,
                                                                              const wire_model& b) {
    const auto say = [](const std::string& said, const model_diff::changed_header& one,
                        const std::string& as) {
        const auto or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
        return structure_difference{said + one.what + as + or_none(one.first) + ", the other one" +
                                        as + or_none(one.second),
                                    no_id, no_id};
    };
    if (const auto opsets = compare_opsets(a, b); !opsets.empty()) {
        return say("uses ", opsets.front(), " ");
    }
    if (const auto types = compare_interfaces(a, b); !types.empty()) {
        return say("declares ", types.front(), " as ");
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_COMPARE_DECLARATIONS_HPP
