// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_CUT_PLAN_HPP
#define STEMMA_ONNX_CUT_PLAN_HPP

#include <stemma/algorithm/boundary.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/onnx/flat_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/operator_dependence.hpp>
#include <stemma/policy/cut.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma {

/// Why a part cannot be cut out.
enum class cut_refusal : std::uint8_t {
    none,
    non_convex,    ///< some way leads out of it and back; see the witness
    unknown_type,  ///< type or rank of a value at the boundary is not known
    function_body, ///< it lies in a function whose attributes are not bound
    no_output,     ///< nothing outside reads what it makes
};

/// Returns: the name that reports use.
[[nodiscard]] constexpr std::string_view to_string(cut_refusal refusal) noexcept {
    switch (refusal) {
    case cut_refusal::none:
        return "";
    case cut_refusal::non_convex:
        return "non_convex";
    case cut_refusal::unknown_type:
        return "unknown_type";
    case cut_refusal::function_body:
        return "function_body";
    case cut_refusal::no_output:
        return "no_output";
    }
    return "";
}

/// A part of a model, as it is to be cut out.
struct cut_plan {
    id graph = 0;                 ///< the graph it is cut out of: the main one, a body, a function
    std::vector<id> nodes;        ///< of that graph or one around it, in the order they will have
    std::vector<id> clones;       ///< those of them that stay in the rest as well, ascending
    std::vector<id> inputs;       ///< values, in the order of readers
    std::vector<id> outputs;      ///< values, in the order of producers
    std::vector<id> initializers; ///< values
    std::vector<id> functions;    ///< numbers of functions that are called, directly or not
    bool sorted = false;          ///< nodes had to be put in another order to be behind producers
    bool random = false;          ///< holds an operator that gives other results each time
    cut_refusal refusal = cut_refusal::none;
    std::vector<id> witness; ///< `non_convex`: the nodes on a way out and back
};

/// Plans how sets of nodes are cut out of one model. What the plans share is found once.
template <cut_policy Policy = standard_cut>
class cut_planner {
public:
    /// Requires: `model` outlives the planner.
    explicit cut_planner(const onnx_model& model, Policy policy = {})
        : model_(model)
        , policy_(std::move(policy))
        , dependence_(find_dependence(model))
        , exposed_(model.value_count(), false) {
        for (id g = 0; g < model.graph_count(); ++g) {
            for (auto value : model.graph(g).outputs) {
                if (value != no_id) {
                    exposed_[value] = true;
                }
            }
        }
        for (id g = 1; g < model.graph_count(); ++g) {
            if (model.graph(g).kind == graph_kind::body) {
                bodies_[model.graph(g).owner].push_back(g);
                inner_[model.graph(g).owner];
            }
        }
        for (id node = 0; node < model.node_count(); ++node) {
            if (model.owner(node) != no_id) {
                inner_[model.owner(node)].push_back(node);
            }
        }
    }

    [[nodiscard]] const std::vector<dependence>& dependences() const noexcept {
        return dependence_;
    }

    /// Plans the part that holds `wanted`: one plan, or one for each convex run. Nodes of bodies
    /// come along with their owner where that is wanted too, else they are cut out of the body.
    ///
    /// `wanted` is ascending.
    /// Returns: at least one plan, possibly with a refusal, unless `wanted` is empty.
    /// Complexity: O(nodes + edges) of the graphs that hold wanted nodes.
    [[nodiscard]] std::vector<cut_plan> plan(std::span<const id> wanted) {
        std::vector<bool> is_wanted(model_.node_count(), false);
        for (auto node : wanted) {
            is_wanted[node] = true;
        }
        std::map<id, std::vector<id>> by_graph;
        for (auto node : wanted) {
            if (!has_wanted_owner(node, is_wanted)) {
                by_graph[model_.graph_of(node)].push_back(node);
            }
        }
        // Where a module is called as a function, the call stands for the body.
        const bool outside_functions = std::any_of(by_graph.begin(), by_graph.end(),
                                                   [&](auto& g) { return root_of(g.first) == 0; });
        std::vector<cut_plan> plans;
        for (const auto& [g, nodes] : by_graph) {
            if (!outside_functions || root_of(g) == 0) {
                plan_in_graph(g, nodes, plans);
            }
        }
        return plans;
    }

private:
    struct graph_facts {
        nested_view view;
        std::vector<id> order; // vertices, producers first
        bool sorted_already = true;
    };

    [[nodiscard]] id root_of(id g) const {
        while (model_.graph(g).kind == graph_kind::body) {
            g = model_.graph_of(model_.graph(g).owner);
        }
        return g;
    }

    [[nodiscard]] bool has_wanted_owner(id node, const std::vector<bool>& is_wanted) const {
        for (auto o = model_.owner(node); o != no_id; o = model_.owner(o)) {
            if (is_wanted[o]) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] const graph_facts& facts(id g) {
        auto& known = facts_[g];
        if (!known) {
            known = std::make_unique<graph_facts>();
            known->view = nested_graph(model_, g);
            known->sorted_already = is_topologically_indexed(known->view.graph);
            known->order = topological_order(known->view.graph);
            if (known->sorted_already) {
                std::sort(known->order.begin(), known->order.end());
            }
        }
        return *known;
    }

    [[nodiscard]] bool is_apart(id node) const { return policy_.pulls(dependence_[node]); }

    void plan_in_graph(id g, const std::vector<id>& nodes, std::vector<cut_plan>& plans) {
        const auto& known = facts(g);
        const auto& graph = known.view.graph;
        vertex_set set(num_vertices(graph));
        // A part pulls from outside only, so its own shape computations stay its own.
        const auto is_constant = [&](id node) {
            return dependence_[node] <= dependence::weight && is_apart(node);
        };
        for (id v = 0; v < set.apart.size(); ++v) {
            set.apart[v] = is_constant(known.view.nodes[v]);
        }
        std::vector<id> members;
        for (auto node : nodes) {
            members.push_back(model_.position(node));
            set.inside[members.back()] = true;
        }
        pull_in(known, set, members);
        if (policy_.gaps() == gap_rule::absorb) {
            absorb_gaps(known, set, members);
        }
        const auto reentry = find_reentry(graph, set, std::span<const id>(members));
        if (reentry.empty() || policy_.gaps() == gap_rule::refuse) {
            auto plan = make_plan(g, set, members);
            if (!reentry.empty()) {
                plan.refusal = cut_refusal::non_convex;
                for (auto v : reentry) {
                    plan.witness.push_back(known.view.nodes[v]);
                }
            }
            plans.push_back(std::move(plan));
            return;
        }
        const auto run = convex_runs(graph, set, std::span<const id>(known.order));
        std::map<id, std::vector<id>> runs;
        for (auto v : members) {
            if (run[v] != no_id) {
                runs[run[v]].push_back(v);
            }
        }
        for (const auto& [number, of_run] : runs) {
            auto part = set;
            part.inside.assign(part.inside.size(), false);
            for (auto v : of_run) {
                part.inside[v] = true;
            }
            plans.push_back(make_plan(g, part, of_run));
        }
    }

    /// Sets apart what is upstream of the members and pulled in by policy beyond constants.
    void pull_in(const graph_facts& known, vertex_set& set, const std::vector<id>& members) const {
        if (!policy_.pulls(dependence::shape)) {
            return;
        }
        auto open = members;
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            for (auto u : known.view.graph.producers(v)) {
                if (!set.inside[u] && !set.apart[u] && is_apart(known.view.nodes[u])) {
                    set.apart[u] = true;
                    open.push_back(u);
                }
            }
        }
    }

    /// Takes in everything that lies between members.
    static void absorb_gaps(const graph_facts& known, vertex_set& set, std::vector<id>& members) {
        const auto& graph = known.view.graph;
        std::vector<bool> behind(set.inside.size(), false);
        std::vector<bool> before(set.inside.size(), false);
        for (auto v : known.order) {
            for (auto u : graph.producers(v)) {
                behind[v] = behind[v] || ((set.is_inside(u) || behind[u]) && !set.apart[u]);
            }
        }
        for (auto v = known.order.rbegin(); v != known.order.rend(); ++v) {
            for (auto [it, last] = adjacent_vertices(*v, graph); it != last; ++it) {
                before[*v] = before[*v] || ((set.is_inside(*it) || before[*it]) && !set.apart[*it]);
            }
        }
        for (id v = 0; v < set.inside.size(); ++v) {
            if (behind[v] && before[v] && set.is_outside(v)) {
                set.inside[v] = true;
                members.push_back(v);
            }
        }
        std::sort(members.begin(), members.end());
    }

    /// Calls `f(value)` for what a node and all its bodies read.
    template <class Function>
    void for_each_read(id node, Function f) const {
        for (auto value : model_.inputs(node)) {
            if (value != no_id) {
                f(value);
            }
        }
        if (const auto bodies = inner_.find(node); bodies != inner_.end()) {
            for (auto inside : bodies->second) {
                for_each_read(inside, f);
            }
            for (auto g : bodies_.at(node)) {
                for (auto value : model_.graph(g).outputs) {
                    if (value != no_id) {
                        f(value);
                    }
                }
            }
        }
    }

    /// Whether a value is defined inside of a body of `node`.
    [[nodiscard]] bool is_inside_of(id value, id node) const {
        auto g = model_.graph_of_value(value);
        while (model_.graph(g).kind == graph_kind::body) {
            if (model_.graph(g).owner == node) {
                return true;
            }
            g = model_.graph_of(model_.graph(g).owner);
        }
        return false;
    }

    [[nodiscard]] cut_plan make_plan(id g, const vertex_set& set, const std::vector<id>& members) {
        const auto& known = facts(g);
        cut_plan plan;
        plan.graph = g;
        std::vector<id> chosen; // nodes
        for (auto v : members) {
            if (set.is_inside(v)) {
                chosen.push_back(known.view.nodes[v]);
            }
        }
        const std::set<id> core(chosen.begin(), chosen.end());
        std::set<id> all = core;
        collect_clones(g, set, chosen, all);
        plan.nodes.assign(all.begin(), all.end());
        std::set_difference(all.begin(), all.end(), core.begin(), core.end(),
                            std::back_inserter(plan.clones));
        put_in_order(g, plan);
        find_inputs(g, all, plan);
        find_outputs(g, core, set, plan);
        find_functions(plan);
        plan.refusal = plan.outputs.empty() ? cut_refusal::no_output : cut_refusal::none;
        return plan;
    }

    /// Adds what the chosen nodes read from, as far as it is copied in.
    void collect_clones(id g, const vertex_set& set, std::vector<id> open,
                        std::set<id>& all) const {
        while (!open.empty()) {
            const auto node = open.back();
            open.pop_back();
            for_each_read(node, [&](id value) {
                const auto producer = model_.producer(value);
                if (producer == no_id || is_inside_of(value, node) || all.count(producer) != 0) {
                    return;
                }
                const bool around = model_.graph_of(producer) != g;
                const bool copied =
                    around ? is_apart(producer) : set.apart[model_.position(producer)];
                if (copied) {
                    all.insert(producer);
                    open.push_back(producer);
                }
            });
        }
    }

    /// Nodes of graphs around come first; then file order, unless that puts a reader before what it
    /// reads.
    void put_in_order(id g, cut_plan& plan) {
        const auto& known = facts(g);
        std::unordered_map<id, id> rank;
        if (!known.sorted_already) {
            plan.sorted = true;
            for (std::size_t i = 0; i < known.order.size(); ++i) {
                rank[known.view.nodes[known.order[i]]] = static_cast<id>(i);
            }
        }
        const auto key = [&](id node) {
            const auto found = rank.find(node);
            return std::pair(model_.graph_of(node) == g,
                             found == rank.end() ? node : found->second);
        };
        std::stable_sort(plan.nodes.begin(), plan.nodes.end(),
                         [&](id a, id b) { return key(a) < key(b); });
    }

    void find_inputs(id g, const std::set<id>& all, cut_plan& plan) const {
        std::set<id> seen;
        for (auto node : plan.nodes) {
            for_each_read(node, [&](id value) {
                const auto producer = model_.producer(value);
                if (is_inside_of(value, node) || (producer != no_id && all.count(producer) != 0) ||
                    !seen.insert(value).second) {
                    return;
                }
                (model_.is_initializer(value) ? plan.initializers : plan.inputs).push_back(value);
            });
        }
        if (policy_.keeps_unused_initializers()) {
            for (auto value : model_.graph(g).initializers) {
                if (seen.insert(value).second) {
                    plan.initializers.push_back(value);
                }
            }
        }
    }

    void find_outputs(id g, const std::set<id>& core, const vertex_set& set, cut_plan& plan) {
        const auto& graph = facts(g).view.graph;
        for (auto node : plan.nodes) {
            if (core.count(node) == 0) {
                continue;
            }
            std::set<id> read_outside;
            const auto v = model_.position(node);
            for (auto [it, last] = out_edges(v, graph); it != last; ++it) {
                if (set.is_outside((*it).target)) {
                    read_outside.insert(get(value_id, graph, *it));
                }
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                const auto value = model_.first_output(node) + i;
                if (!model_.value_name(value).empty() &&
                    (exposed_[value] || read_outside.count(value) != 0)) {
                    plan.outputs.push_back(value);
                }
            }
        }
    }

    void find_functions(cut_plan& plan) const {
        std::set<id> called;
        std::vector<id> open;
        const auto look = [&](id node) {
            if (model_.callee(node) != no_id && called.insert(model_.callee(node)).second) {
                open.push_back(model_.callee(node));
            }
            plan.random =
                plan.random || is_random_operator(model_.domain(node), model_.op_type(node));
        };
        const auto look_inside = [&](auto& self, id node) -> void {
            look(node);
            if (const auto bodies = inner_.find(node); bodies != inner_.end()) {
                for (auto inside : bodies->second) {
                    self(self, inside);
                }
            }
        };
        for (auto node : plan.nodes) {
            look_inside(look_inside, node);
        }
        while (!open.empty()) {
            const auto function = open.back();
            open.pop_back();
            const auto body = model_.functions()[function].graph;
            for (id node = 0; node < model_.node_count(); ++node) {
                if (root_of(model_.graph_of(node)) == body) {
                    look(node);
                }
            }
        }
        plan.functions.assign(called.begin(), called.end());
    }

    const onnx_model& model_;
    Policy policy_;
    std::vector<dependence> dependence_;
    std::vector<bool> exposed_;                      // values that are outputs of a graph
    std::unordered_map<id, std::vector<id>> inner_;  // nodes in the bodies of a node
    std::unordered_map<id, std::vector<id>> bodies_; // graphs that a node owns
    std::unordered_map<id, std::unique_ptr<graph_facts>> facts_;
};

} // namespace stemma

#endif // STEMMA_ONNX_CUT_PLAN_HPP
