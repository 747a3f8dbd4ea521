// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_MODEL_DIFF_HPP
#define STEMMA_COMPARE_MODEL_DIFF_HPP

#include <stemma/compare/detail/module_pairs.hpp>
#include <stemma/compare/detail/node_match.hpp>
#include <stemma/compare/tensor_difference.hpp>
#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/real_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The differences between two models, module by module.
struct model_diff {
    /// A change of a module between two models.
    enum class change : std::uint8_t {
        added,     ///< only in the second model
        removed,   ///< only in the first model
        moved,     ///< other parent, or data flows in another order
        renamed,   ///< other name, same parent
        quantized, ///< only one of the two is quantized
        fused,     ///< operators were fused, possibly across modules
        relowered, ///< other operators
        rewired,   ///< same operators, other inputs, or another output of the model
        weights,   ///< other weights
    };

    /// A change of the model itself: an operator set, input or output.
    struct changed_header {
        std::string what;   ///< `opset ai.onnx`; `input 0`: its name; `input x`: its type and shape
        std::string first;  ///< in the first model, or ""
        std::string second; ///< in the second model, or ""
    };

    /// A difference of an initializer or Constant.
    struct changed_weight {
        id first = no_id;             ///< value in the first model
        id second = no_id;            ///< value in the second model
        std::string text;             ///< type and shape; of both if they differ
        bool comparable = false;      ///< whether `difference` is meaningful
        tensor_difference difference; ///< of the elements
    };

    /// The changes of a module.
    struct changed_module {
        id first = no_id;            ///< module of the first tree; `no_id` where added
        id second = no_id;           ///< module of the second tree; `no_id` if removed
        std::vector<change> changes; ///< never empty; in the order of the enumeration
        bool same_boundary = true;   ///< changed nodes have the same inputs and outputs
        std::vector<id> only_first;  ///< its nodes without a partner, ascending
        std::vector<id> only_second; ///< nodes of the second model without a partner, ascending
        std::vector<std::pair<id, id>> changed; ///< pairs of those: equal types, other attributes
        std::vector<std::pair<id, id>> rewired; ///< partners with other inputs, or another output
        std::vector<id> into; ///< modules of the second tree that its nodes were fused into
        std::vector<changed_weight> weights; ///< in reading order

        /// Whether the changes include this one.
        [[nodiscard]] bool has(change change) const {
            return std::find(changes.begin(), changes.end(), change) != changes.end();
        }
    };

    /// Changes of the models themselves.
    std::vector<changed_header> header;
    /// Changes of modules, in tree order of the first model; added ones follow the partner of their
    /// previous sibling, or of their parent.
    std::vector<changed_module> modules;
    detail::module_pairs pairs;       ///< matched modules
    detail::node_match nodes{0, 0};   ///< matched nodes
    std::size_t first_modules = 0;    ///< of the first model, with operators in or below
    std::size_t second_modules = 0;   ///< of the second model
    std::size_t paired_modules = 0;   ///< of the first model, with a partner
    std::size_t same_modules = 0;     ///< of those, without own changes
    std::size_t first_nodes = 0;      ///< of the first model, without constants
    std::size_t second_nodes = 0;     ///< of the second model
    std::size_t matched_nodes = 0;    ///< pairs
    std::size_t compared_weights = 0; ///< pairs
    std::size_t missing_weights = 0;  ///< of those, without data in either model: not compared

    /// Whether nothing differs.
    [[nodiscard]] bool is_equal() const noexcept { return header.empty() && modules.empty(); }
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(model_diff::change change) noexcept {
    constexpr std::array<std::string_view, 9> names{"added",     "removed",   "moved",
                                                    "renamed",   "quantized", "fused",
                                                    "relowered", "rewired",   "weights"};
    return names[static_cast<std::size_t>(change)];
}

/// Options for comparing two models by module.
struct diff_options {
    bool weights = true;  ///< compare data of weights
    double tolerance = 0; ///< weights are equal up to this largest relative difference
    std::span<const std::pair<id, id>> known_partners = {}; ///< nodes known to correspond

    /// Throws: `error` of `error_code::refused` if the tolerance is negative or NaN.
    void check() const {
        if (!(tolerance >= 0)) {
            STEMMA_THROW(error(error_code::refused, "", "tolerance",
                               detail::real_text(tolerance) + " is not a number from 0"));
        }
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_MODEL_DIFF_HPP
