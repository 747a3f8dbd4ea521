// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_RANK_DEMANDS_HPP
#define STEMMA_TYPES_DETAIL_RANK_DEMANDS_HPP

#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/elementwise_rules.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/layer_rules.hpp>
#include <stemma/types/detail/movement_rules.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/detail/type_rules.hpp>
#include <stemma/types/detail/window_rules.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns the rank that an operator demands of an input, if it demands one of that.
using rank_demand = std::optional<std::size_t> (*)(const rule_node& node, std::size_t slot);

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

struct operator_demand {
    std::string_view op_type;
    rank_demand rank;
};

/// By operator, of any domain that has it; sorted.
inline constexpr std::array<operator_demand, 16> operator_demands{{
    {"AveragePool", demands::window<0>},
    {"Concat", demands::any_input},
    {"Conv", demands::window<1>},
    {"ConvInteger", demands::window<1>},
    {"ConvTranspose", demands::window<1>},
    {"DepthToSpace", demands::fixed<4, 0>},
    {"FusedConv", demands::window<1>},
    {"GRU", demands::fixed<3, 0, 5>},
    {"Gemm", demands::fixed<2, 0, 1>},
    {"LSTM", demands::fixed<3, 0, 5, 6>},
    {"MaxPool", demands::window<0>},
    {"Pad", demands::padding},
    {"QLinearConv", demands::window<3>},
    {"RNN", demands::fixed<3, 0, 5>},
    {"SpaceToDepth", demands::fixed<4, 0>},
    {"Transpose", demands::permutation},
}};

static_assert(std::is_sorted(operator_demands.begin(), operator_demands.end(),
                             [](const operator_demand& a, const operator_demand& b) {
                                 return a.op_type < b.op_type;
                             }));

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
            readers_ = grouped_ids(model_.value_count(), [&](auto take) {
                for (id node = 0; node < model_.node_count(); ++node) {
                    for (auto read : model_.inputs(node)) {
                        if (read != no_id) {
                            take(read, node);
                        }
                    }
                }
            });
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
        const auto demand = std::lower_bound(
            operator_demands.begin(), operator_demands.end(), rule->op_type,
            [](const operator_demand& one, std::string_view type) { return one.op_type < type; });
        if (demand != operator_demands.end() && demand->op_type == rule->op_type) {
            return demand->rank(seen, slot);
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
