// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_CONSTANTS_HPP
#define STEMMA_FOLD_DETAIL_FOLD_CONSTANTS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/fold/detail/dissolve_regions.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_regions.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The values of a graph that are needed outside it.
class graph_results {
public:
    /// None.
    graph_results() = default;

    /// The outputs of graph `g`, and the values `exposed`. Complexity: O(values log values).
    graph_results(const onnx_model& model, id g, std::span<const id> exposed = {})
        : values_(model.graph(g).outputs) {
        values_.insert(values_.end(), exposed.begin(), exposed.end());
        std::sort(values_.begin(), values_.end());
    }

    /// Returns: all of them, ascending; outputs without a name as `no_id`.
    [[nodiscard]] const std::vector<id>& values() const noexcept { return values_; }

    /// Whether a value is one of them; never for `no_id`. Complexity: O(log outputs).
    [[nodiscard]] bool contains(id value) const {
        return value != no_id && std::binary_search(values_.begin(), values_.end(), value);
    }

private:
    std::vector<id> values_;
};

/// Copies every Constant into the regions that read it, before its first reader there. Unread
/// Constants and those that are `leaving` the graph stay.
///  `view` is the graph; items are its vertices. Returns: by vertex, whether it was moved.
/// Complexity: O(V + E log E + regions).
[[nodiscard]] inline std::vector<bool> spread_constants(const onnx_model& model,
                                                        const graph_results& leaving,
                                                        const nested_view& view,
                                                        std::vector<fold_region>& regions) {
    const auto region = find_places(regions, view.nodes.size());
    std::vector<bool> moved(view.nodes.size(), false);
    std::vector<std::pair<id, id>> wanted; // reader's region, constant
    for (id v = 0; v < view.nodes.size(); ++v) {
        const auto node = view.nodes[v];
        if (!is_constant_node(model, node) || model.output_count(node) != 1 ||
            !model.inputs(node).empty() || leaving.contains(model.first_output(node))) {
            continue;
        }
        const auto begin = wanted.size();
        for (const id reader : view.graph.readers(v)) {
            wanted.emplace_back(region[reader], v);
            moved[v] = moved[v] || wanted.back().first != region[v];
        }
        if (!moved[v]) {
            wanted.resize(begin);
        }
    }
    wanted = range::each_once(std::move(wanted));
    auto next = wanted.begin();
    for (id r = 0; r < regions.size(); ++r) {
        const auto end =
            std::find_if(next, wanted.end(), [&](const auto& w) { return w.first != r; });
        std::vector<bool> here; // by place in the run of this region
        here.assign(static_cast<std::size_t>(end - next), false);
        std::vector<fold_item> items;
        for (const auto& item : std::exchange(regions[r].items, {})) {
            if (!item.is_region && moved[item.index]) {
                continue;
            }
            const auto producers =
                item.is_region ? std::span<const id>() : view.graph.producers(item.index);
            for (const id from : producers) {
                const auto place = std::lower_bound(next, end, std::pair(r, from));
                if (place != end && place->second == from &&
                    !here[static_cast<std::size_t>(place - next)]) {
                    here[static_cast<std::size_t>(place - next)] = true;
                    items.push_back({from, false});
                }
            }
            items.push_back(item);
        }
        regions[r].items = std::move(items);
        next = end;
    }
    count_operators(regions);
    return moved;
}

/// Returns: by region of graph `g`, whether it has no outputs, or fewer operators than `least`.
/// `leaving` are the results of the graph; `spread` marks vertices copied into every reading
/// region. Complexity: O(V + E) per level of nesting.
[[nodiscard]] inline std::vector<bool>
find_idle_regions(const onnx_model& model, id g, const graph_results& leaving,
                  const nested_view& view, const std::vector<bool>& spread, std::size_t least,
                  const std::vector<fold_region>& regions) {
    const auto region = find_places(regions, view.nodes.size());
    std::vector<bool> idle(regions.size(), true);
    const auto give = [&](id from, id to) {
        for (auto r = from; !holds_region(regions, r, to); r = regions[r].parent) {
            idle[r] = false;
        }
    };
    for (auto value : leaving.values()) {
        if (value != no_id && model.producer(value) != no_id &&
            model.graph_of(model.producer(value)) == g) {
            give(region[model.position(model.producer(value))], 0);
        }
    }
    for (id v = 0; v < view.nodes.size(); ++v) {
        if (spread[v]) {
            continue;
        }
        for (const id reader : view.graph.readers(v)) {
            give(region[v], region[reader]);
        }
    }
    for (id r = 0; r < regions.size(); ++r) {
        idle[r] = r != 0 && (idle[r] || regions[r].operators < least);
    }
    return idle;
}

/// Turns varying constants of functions into attributes: fills in `constants` and `slots` of a
/// plan.
///  `same(a, b)` compares corresponding nodes. Requires: items of the calls of a function
/// correspond, Constants to Constants. Complexity: O(items) per level of nesting.
template <class Same>
void find_varying_constants(const onnx_model& model, fold_plan& plan, Same same) {
    plan.constants.assign(plan.regions.size(), {});
    for (auto r = static_cast<id>(plan.regions.size()); r-- > 0;) {
        auto& all = plan.constants[r];
        if (plan.is_graph(r)) {
            continue;
        }
        for (const auto& item : plan.regions[r].items) {
            if (item.is_region) {
                const auto& inside = plan.constants[item.index];
                all.insert(all.end(), inside.begin(), inside.end());
            } else if (is_constant_node(model, item.index)) {
                all.push_back(item.index);
            }
        }
    }
    for (auto& function : plan.functions) {
        function.slots.assign(plan.constants[function.region].size(), no_id);
    }
    for (id r = 0; r < plan.regions.size(); ++r) {
        if (plan.is_graph(r)) {
            continue;
        }
        auto& function = plan.functions[plan.function[r]];
        const auto& first = plan.constants[function.region];
        for (std::size_t i = 0; r != function.region && i < first.size(); ++i) {
            if (function.slots[i] == no_id && !same(first[i], plan.constants[r][i])) {
                function.slots[i] = 0;
            }
        }
    }
    for (auto& function : plan.functions) {
        for (auto& slot : function.slots) {
            slot = slot == no_id ? no_id : function.attributes++;
        }
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_CONSTANTS_HPP
