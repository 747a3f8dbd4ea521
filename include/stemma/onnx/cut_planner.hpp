// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_CUT_PLANNER_HPP
#define STEMMA_ONNX_CUT_PLANNER_HPP

#include <stemma/algorithm/boundary.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/flat_graph.hpp>
#include <stemma/onnx/graph_contents.hpp>
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
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma {

/// Plans how sets of nodes are cut out of one model. What the plans share is found once.
template <cut_policy Policy = standard_cut>
class cut_planner {
public:
    /// `random` says by node whether it gives other results each time.
    /// Requires: `model` outlives the planner.
    cut_planner(const onnx_model& model, Policy policy, std::vector<bool> random)
        : model_(model)
        , policy_(std::move(policy))
        , contents_(model)
        , random_(std::move(random))
        , dependence_(find_dependence(model, random_))
        , exposed_(model.value_count(), false)
        , marks_(model.node_count(), mark::none)
        , seen_(model.value_count(), no_id) {
        for (id g = 0; g < model.graph_count(); ++g) {
            for (auto value : model.graph(g).outputs) {
                if (value != no_id) {
                    exposed_[value] = true;
                }
            }
        }
    }

    explicit cut_planner(const onnx_model& model, Policy policy = {})
        : cut_planner(model, std::move(policy), find_random_operators(model)) {}

    [[nodiscard]] const std::vector<dependence>& dependences() const noexcept {
        return dependence_;
    }
    [[nodiscard]] const graph_contents& contents() const noexcept { return contents_; }

    /// Plans the part that holds `wanted`: one plan, or one for each convex run. Nodes of bodies
    /// come along with their owner where that is wanted too, else they are cut out of the body.
    ///
    /// `wanted` is ascending; `calls`, when not empty, says for each of them which call of the
    /// module it belongs to (`no_id`: unknown), and no run goes over two calls.
    /// Returns: at least one plan, possibly with a refusal, unless `wanted` is empty.
    /// Complexity: O(nodes + edges) from the first wanted node to the last, and once for every
    /// graph that holds wanted nodes that of the graph.
    [[nodiscard]] std::vector<cut_plan> plan(std::span<const id> wanted,
                                             std::span<const id> calls = {}) {
        for (auto node : wanted) {
            marks_[node] = mark::core;
        }
        std::map<id, std::vector<member>> by_graph;
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            if (!has_wanted_owner(wanted[i])) {
                by_graph[model_.graph_of(wanted[i])].push_back(
                    {model_.position(wanted[i]), calls.empty() ? 0 : calls[i]});
            }
        }
        for (auto node : wanted) {
            marks_[node] = mark::none;
        }
        // Where the part calls a function, the call stands for the body.
        std::set<id> called;
        for (auto node : wanted) {
            if (const auto f = model_.callee(node); f != no_id) {
                called.insert(model_.functions()[f].graph);
            }
        }
        std::vector<cut_plan> plans;
        for (auto& [g, members] : by_graph) {
            if (called.count(contents_.root(g)) == 0) {
                plan_in_graph(g, members, plans);
            }
        }
        return plans;
    }

    /// Plans a part that holds these vertices of graph `g`, convex or not. Complexity: as above.
    [[nodiscard]] cut_plan plan_exactly(id g, std::span<const id> positions) {
        auto& known = facts(g);
        const std::vector<id> members(positions.begin(), positions.end());
        put_inside(known, members, true);
        auto plan = make_plan(g, members);
        put_inside(known, members, false);
        return plan;
    }

    /// A graph of the model as planning sees it.
    struct graph_facts {
        nested_view view;
        std::vector<id> order; ///< vertices, producers first; in file order where that does
        std::vector<id> rank;  ///< by vertex: place in `order`
        bool sorted_already = true;
        vertex_set set{0}; ///< `apart`: what is constant; `inside` is for the plan being made
    };

    [[nodiscard]] graph_facts& facts(id g) {
        auto& known = facts_[g];
        if (!known) {
            known = std::make_unique<graph_facts>();
            known->view = nested_graph(model_, g, contents_.nodes(g), contents_.bodies(g));
            const auto& graph = known->view.graph;
            known->sorted_already = is_topologically_indexed(graph);
            known->order = topological_order(graph);
            if (known->sorted_already) {
                std::sort(known->order.begin(), known->order.end());
            }
            known->rank.assign(num_vertices(graph), no_id);
            for (std::size_t i = 0; i < known->order.size(); ++i) {
                known->rank[known->order[i]] = static_cast<id>(i);
            }
            known->set = vertex_set(num_vertices(graph));
            for (id v = 0; v < known->set.apart.size(); ++v) {
                // A part pulls from outside only, so its own shape computations stay its own.
                const auto node = known->view.nodes[v];
                known->set.apart[v] = (dependence_[node] <= dependence::weight && is_apart(node)) ||
                                      known->rank[v] == no_id;
            }
        }
        return *known;
    }

private:
    enum class mark : std::uint8_t { none, core, clone };

    struct member {
        id vertex = 0;
        id call = 0;
    };

    [[nodiscard]] bool has_wanted_owner(id node) const {
        for (auto o = model_.owner(node); o != no_id; o = model_.owner(o)) {
            if (marks_[o] == mark::core) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool is_apart(id node) const { return policy_.pulls(dependence_[node]); }

    static void put_inside(graph_facts& known, const std::vector<id>& members, bool inside) {
        for (auto v : members) {
            known.set.inside[v] = inside;
        }
    }

    [[nodiscard]] static order_stretch<operator_graph> stretch_of(const graph_facts& known,
                                                                  const std::vector<id>& members) {
        return {known.view.graph, known.order, known.rank, members};
    }

    void plan_in_graph(id g, std::vector<member>& wanted, std::vector<cut_plan>& plans) {
        auto& known = facts(g);
        std::vector<id> members;
        for (const auto& m : wanted) {
            if (known.rank[m.vertex] != no_id) {
                members.push_back(m.vertex);
            }
        }
        put_inside(known, members, true);
        const auto pulled = pull_in(known, members);
        if (policy_.gaps() == gap_rule::runs) {
            complete_calls(known, wanted);
            plan_runs(g, wanted, plans);
        } else {
            if (policy_.gaps() == gap_rule::absorb) {
                absorb_gaps(known, members);
            }
            const auto reentry =
                find_reentry(known.view.graph, known.set, stretch_of(known, members));
            auto plan = make_plan(g, members);
            if (!reentry.empty()) {
                plan.refusal = cut_refusal::non_convex;
                for (auto v : reentry) {
                    plan.witness.push_back(known.view.nodes[v]);
                }
            }
            plans.push_back(std::move(plan));
        }
        put_inside(known, members, false);
        for (auto v : pulled) {
            known.set.apart[v] = false;
        }
    }

    /// Members of unknown call join the one they read from, else the one that reads from them.
    static void complete_calls(const graph_facts& known, std::vector<member>& wanted) {
        const bool all_known = std::none_of(wanted.begin(), wanted.end(),
                                            [](const member& m) { return m.call == no_id; });
        if (all_known) {
            return;
        }
        std::unordered_map<id, id> call;
        for (const auto& m : wanted) {
            call[m.vertex] = m.call;
        }
        std::sort(wanted.begin(), wanted.end(), [&](const member& a, const member& b) {
            return known.rank[a.vertex] < known.rank[b.vertex];
        });
        const auto take = [&](id v, id neighbour) {
            const auto found = call.find(neighbour);
            if (call[v] == no_id && found != call.end()) {
                call[v] = found->second;
            }
        };
        for (const auto& m : wanted) {
            for (auto u : known.view.graph.producers(m.vertex)) {
                take(m.vertex, u);
            }
        }
        for (auto m = wanted.rbegin(); m != wanted.rend(); ++m) {
            for (auto [it, last] = adjacent_vertices(m->vertex, known.view.graph); it != last;
                 ++it) {
                take(m->vertex, *it);
            }
        }
        for (auto& m : wanted) {
            m.call = call[m.vertex] == no_id ? 0 : call[m.vertex];
        }
    }

    /// Makes a plan for every convex run of every call.
    void plan_runs(id g, const std::vector<member>& wanted, std::vector<cut_plan>& plans) {
        auto& known = facts(g);
        std::map<id, std::vector<id>> by_call;
        for (const auto& m : wanted) {
            if (known.set.inside[m.vertex]) {
                by_call[m.call].push_back(m.vertex);
                known.set.inside[m.vertex] = false;
            }
        }
        for (auto& [call, members] : by_call) {
            std::sort(members.begin(), members.end());
            put_inside(known, members, true);
            const auto stretch = stretch_of(known, members);
            const auto run = convex_runs(known.view.graph, known.set, stretch);
            std::map<id, std::vector<id>> runs;
            for (auto v : members) {
                if (run[stretch.place(v)] != no_id) {
                    runs[run[stretch.place(v)]].push_back(v);
                }
            }
            if (runs.empty()) {
                plans.push_back(make_plan(g, members));
            }
            put_inside(known, members, false);
            for (const auto& [number, of_run] : runs) {
                put_inside(known, of_run, true);
                plans.push_back(make_plan(g, of_run));
                put_inside(known, of_run, false);
            }
        }
    }

    /// Sets apart what is upstream of the members and pulled in by policy beyond constants.
    [[nodiscard]] std::vector<id> pull_in(graph_facts& known,
                                          const std::vector<id>& members) const {
        std::vector<id> pulled;
        if (!policy_.pulls(dependence::shape)) {
            return pulled;
        }
        auto open = members;
        while (!open.empty()) {
            const auto v = open.back();
            open.pop_back();
            for (auto u : known.view.graph.producers(v)) {
                if (known.set.is_outside(u) && is_apart(known.view.nodes[u])) {
                    known.set.apart[u] = true;
                    pulled.push_back(u);
                    open.push_back(u);
                }
            }
        }
        return pulled;
    }

    /// Takes in everything that lies between members.
    static void absorb_gaps(graph_facts& known, std::vector<id>& members) {
        const auto& graph = known.view.graph;
        const auto stretch = stretch_of(known, members);
        const auto all = stretch.vertices();
        std::vector<bool> behind(all.size(), false);
        std::vector<bool> before(all.size(), false);
        for (std::size_t at = 0; at < all.size(); ++at) {
            for (auto u : graph.producers(all[at])) {
                const auto from = stretch.place(u);
                behind[at] = behind[at] || (from < all.size() && !known.set.apart[u] &&
                                            (known.set.inside[u] || behind[from]));
            }
        }
        for (auto at = all.size(); at-- > 0;) {
            for (auto [it, last] = adjacent_vertices(all[at], graph); it != last; ++it) {
                const auto to = stretch.place(*it);
                before[at] = before[at] || (to < all.size() && !known.set.apart[*it] &&
                                            (known.set.inside[*it] || before[to]));
            }
        }
        for (std::size_t at = 0; at < all.size(); ++at) {
            if (behind[at] && before[at] && known.set.is_outside(all[at])) {
                known.set.inside[all[at]] = true;
                members.push_back(all[at]);
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
        for (auto inside : contents_.inner_nodes(node)) {
            for_each_read(inside, f);
        }
        for (auto g : contents_.bodies_of(node)) {
            for (auto value : model_.graph(g).outputs) {
                if (value != no_id) {
                    f(value);
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

    /// Requires: exactly the members are inside of the set of graph `g`.
    [[nodiscard]] cut_plan make_plan(id g, const std::vector<id>& members) {
        const auto& known = facts(g);
        cut_plan plan;
        plan.graph = g;
        for (auto v : members) {
            if (known.set.is_inside(v)) {
                plan.nodes.push_back(known.view.nodes[v]);
                marks_[plan.nodes.back()] = mark::core;
            }
        }
        ++plan_number_;
        find_outputs(known, plan);
        if (plan.outputs.empty()) {
            plan.refusal = cut_refusal::no_output;
        }
        collect_clones(g, known.set, plan);
        put_in_order(g, plan);
        ++plan_number_;
        find_inputs(g, plan);
        find_functions(plan);
        for (auto node : plan.nodes) {
            marks_[node] = mark::none;
        }
        return plan;
    }

    /// Whether this is the first time that the current list meets a value.
    [[nodiscard]] bool is_first(id value) {
        return std::exchange(seen_[value], plan_number_) != plan_number_;
    }

    void find_outputs(const graph_facts& known, cut_plan& plan) {
        const auto& graph = known.view.graph;
        for (auto node : plan.nodes) {
            // Of values seen here, the ones that are read outside.
            for (auto [it, last] = out_edges(model_.position(node), graph); it != last; ++it) {
                if (known.set.is_outside((*it).target)) {
                    seen_[get(value_id, graph, *it)] = plan_number_;
                }
            }
            for (id i = 0; i < model_.output_count(node); ++i) {
                const auto value = model_.first_output(node) + i;
                if (!model_.value_name(value).empty() &&
                    (exposed_[value] || seen_[value] == plan_number_)) {
                    plan.outputs.push_back(value);
                }
            }
        }
    }

    /// Adds what the chosen nodes read from, as far as it is copied in.
    void collect_clones(id g, const vertex_set& set, cut_plan& plan) {
        auto open = plan.nodes;
        while (!open.empty()) {
            const auto node = open.back();
            open.pop_back();
            for_each_read(node, [&](id value) {
                const auto producer = model_.producer(value);
                if (producer == no_id || marks_[producer] != mark::none ||
                    is_inside_of(value, node)) {
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

    /// Nodes of graphs around come first; then file order, unless that puts a reader before what it
    /// reads.
    void put_in_order(id g, cut_plan& plan) {
        const auto& known = facts(g);
        plan.sorted = !known.sorted_already;
        const auto key = [&](id node) {
            const bool here = model_.graph_of(node) == g;
            const auto rank = here && plan.sorted ? known.rank[model_.position(node)] : node;
            return std::tuple(here, rank, node);
        };
        std::sort(plan.nodes.begin(), plan.nodes.end(),
                  [&](id a, id b) { return key(a) < key(b); });
    }

    void find_inputs(id g, cut_plan& plan) {
        for (auto node : plan.nodes) {
            for_each_read(node, [&](id value) {
                const auto producer = model_.producer(value);
                if ((producer != no_id && marks_[producer] != mark::none) ||
                    is_inside_of(value, node) || !is_first(value)) {
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
        std::vector<id> open;
        const auto look = [&](auto& self, id node) -> void {
            if (const auto f = model_.callee(node);
                f != no_id && std::find(plan.functions.begin(), plan.functions.end(), f) ==
                                  plan.functions.end()) {
                plan.functions.push_back(f);
                open.push_back(f);
            }
            plan.random = plan.random || random_[node];
            for (auto inside : contents_.inner_nodes(node)) {
                self(self, inside);
            }
        };
        for (auto node : plan.nodes) {
            look(look, node);
        }
        while (!open.empty()) {
            const auto body = model_.functions()[open.back()].graph;
            open.pop_back();
            for (auto node : contents_.nodes(body)) {
                look(look, node);
            }
        }
        std::sort(plan.functions.begin(), plan.functions.end());
    }

    const onnx_model& model_;
    Policy policy_;
    graph_contents contents_;
    std::vector<bool> random_; // by node
    std::vector<dependence> dependence_;
    std::vector<bool> exposed_; // values that are outputs of a graph
    std::unordered_map<id, std::unique_ptr<graph_facts>> facts_;
    std::vector<mark> marks_; // of the plan being made, by node
    std::vector<id> seen_;    // by value: the list that met it last
    id plan_number_ = 0;
};

} // namespace stemma

#endif // STEMMA_ONNX_CUT_PLANNER_HPP
