// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_RANK_DEMANDS_HPP
#define STEMMA_TYPES_DETAIL_RANK_DEMANDS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/value_readers.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/elementwise_rules.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/layer_rules.hpp>
#include <stemma/types/detail/movement_rules.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/detail/type_rules.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// Ranks of values that their producers leave open, such as an If whose branches return different
/// ones: those that their readers demand. Readers in bodies demand nothing, as they may not run.
class rank_demands {
public:
    /// Requires: both outlive it.
    rank_demands(const wire_model& model, fact_table& table) : model_(model), table_(table) {}

    /// Returns: the rank demanded of a value; nothing if no reader demands one.
    /// Complexity: O(max_nodes), and O(inputs) the first time.
    [[nodiscard]] std::optional<std::size_t> of(id value) {
        if (readers_.size() == 0) {
            readers_ = value_readers(model_);
        }
        visited_ = 0;
        return find(value);
    }

private:
    static constexpr std::size_t max_nodes = 64;

    [[nodiscard]] std::optional<std::size_t> find(id value) {
        for (auto node : readers_[value]) {
            if (++visited_ > max_nodes) {
                break;
            }
            if (model_.graph_of(node) != model_.graph_of_value(value)) {
                continue;
            }
            const auto inputs = model_.inputs(node);
            const auto slot = std::find(inputs.begin(), inputs.end(), value) - inputs.begin();
            if (const auto rank = demanded(node, static_cast<std::size_t>(slot))) {
                return rank;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<std::size_t> demanded(id node, std::size_t slot) {
        const rule_node seen(table_, node);
        const auto* rule = find_rule(model_.domain(node), model_.op_type(node));
        if (rule == nullptr) {
            return std::nullopt;
        }
        if (rule->demand != nullptr) {
            return rule->demand(seen, slot);
        }
        const auto added = slot == 0 ? added_extents(seen, *rule) : std::nullopt;
        if (!added || seen.output_count() == 0) {
            return std::nullopt;
        }
        const auto result = model_.first_output(node);
        const auto rank =
            table_[result].ranked() ? std::optional(table_[result].rank()) : find(result);
        const auto own = static_cast<std::ptrdiff_t>(rank.value_or(0)) - *added;
        return rank && own >= 0 ? std::optional(static_cast<std::size_t>(own)) : std::nullopt;
    }

    /// Returns: how many extents more than the first input the result has, if that is known.
    [[nodiscard]] static std::optional<std::ptrdiff_t> added_extents(const rule_node& node,
                                                                     const type_rule& rule) {
        constexpr std::array alike{&rules::like_first,
                                   &rules::identity,
                                   &rules::cast,
                                   &rules::dropout,
                                   &rules::batch_normalization,
                                   &rules::layer_normalization,
                                   &rules::scaled_normalization,
                                   &rules::slice,
                                   &rules::split,
                                   &rules::shaped_like_first};
        const bool adds = rule.infer == &rules::unsqueeze;
        if (std::find(alike.begin(), alike.end(), rule.infer) != alike.end()) {
            return 0;
        }
        if (!adds && rule.infer != &rules::squeeze) {
            return std::nullopt;
        }
        const auto axes = node.literal(1, "axes");
        return axes ? std::optional(static_cast<std::ptrdiff_t>(axes->size()) * (adds ? 1 : -1))
                    : std::nullopt;
    }

    const wire_model& model_;
    fact_table& table_;
    grouped_ids readers_; // nodes by value
    std::size_t visited_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_RANK_DEMANDS_HPP
