// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EXACT_FACTS_HPP
#define STEMMA_TYPES_DETAIL_EXACT_FACTS_HPP

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/exact_moves.hpp>
#include <stemma/types/detail/exact_shapes.hpp>
#include <stemma/types/detail/exact_windows.hpp>
#include <stemma/types/detail/extent_algebra.hpp>
#include <stemma/types/detail/fact_table.hpp>
#include <stemma/types/detail/tensor_facts.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Infers extents that the other rules leave open, as polynomials in named extents.
class exact_facts {
public:
    /// `bound` gives values of names. Unnamed open extents of inputs are named after the input and
    /// the axis, `x.0`. Requires: `table` outlives this.
    exact_facts(fact_table& table, const std::map<std::string, std::int64_t>& bound)
        : table_(table), algebra_(table.names()) {
        const auto& model = table.model();
        for (id value = 0; value < model.value_count(); ++value) {
            if (model.kind(value) != value_kind::initializer && table[value].ranked()) {
                bind(value, model.kind(value) == value_kind::input, bound);
            }
        }
    }

    exact_facts(const exact_facts&) = delete;
    exact_facts& operator=(const exact_facts&) = delete;

    [[nodiscard]] extent_algebra& algebra() noexcept { return algebra_; }
    [[nodiscard]] const extent_algebra& algebra() const noexcept { return algebra_; }

    /// Returns: whether the other rules are not needed.
    bool infer(id node, std::string_view domain, std::string_view op) {
        if (!domain.empty() && !is_one_of(domain, " com.microsoft com.microsoft.nchwc ")) {
            return false;
        }
        return shapes_.infer(node, op) || windows_.infer(node, op) || moves_.infer(node, op);
    }

    /// Whether inference of an operator depends on anything specific to the node.
    [[nodiscard]] static bool looks_around(std::string_view op) { return op == "Where"; }

private:
    void bind(id value, bool is_input, const std::map<std::string, std::int64_t>& bound) {
        auto facts = table_[value];
        bool changed = false;
        for (std::size_t i = 0; i < facts.rank(); ++i) {
            auto& extent = (*facts.dims)[i];
            if (extent >= 0 || (extent == any_extent && !is_input)) {
                continue;
            }
            if (extent == any_extent) {
                const std::string name(table_.model().value_name(value));
                extent = algebra_.named(name + "." + std::to_string(i));
                changed = true;
            }
            const auto name = table_.names()[static_cast<id>(-2 - extent)];
            if (const auto entry = bound.find(std::string(name)); entry != bound.end()) {
                extent = entry->second;
                changed = true;
            }
        }
        if (changed) {
            table_.put(value, std::move(facts));
        }
    }

    fact_table& table_;
    extent_algebra algebra_;
    exact_shapes shapes_{table_, algebra_};
    exact_moves moves_{table_, algebra_};
    exact_windows windows_{table_, algebra_};
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EXACT_FACTS_HPP
