// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_MODEL_DIFF_HPP
#define STEMMA_COMPARE_MODEL_DIFF_HPP

#include <stemma/compare/module_pairs.hpp>
#include <stemma/compare/node_match.hpp>
#include <stemma/compare/tensor_difference.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// What happened to a module from one model to another one.
enum class module_change : std::uint8_t {
    added,     ///< only the second model has it
    removed,   ///< only the first model has it
    moved,     ///< it stands below another module, or runs in another place
    renamed,   ///< it has another name below the same module
    quantized, ///< only one of the two computes with quantized numbers
    fused,     ///< operators became one, perhaps with those of other modules
    relowered, ///< other operators do its work
    rewired,   ///< the same operators read something else
    weights,   ///< the same operators, or others, have other weights
};

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(module_change change) noexcept {
    constexpr std::array<std::string_view, 9> names{"added",     "removed",   "moved",
                                                    "renamed",   "quantized", "fused",
                                                    "relowered", "rewired",   "weights"};
    return names[static_cast<std::size_t>(change)];
}

/// An initializer, or the tensor of a Constant, that is not the same in two models.
struct weight_difference {
    id first = no_id;             ///< value in the first model
    id second = no_id;            ///< value in the second model
    std::string text;             ///< type and shape; of both where they differ
    bool comparable = false;      ///< whether `difference` says something
    tensor_difference difference; ///< of the elements
};

/// A module that differs, and how.
struct module_difference {
    id first = no_id;                   ///< module of the first tree; `no_id` where added
    id second = no_id;                  ///< module of the second tree; `no_id` where it has none
    std::vector<module_change> changes; ///< never empty; in the order of the enumeration
    bool same_boundary = true;          ///< what differs inside reads and gives the same
    std::vector<id> only_first;         ///< its nodes without a partner, ascending
    std::vector<id> only_second;        ///< nodes of the second model without a partner, ascending
    std::vector<std::pair<id, id>> changed; ///< pairs of those: equal types, other attributes
    std::vector<std::pair<id, id>> rewired; ///< partners that read something else
    std::vector<id> into; ///< modules of the second tree that do what nodes of this one did
    std::vector<weight_difference> weights; ///< in the order in which they are read

    /// Whether that happened, perhaps with more.
    [[nodiscard]] bool has(module_change change) const {
        return std::find(changes.begin(), changes.end(), change) != changes.end();
    }
};

/// A difference of the model itself: of an operator set, an input or an output.
struct header_difference {
    std::string what;   ///< `opset ai.onnx`, `input x`, `output`
    std::string first;  ///< in the first model; "" where it has none
    std::string second; ///< in the second model; "" where it has none
};

/// How two models differ, module by module.
struct model_diff {
    /// What is said of the files as a whole.
    std::vector<header_difference> header;
    /// Of modules; those of the first model in the order of its tree, each added one behind the
    /// partner of its sibling in front, or of its parent.
    std::vector<module_difference> modules;
    module_pairs pairs;               ///< which modules are partners
    node_match nodes{0, 0};           ///< which nodes are partners
    std::size_t first_modules = 0;    ///< of the first model, with operators in or below them
    std::size_t second_modules = 0;   ///< of the second model
    std::size_t paired_modules = 0;   ///< of the first model, with a partner
    std::size_t same_modules = 0;     ///< of those, without a difference of their own
    std::size_t first_nodes = 0;      ///< of the first model, without constants
    std::size_t second_nodes = 0;     ///< of the second model
    std::size_t matched_nodes = 0;    ///< pairs
    std::size_t compared_weights = 0; ///< pairs

    /// Whether nothing differs.
    [[nodiscard]] bool is_equal() const noexcept { return header.empty() && modules.empty(); }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_MODEL_DIFF_HPP
