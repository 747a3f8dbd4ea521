// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_SPLIT_PLANNER_HPP
#define STEMMA_CUT_SPLIT_PLANNER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/cut_facts.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/partition_graph.hpp>
#include <stemma/error.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A part of a split model.
struct split_part {
    id module = 0;          ///< the common ancestor of its nodes
    id level = 0;           ///< 0, 1, ... if the module is divided into levels
    std::vector<id> nodes;  ///< its own nodes of the main graph, ascending
    std::vector<id> clones; ///< copies of constants of other parts, ascending
    std::uint64_t cost = 0; ///< of its own nodes, by the policy
    cut_plan plan;          ///< for writing it
};

/// Divides the main graph of a model into parts that run in sequence.
///
/// Constants, and what is computed from weights alone, belong to their first reader's part and are
/// copied to the others.
template <detail::costing Cost = cost_in_bytes>
class split_planner {
public:
    /// `loads`, by node, counts weights where they are first read; `attributions` is by node.
    /// Requires: all outlive the planner; `cuts` pulls in what depends on weights, and is used by
    /// nothing else. Throws: `error` of `malformed` for a graph with a cycle; of `refused` if costs
    /// add up to 2^63 or more. Complexity: O(nodes + edges).
    split_planner(const onnx_model& model, cut_planner<>& cuts, const tree_index& modules,
                  std::span<const attribution> attributions, std::span<const operator_load> loads,
                  const Cost& cost = {})
        : model_(model)
        , cuts_(cuts)
        , facts_(cuts.facts(0))
        , modules_(modules)
        , attributions_(attributions) {
        if (facts_.order().size() != facts_.view().nodes.size()) {
            detail::refuse_cycle(model, 0);
        }
        find_homeless();
        for (auto v : facts_.order()) {
            if (!facts_.set.apart[v]) {
                order_.push_back(v);
            }
        }
        find_costs(loads, cost);
    }

    /// Splits by a policy. Parts on cycles are divided by level; with `joins`, levels are merged
    /// again where possible.
    /// Throws: `error` of `refused` if the policy refuses, or returns an invalid plan.
    /// Complexity: O(nodes + edges), plus that of the policy and of `join_levels`.
    template <partition_policy<operator_graph> Policy>
    [[nodiscard]] std::vector<split_part> divide(const Policy& policy, bool joins = false) {
        std::vector<id> of_place(order_.size());
        std::transform(order_.begin(), order_.end(), of_place.begin(),
                       [&](id v) { return module_of(v); });
        const auto costs = costs_in_order();
        const partition_problem<operator_graph> problem{facts_.view().graph, order_, costs,
                                                        of_place, &modules_};
        const partition_plan plan = policy.partition(problem);
        if (!plan.refusal.empty()) {
            STEMMA_THROW(error(error_code::refused, model_.file(), "split", plan.refusal));
        }
        if (const auto fault = detail::find_partition_fault(plan, order_.size(), modules_.size());
            !fault.empty()) {
            STEMMA_THROW(error(error_code::refused, model_.file(), "split", fault));
        }
        auto pieces = detail::make_pieces(problem, plan, joins);
        std::vector<split_part> parts(pieces.pieces.size());
        for (std::size_t p = 0; p < parts.size(); ++p) {
            parts[p].level = pieces.pieces[p].level;
            parts[p].module =
                plan.module_of.empty() ? no_id : plan.module_of[pieces.pieces[p].part];
        }
        for (std::size_t i = 0; plan.module_of.empty() && i < order_.size(); ++i) {
            auto& around = parts[pieces.piece_of[order_[i]]].module;
            around = around == no_id ? of_place[i] : modules_.lca(around, of_place[i]);
        }
        return filled(std::move(parts), std::move(pieces.piece_of));
    }

private:
    [[nodiscard]] id module_of(id v) const { return attributions_[facts_.view().nodes[v]].module; }

    void find_costs(std::span<const operator_load> loads, const Cost& cost) {
        constexpr auto most = std::uint64_t{1} << 63U;
        std::uint64_t sum = 0;
        for (auto node : facts_.view().nodes) {
            const std::uint64_t one = detail::cost(cost, loads[node]);
            if (one >= most - sum) {
                STEMMA_THROW(error(error_code::refused, model_.file(), "cost",
                                   "the sum of all costs is not below 2^63"));
            }
            sum += one;
            costs_.push_back(one);
        }
    }

    /// Constants belong where they are read. Unread ones, outputs of the model and what is computed
    /// from these are treated like other nodes; so are all if the graph has nothing else.
    void find_homeless() {
        const auto& graph = facts_.view().graph;
        std::vector<bool> gives_out(model_.node_count(), false);
        for (auto value : model_.graph(0).outputs) {
            if (value != no_id && model_.producer(value) != no_id) {
                gives_out[model_.producer(value)] = true;
            }
        }
        const bool all_constant =
            detail::range::all_of(facts_.order(), [&](id v) { return bool{facts_.set.apart[v]}; });
        for (auto v : facts_.order()) {
            if (all_constant || out_degree(v, graph) == 0 || gives_out[facts_.view().nodes[v]] ||
                !facts_.are_apart(graph.producers(v))) {
                facts_.set.apart[v] = false;
            }
        }
    }

    /// Returns: by position in the order, the cost of a node with the constants that it is the
    /// first to read.
    [[nodiscard]] std::vector<std::uint64_t> costs_in_order() const {
        const auto& graph = facts_.view().graph;
        std::vector<std::uint64_t> costs(order_.size(), 0);
        std::vector<id> place(facts_.view().nodes.size(), no_id);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            place[order_[i]] = static_cast<id>(i);
        }
        for (auto v = facts_.order().rbegin(); v != facts_.order().rend(); ++v) {
            if (facts_.set.apart[*v]) {
                for (const id reader : graph.readers(*v)) {
                    place[*v] = std::min(place[*v], place[reader]);
                }
            }
            costs[place[*v]] += costs_[*v];
        }
        return costs;
    }

    [[nodiscard]] std::vector<split_part> filled(std::vector<split_part> parts,
                                                 std::vector<id> piece) {
        // Constants in reverse, so that their readers already have a part.
        for (auto v = facts_.order().rbegin(); v != facts_.order().rend(); ++v) {
            if (facts_.set.apart[*v]) {
                for (const id reader : facts_.view().graph.readers(*v)) {
                    piece[*v] = std::min(piece[*v], piece[reader]);
                }
            }
        }
        std::vector<std::vector<id>> members(parts.size());
        for (id v = 0; v < piece.size(); ++v) {
            auto& part = parts[piece[v]];
            part.nodes.push_back(facts_.view().nodes[v]);
            part.cost += costs_[v];
            if (!facts_.set.apart[v]) {
                members[piece[v]].push_back(v);
            }
        }
        for (std::size_t p = 0; p < parts.size(); ++p) {
            auto& part = parts[p];
            part.plan = cuts_.plan_exactly(0, members[p]);
            give_something_out(part.plan);
            std::set_difference(part.plan.clones.begin(), part.plan.clones.end(),
                                part.nodes.begin(), part.nodes.end(),
                                std::back_inserter(part.clones));
        }
        give_initializers_out(parts);
        return parts;
    }

    /// Initializers that the model returns are outputs of the first part that reads them, or of the
    /// first part.
    void give_initializers_out(std::vector<split_part>& parts) const {
        std::unordered_set<id> given;
        for (auto value : model_.graph(0).outputs) {
            if (parts.empty() || value == no_id || !model_.is_initializer(value) ||
                !given.insert(value).second) {
                continue;
            }
            auto from = std::find_if(parts.begin(), parts.end(), [&](const auto& part) {
                return detail::range::contains(part.plan.initializers, value);
            });
            if (from == parts.end()) {
                from = parts.begin();
                from->plan.initializers.push_back(value);
            }
            from->plan.outputs.push_back(value);
        }
    }

    /// A part without readers outputs its unread values, as a model must have outputs.
    void give_something_out(cut_plan& plan) const {
        if (!plan.outputs.empty()) {
            return;
        }
        plan.refusal = cut_refusal::none;
        for (auto node : plan.nodes) {
            if (out_degree(model_.position(node), facts_.view().graph) == 0) {
                for (auto value : model_.outputs(node)) {
                    if (!model_.value_name(value).empty()) {
                        plan.outputs.push_back(value);
                    }
                }
            }
        }
    }

    const onnx_model& model_;
    cut_planner<>& cuts_;
    detail::cut_facts& facts_;
    const tree_index& modules_;
    std::span<const attribution> attributions_;
    std::vector<std::uint64_t> costs_; // by vertex
    std::vector<id> order_;            // vertices that are not constant, producers first
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_SPLIT_PLANNER_HPP
