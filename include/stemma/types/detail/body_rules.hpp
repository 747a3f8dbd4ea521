// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_BODY_RULES_HPP
#define STEMMA_TYPES_DETAIL_BODY_RULES_HPP

#include <stemma/core/id.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/rule_node.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// A node with bodies that are fully inferred.
class owner_node : public rule_node {
public:
    /// Requires: there are bodies, and all outlive this.
    owner_node(fact_table& table, id node, std::span<const id> bodies)
        : rule_node(table, node), table_(table), bodies_(bodies) {}

    /// Returns: common facts about a result of all bodies; nothing if one lacks it.
    [[nodiscard]] std::optional<tensor_facts> result(std::size_t slot) const {
        std::optional<tensor_facts> common;
        for (auto g : bodies_) {
            const auto& outputs = table_.model().graph(g).outputs;
            if (slot >= outputs.size() || outputs[slot] == no_id) {
                return std::nullopt;
            }
            const auto& facts = table_[outputs[slot]];
            if (!common) {
                common = made(facts.data_type, facts.dims);
            } else {
                keep_common(*common, facts);
            }
        }
        return common;
    }

    /// Returns: the number of formal inputs of the first body.
    [[nodiscard]] std::size_t formal_count() const {
        return table_.model().graph(bodies_.front()).inputs.size();
    }

private:
    const fact_table& table_;
    std::span<const id> bodies_;
};

/// Infers outputs of operators with bodies from the bodies' results.
namespace rules {

inline void branch(const owner_node& node) {
    for (std::size_t i = 0; i < node.output_count(); ++i) {
        if (auto result = node.result(i)) {
            node.set(i, std::move(*result));
        }
    }
}

/// Notes results of a loop: the first are its final states, the others stacked. The first `skipped`
/// results of the body are not outputs; all outputs have that many axes `around`.
inline void set_looped(const owner_node& node, std::size_t states, std::size_t skipped,
                       std::size_t around = 0) {
    for (std::size_t i = 0; i < node.output_count(); ++i) {
        if (const auto result = node.result(i + skipped); result && result->ranked()) {
            node.set(i, result->data_type,
                     extents(result->rank() + around + (i < states ? 0 : 1), any_extent));
        }
    }
}

/// The first two inputs are the trip count and the initial condition; the first result of the body
/// is the condition.
inline void loop(const owner_node& node) {
    set_looped(node, std::max<std::size_t>(node.input_count(), 2) - 2, 1);
}

/// In opset 8, inputs and outputs are batches.
inline void scan(const owner_node& node) {
    const auto formals = node.formal_count();
    const auto scanned = static_cast<std::size_t>(node.whole("num_scan_inputs", 0));
    set_looped(node, formals - std::min(formals, scanned), 0, node.opset() < 9 ? 1 : 0);
}

} // namespace rules

/// The rule of an operator with bodies.
struct body_rule {
    std::string_view op_type;
    void (*infer)(const owner_node& node);
};

inline constexpr std::array<body_rule, 3> body_rules{{
    {"If", rules::branch},
    {"Loop", rules::loop},
    {"Scan", rules::scan},
}};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_BODY_RULES_HPP
