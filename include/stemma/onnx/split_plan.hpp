// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_SPLIT_PLAN_HPP
#define STEMMA_ONNX_SPLIT_PLAN_HPP

#include <stemma/algorithm/partition.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/error.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/cut_facts.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/cut_planner.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/policy/cost.hpp>
#include <stemma/policy/cut.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma {

/// One part of a split model.
struct split_part {
    id module = 0;          ///< that holds all of its nodes
    id level = 0;           ///< of a module that other parts have to run between: 0, 1, ...
    std::vector<id> nodes;  ///< of the main graph, that are its own, ascending
    std::vector<id> clones; ///< the others it holds: copies of constants of other parts, ascending
    std::uint64_t cost = 0; ///< of its own nodes, as the policy has it
    cut_plan plan;          ///< how it is written
};

/// Divides the main graph of a model into parts that run one after the other.
///
/// Constants, and what is computed from weights alone, go with their first reader and are copied to
/// the others.
template <cost_policy Cost = cost_in_bytes>
class split_planner {
public:
    /// `loads` is by node and counts weights where they are first read; `attributions` by node.
    /// Requires: all outlive the planner; `cuts` pulls in what depends on weights, and serves
    /// nothing else. Throws: `error` of `refused` for a graph with a cycle.
    /// Complexity: O(nodes + edges).
    split_planner(const onnx_model& model, cut_planner<>& cuts, const tree_index& modules,
                  std::span<const attribution> attributions, std::span<const operator_load> loads,
                  Cost cost = {})
        : model_(model)
        , cuts_(cuts)
        , facts_(cuts.facts(0))
        , modules_(modules)
        , attributions_(attributions)
        , loads_(loads)
        , cost_(std::move(cost)) {
        if (facts_.order().size() != facts_.view().nodes.size()) {
            STEMMA_THROW(error(error_code::refused, "", "split", "the graph has a cycle"));
        }
        find_homeless();
        for (auto v : facts_.order()) {
            if (!facts_.set.apart[v]) {
                order_.push_back(v);
            }
        }
    }

    /// Splits by part: `part_of(module)` says, for the module of a node, which module's part the
    /// node goes to. Parts that read from each other in circles are divided by level; with `joins`
    /// levels that nothing keeps apart are joined again.
    /// Complexity: O(nodes + edges), and that of `join_levels`.
    template <class PartOf>
    [[nodiscard]] std::vector<split_part> by_module(PartOf part_of, bool joins = false) {
        std::vector<id> part(facts_.view().nodes.size(), no_id);
        for (auto v : order_) {
            part[v] = part_of(module_of(v));
        }
        auto pieces = make_acyclic(facts_.view().graph, std::span<const id>(part), modules_.size(),
                                   std::span<const id>(order_));
        if (joins) {
            join_levels(facts_.view().graph, pieces);
        }
        std::vector<split_part> parts(pieces.pieces.size());
        for (std::size_t p = 0; p < parts.size(); ++p) {
            parts[p].module = pieces.pieces[p].part;
            parts[p].level = pieces.pieces[p].level;
        }
        return filled(std::move(parts), std::move(pieces.piece_of));
    }

    /// Splits into exactly `count` parts of about equal cost, each a stretch of the graph's order.
    /// Throws: `error` of `refused` when there are fewer nodes that are not constant.
    /// Complexity: O(nodes + edges), and what planning the parts takes.
    [[nodiscard]] std::vector<split_part> into(std::size_t count) {
        if (count == 0 || count > order_.size()) {
            STEMMA_THROW(error(error_code::refused, "", "split",
                               "into " + std::to_string(count) + " parts: the graph has " +
                                   std::to_string(order_.size()) + " nodes that are not constant"));
        }
        const auto costs = costs_in_order();
        const auto crossing = count_crossing();
        const auto begins = divide_evenly(costs, count, [&](std::size_t i) {
            const auto meet = modules_.lca(module_of(order_[i - 1]), module_of(order_[i]));
            return std::pair(crossing[i], modules_.depth(meet));
        });
        std::vector<split_part> parts(count);
        std::vector<id> piece(facts_.view().nodes.size(), no_id);
        for (std::size_t p = 0; p < count; ++p) {
            const auto end = p + 1 < count ? begins[p + 1] : order_.size();
            parts[p].module = module_of(order_[begins[p]]);
            for (auto i = begins[p]; i < end; ++i) {
                piece[order_[i]] = static_cast<id>(p);
                parts[p].module = modules_.lca(parts[p].module, module_of(order_[i]));
            }
        }
        return filled(std::move(parts), std::move(piece));
    }

private:
    [[nodiscard]] id module_of(id v) const { return attributions_[facts_.view().nodes[v]].module; }

    /// What is constant has a home where it is read. What nobody reads, and what the model gives
    /// out, is made to count like everything else; all is where nothing else is.
    void find_homeless() {
        const auto& graph = facts_.view().graph;
        std::vector<bool> gives_out(model_.node_count(), false);
        for (auto value : model_.graph(0).outputs) {
            if (value != no_id && model_.producer(value) != no_id) {
                gives_out[model_.producer(value)] = true;
            }
        }
        const bool all_constant = std::all_of(facts_.order().begin(), facts_.order().end(),
                                              [&](id v) { return bool{facts_.set.apart[v]}; });
        for (auto v : facts_.order()) {
            if (all_constant || out_degree(v, graph) == 0 || gives_out[facts_.view().nodes[v]]) {
                facts_.set.apart[v] = false;
            }
        }
    }

    /// Returns: by place in the order the cost of a node, with the constants it is the first to
    /// read.
    [[nodiscard]] std::vector<std::uint64_t> costs_in_order() const {
        const auto& graph = facts_.view().graph;
        std::vector<std::uint64_t> costs(order_.size(), 0);
        std::vector<id> place(facts_.view().nodes.size(), no_id);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            place[order_[i]] = static_cast<id>(i);
        }
        for (auto v = facts_.order().rbegin(); v != facts_.order().rend(); ++v) {
            if (facts_.set.apart[*v]) {
                for (auto [it, last] = adjacent_vertices(*v, graph); it != last; ++it) {
                    place[*v] = std::min(place[*v], place[*it]);
                }
            }
            costs[place[*v]] += cost_.cost(loads_[facts_.view().nodes[*v]]);
        }
        return costs;
    }

    /// Returns: by place in the order, how many values cross it.
    [[nodiscard]] std::vector<std::int64_t> count_crossing() const {
        std::vector<std::int64_t> crossing(order_.size() + 1, 0);
        std::vector<id> place(facts_.view().nodes.size(), no_id);
        for (std::size_t i = 0; i < order_.size(); ++i) {
            place[order_[i]] = static_cast<id>(i);
        }
        const auto& graph = facts_.view().graph;
        for (auto v : order_) {
            id last_reader = place[v];
            for (auto [it, last] = adjacent_vertices(v, graph); it != last; ++it) {
                if (place[*it] != no_id) {
                    last_reader = std::max(last_reader, place[*it]);
                }
            }
            ++crossing[place[v] + 1];
            if (last_reader + 1U < crossing.size()) {
                --crossing[last_reader + 1];
            }
        }
        for (std::size_t i = 1; i < crossing.size(); ++i) {
            crossing[i] += crossing[i - 1];
        }
        return crossing;
    }

    [[nodiscard]] std::vector<split_part> filled(std::vector<split_part> parts,
                                                 std::vector<id> piece) {
        // Constants, last ones first: what reads them has a home already.
        for (auto v = facts_.order().rbegin(); v != facts_.order().rend(); ++v) {
            if (facts_.set.apart[*v]) {
                for (auto [it, last] = adjacent_vertices(*v, facts_.view().graph); it != last;
                     ++it) {
                    piece[*v] = std::min(piece[*v], piece[*it]);
                }
            }
        }
        std::vector<std::vector<id>> members(parts.size());
        for (id v = 0; v < piece.size(); ++v) {
            auto& part = parts[piece[v]];
            part.nodes.push_back(facts_.view().nodes[v]);
            part.cost += cost_.cost(loads_[facts_.view().nodes[v]]);
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
        return parts;
    }

    /// A part that nobody reads from gives out what is not read: a model has outputs.
    void give_something_out(cut_plan& plan) const {
        if (!plan.outputs.empty()) {
            return;
        }
        plan.refusal = cut_refusal::none;
        for (auto node : plan.nodes) {
            if (out_degree(model_.position(node), facts_.view().graph) == 0) {
                for (id i = 0; i < model_.output_count(node); ++i) {
                    if (!model_.value_name(model_.first_output(node) + i).empty()) {
                        plan.outputs.push_back(model_.first_output(node) + i);
                    }
                }
            }
        }
    }

    const onnx_model& model_;
    cut_planner<>& cuts_;
    cut_facts& facts_;
    const tree_index& modules_;
    std::span<const attribution> attributions_;
    std::span<const operator_load> loads_;
    Cost cost_;
    std::vector<id> order_; // vertices that are not constant, producers first
};

} // namespace stemma

#endif // STEMMA_ONNX_SPLIT_PLAN_HPP
