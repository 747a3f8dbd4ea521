// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_CUT_PLANNER_HPP
#define STEMMA_CUT_CUT_PLANNER_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/detail/complete_calls.hpp>
#include <stemma/cut/detail/cut_facts.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/model/dependence.hpp>
#include <stemma/onnx/detail/called_functions.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Plans cutting sets of nodes out of a model. What plans share is computed once, and shared by
/// copies of the planner, so that each thread can use its own copy.
template <cut_policy Policy = standard_cut>
class cut_planner {
public:
    /// `random` says by node whether it is nondeterministic; `given` is as in `cut_options`.
    /// Requires: `model` outlives the planner.
    /// Complexity: that of `shared_cut_facts`.
    cut_planner(const onnx_model& model, Policy policy, std::vector<bool> random,
                const std::function<bool(std::string_view)>& given = {})
        : model_(model)
        , policy_(std::move(policy))
        , shared_(std::make_shared<const detail::shared_cut_facts>(model, std::move(random), given))
        , marks_(model.node_count(), mark::none)
        , seen_(model.value_count(), no_id) {}

    /// Derives `random` from operator types, see `find_random_operators`.
    explicit cut_planner(const onnx_model& model, Policy policy = {})
        : cut_planner(model, std::move(policy), detail::find_random_operators(model)) {}
    /// Returns: the nodes and bodies of each graph; valid as long as a copy of the planner.
    [[nodiscard]] const graph_contents& contents() const noexcept { return shared_->contents; }

    /// Plans the part with the nodes `wanted`: one plan, or one per convex run. Nodes of bodies
    /// come with their owner if that is wanted too, otherwise they are cut out of the body.
    ///
    /// `wanted` is ascending; `calls`, unless empty, is the module call of each (`no_id`: unknown),
    /// and no run spans two calls.
    /// Returns: at least one plan, possibly with a refusal, unless `wanted` is empty.
    /// Complexity: O(nodes + edges) from the first wanted node to the last, plus once that of each
    /// graph with wanted nodes.
    [[nodiscard]] std::vector<cut_plan> plan(std::span<const id> wanted,
                                             std::span<const id> calls = {}) {
        for (auto node : wanted) {
            marks_[node] = mark::core;
        }
        std::map<id, std::vector<detail::call_member<id>>> by_graph;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (!has_wanted_owner(wanted[i])) {
                by_graph[model_.graph_of(wanted[i])].push_back(
                    {model_.position(wanted[i]), calls.empty() ? 0 : calls[i]});
            }
        }
        for (auto node : wanted) {
            marks_[node] = mark::none;
        }
        std::vector<cut_plan> plans;
        auto aside = shared_->uncalled;
        if (!model_.functions().empty()) { // a call represents the body
            for (auto f : detail::called_functions(model_, contents(), wanted, [](id) {})) {
                aside.push_back(model_.functions()[f].graph);
            }
        }
        const auto is_aside = [&](id g) {
            return detail::range::contains(aside, contents().root(g));
        };
        const bool only_aside =
            detail::range::all_of(by_graph, [&](const auto& one) { return is_aside(one.first); });
        for (auto& [g, members] : by_graph) {
            if (only_aside || !is_aside(g)) {
                plan_in_graph(g, members, plans);
            }
        }
        return plans;
    }

    /// Plans a part with these vertices of graph `g`, convex or not, that returns no initializer.
    /// Complexity: as above.
    [[nodiscard]] cut_plan plan_exactly(id g, std::span<const id> positions) {
        auto& prepared = facts(g);
        const std::vector<id> members(positions.begin(), positions.end());
        prepared.put_inside(members, true);
        auto plan = make_plan(g, members);
        prepared.put_inside(members, false);
        return plan;
    }

    /// Returns: the facts about a graph of the model, computed on first use.
    [[nodiscard]] detail::cut_facts& facts(id g) {
        if (const auto entry = facts_.find(g); entry != facts_.end()) {
            return entry->second;
        }
        // A part pulls from outside only, so its own shape computations stay its own.
        const auto is_constant = [&](id node) {
            return shared_->depends_on[node] <= dependence::weight && is_apart(node);
        };
        return facts_.emplace(g, detail::cut_facts(model_, contents(), g, is_constant))
            .first->second;
    }

private:
    enum class mark : std::uint8_t { none, core, clone };

    [[nodiscard]] bool has_wanted_owner(id node) const {
        for (auto o = model_.owner(node); o != no_id; o = model_.owner(o)) {
            if (marks_[o] == mark::core) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool is_apart(id node) const { return policy_.pulls(shared_->depends_on[node]); }

    void plan_in_graph(id g, std::vector<detail::call_member<id>>& wanted,
                       std::vector<cut_plan>& plans) {
        auto& prepared = facts(g);
        std::vector<id> members;
        for (const auto& m : wanted) {
            members.push_back(m.vertex);
        }
        const auto has_no_rank = [&](id v) { return prepared.rank()[v] == no_id; };
        if (detail::range::any_of(members, has_no_rank)) {
            plans.emplace_back().graph = g;
            plans.back().refusal = cut_refusal::cycle;
            return;
        }
        prepared.put_inside(members, true);
        const auto pulled = pull_in(prepared, members);
        if (policy_.gaps() == gap_rule::runs) {
            detail::complete_calls(prepared.view().graph, std::span<const id>(prepared.rank()),
                                   wanted);
            plan_runs(g, wanted, plans);
        } else {
            if (policy_.gaps() == gap_rule::absorb) {
                for (auto v : prepared.find(policy_, members, [](const auto&... in) {
                         return detail::find_gaps(in...);
                     })) {
                    prepared.set.inside[v] = true;
                    members.push_back(v);
                }
                std::sort(members.begin(), members.end());
            }
            const auto reentry = prepared.way_back(policy_, members);
            auto plan = make_part(g, members);
            if (!reentry.empty()) {
                plan.refusal = cut_refusal::non_convex;
                for (auto v : reentry) {
                    plan.witness.push_back(prepared.view().nodes[v]);
                }
            }
            plans.push_back(std::move(plan));
        }
        prepared.put_inside(members, false);
        for (auto v : pulled) {
            prepared.set.apart[v] = false;
        }
    }

    /// Makes a plan for every convex run of every call.
    void plan_runs(id g, const std::vector<detail::call_member<id>>& wanted,
                   std::vector<cut_plan>& plans) {
        auto& prepared = facts(g);
        std::map<id, std::vector<id>> by_call;
        for (const auto& m : wanted) {
            if (prepared.set.inside[m.vertex]) {
                by_call[m.call].push_back(m.vertex);
                prepared.set.inside[m.vertex] = false;
            }
        }
        for (auto& [call, members] : by_call) {
            std::sort(members.begin(), members.end());
            prepared.put_inside(members, true);
            const auto stretch = prepared.stretch(members);
            const auto run = prepared.find(
                policy_, members, [](const auto&... in) { return detail::convex_runs(in...); });
            std::map<id, std::vector<id>> runs;
            for (auto v : members) {
                if (run[stretch.place(v)] != no_id) {
                    runs[run[stretch.place(v)]].push_back(v);
                }
            }
            if (runs.empty()) {
                plans.push_back(make_part(g, members));
            } else { // returned constants are in no run
                auto& first = runs.begin()->second;
                std::copy_if(members.begin(), members.end(), std::back_inserter(first),
                             [&](id v) { return is_returned_constant(prepared, v); });
                std::sort(first.begin(), first.end());
            }
            prepared.put_inside(members, false);
            for (const auto& [number, of_run] : runs) {
                prepared.put_inside(of_run, true);
                plans.push_back(make_part(g, of_run));
                prepared.put_inside(of_run, false);
            }
        }
    }

    /// Sets apart producers of the members that the policy pulls in beyond constants.
    [[nodiscard]] std::vector<id> pull_in(detail::cut_facts& prepared,
                                          const std::vector<id>& members) const {
        std::vector<id> pulled;
        if (!policy_.pulls(dependence::shape)) {
            return pulled;
        }
        auto open = members;
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            for (auto u : prepared.view().graph.producers(v)) {
                if (prepared.set.is_outside(u) && is_apart(prepared.view().nodes[u])) {
                    prepared.set.apart[u] = true;
                    pulled.push_back(u);
                    open.push_back(u);
                }
            }
        }
        return pulled;
    }

    [[nodiscard]] bool is_returned_constant(const detail::cut_facts& prepared, id v) const {
        return prepared.set.apart[v] && shared_->returning[prepared.view().nodes[v]];
    }

    /// As `make_plan`. A graph can return constants and initializers; then so does a part that they
    /// are members of, or that reads them.
    [[nodiscard]] cut_plan make_part(id g, const std::vector<id>& members) {
        auto plan = make_plan(g, members, true);
        for (auto value : model_.graph(g).outputs) {
            if (value != no_id && model_.is_initializer(value) && seen_[value] == plan_number_) {
                seen_[value] = 0; // it may be returned twice
                plan.outputs.push_back(value);
            }
        }
        return plan;
    }

    /// Requires: the set of graph `g` consists of the members.
    [[nodiscard]] cut_plan make_plan(id g, const std::vector<id>& members, bool returns = false) {
        auto& prepared = facts(g);
        cut_plan plan;
        plan.graph = g;
        // A module of constants consists of operators that elsewhere belong to their readers.
        const bool constant = prepared.are_apart(members);
        if (constant) {
            prepared.put_apart(members, false);
        }
        for (auto v : members) {
            if (prepared.set.is_inside(v)) {
                plan.nodes.push_back(prepared.view().nodes[v]);
                marks_[plan.nodes.back()] = mark::core;
            } else if (returns && is_returned_constant(prepared, v)) {
                plan.clones.push_back(prepared.view().nodes[v]);
                marks_[plan.clones.back()] = mark::clone;
            }
        }
        ++plan_number_;
        find_outputs(prepared, plan, constant);
        if (plan.outputs.empty()) {
            plan.refusal = cut_refusal::no_output;
        }
        collect_clones(g, prepared.set, plan);
        put_in_order(g, plan);
        ++plan_number_;
        find_inputs(g, plan);
        find_functions(plan);
        for (auto node : plan.nodes) {
            marks_[node] = mark::none;
        }
        if (constant) {
            prepared.put_apart(members, true);
        }
        return plan;
    }

    /// Whether the current list sees a value for the first time.
    [[nodiscard]] bool is_first(id value) {
        return std::exchange(seen_[value], plan_number_) != plan_number_;
    }

    /// Other constants read from a `constant` plan; from other plans they have copies. Nodes that
    /// are pulled in with the data they compute also stay outside, and read there.
    void find_outputs(const detail::cut_facts& prepared, cut_plan& plan, bool constant) {
        const auto& graph = prepared.view().graph;
        const bool pulls_data = policy_.pulls(dependence::data);
        for (auto node : plan.nodes) {
            // The values produced here and read outside.
            for (auto [it, last] = out_edges(model_.position(node), graph); it != last; ++it) {
                const auto reader = (*it).target;
                // Nodes on and after a cycle are set apart like constants, but still need their
                // inputs.
                const bool stays =
                    pulls_data &&
                    shared_->depends_on[prepared.view().nodes[reader]] > dependence::weight;
                const bool reads = constant || stays || prepared.rank()[reader] == no_id;
                if (reads ? !prepared.set.inside[reader] : prepared.set.is_outside(reader)) {
                    seen_[get(value_index, graph, *it)] = plan_number_;
                }
            }
        }
        auto nodes = plan.nodes;
        nodes.insert(nodes.end(), plan.clones.begin(), plan.clones.end());
        std::sort(nodes.begin(), nodes.end());
        for (auto node : nodes) {
            for (auto value : model_.outputs(node)) {
                if (!model_.value_name(value).empty() &&
                    (shared_->exposed[value] || seen_[value] == plan_number_)) {
                    plan.outputs.push_back(value);
                }
            }
        }
    }

    /// Adds the producers of the chosen nodes that are copied in.
    void collect_clones(id g, const detail::vertex_set& set, cut_plan& plan) {
        auto open = plan.nodes;
        open.insert(open.end(), plan.clones.begin(), plan.clones.end());
        while (!open.empty()) {
            const auto node = open.back();
            open.pop_back();
            detail::for_each_read(model_, contents(), node, [&](id value) {
                const auto producer = model_.producer(value);
                if (producer == no_id || marks_[producer] != mark::none ||
                    model_.is_inside(value, node)) {
                    return;
                }
                const bool around = model_.graph_of(producer) != g;
                if (around ? is_apart(producer) : set.apart[model_.position(producer)]) {
                    marks_[producer] = mark::clone;
                    plan.clones.push_back(producer);
                    open.push_back(producer);
                }
            });
        }
        std::sort(plan.clones.begin(), plan.clones.end());
        plan.nodes.insert(plan.nodes.end(), plan.clones.begin(), plan.clones.end());
    }

    /// Nodes of enclosing graphs first; then file order if topological.
    void put_in_order(id g, cut_plan& plan) {
        const auto& prepared = facts(g);
        plan.sorted = !prepared.sorted_already();
        const auto key = [&](id node) {
            const bool here = model_.graph_of(node) == g;
            const auto rank = here && plan.sorted ? prepared.rank()[model_.position(node)] : node;
            return std::tuple(here, rank, node);
        };
        const auto before = [&](id a, id b) { return key(a) < key(b); };
        if (!std::is_sorted(plan.nodes.begin(), plan.nodes.end(), before)) {
            std::sort(plan.nodes.begin(), plan.nodes.end(), before);
        }
    }

    void find_inputs(id g, cut_plan& plan) {
        for (auto node : plan.nodes) {
            detail::for_each_read(model_, contents(), node, [&](id value) {
                const auto producer = model_.producer(value);
                if ((producer != no_id && marks_[producer] != mark::none) ||
                    model_.is_inside(value, node) || !is_first(value)) {
                    return;
                }
                (model_.is_initializer(value) ? plan.initializers : plan.inputs).push_back(value);
            });
        }
        if (policy_.keeps_unused_initializers()) {
            for (auto value : model_.graph(g).initializers) {
                if (is_first(value)) {
                    plan.initializers.push_back(value);
                }
            }
        }
    }

    void find_functions(cut_plan& plan) const {
        plan.functions = detail::called_functions(model_, contents(), plan.nodes, [&](id node) {
            plan.random = plan.random || shared_->random[node];
        });
    }

    const onnx_model& model_;
    Policy policy_;
    std::shared_ptr<const detail::shared_cut_facts> shared_;
    std::unordered_map<id, detail::cut_facts> facts_; // by graph
    std::vector<mark> marks_;                         // of the plan being made, by node
    std::vector<id> seen_;                            // by value: the last list that saw it
    id plan_number_ = 0;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_CUT_CUT_PLANNER_HPP
