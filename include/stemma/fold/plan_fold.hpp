// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_PLAN_FOLD_HPP
#define STEMMA_FOLD_PLAN_FOLD_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/fold/detail/dissolve_regions.hpp>
#include <stemma/fold/detail/fold_constants.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_regions.hpp>
#include <stemma/fold/detail/region_classes.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/module_members.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/onnx/detail/flat_graph.hpp>
#include <stemma/onnx/detail/operator_dependence.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/value_definitions.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the call of module `m` that an operator belongs to; `no_id` if unknown.
template <module_view Modules>
[[nodiscard]] id call_in(const Modules& modules, id m, const attribution& attributed) {
    if constexpr (counts_calls<Modules>) {
        const auto called = nearest_called(modules, m);
        return modules.calls(called) == 1
                   ? 0
                   : call_of(called, attributed, [&](id module) { return modules.calls(module); });
    }
    return no_id;
}

/// Divides the graphs of a model, outer ones first, and finds what they share.
template <module_view Modules, node_shapes_like Shapes>
class fold_planner {
public:
    fold_planner(const onnx_model& model, const graph_contents& contents, const Modules& modules,
                 std::span<const attribution> attributions, Shapes& shapes,
                 const fold_options<Modules>& options, std::span<const id> exposed)
        : model_(model)
        , contents_(contents)
        , modules_(modules)
        , attributions_(attributions)
        , shapes_(shapes)
        , options_(options)
        , exposed_(exposed)
        , folded_(modules.index(), [&](id m) { return options.folds(modules, m); })
        , dependence_(find_dependence(model, find_random_operators(model)))
        , place_(model.node_count(), no_id)
        , stays_(model.node_count(), false) {
        find_overloads();
        plan_.root.assign(model.graph_count(), no_id);
    }

    [[nodiscard]] fold_plan plan() {
        divide(0, 0, no_id);
        for (id g = 1; g < model_.graph_count(); ++g) {
            // A body comes after the graph that contains it.
            if (model_.graph(g).kind == graph_kind::body && contents_.root(g) == 0) {
                divide_body(g, place_[model_.graph(g).owner]);
            }
        }
        look_at_bodies();
        classify_regions(model_, contents_, modules_, std::span<const divided_graph>(graphs_),
                         std::span<const id>(place_), attributions_, shapes_, options_, plan_);
        if (options_.vary_constants) {
            find_varying_constants(model_, plan_,
                                   [&](id a, id b) { return shapes_.equal(a, b, false); });
        }
        list_graphs();
        return std::move(plan_);
    }

private:
    [[nodiscard]] id module_of(id node) const { return attributions_[node].module; }

    /// Runtimes find no overload from inside a function.
    void find_overloads() {
        for (id node = 0; node < model_.node_count(); ++node) {
            for (auto o = model_.overload(node).empty() ? no_id : node; o != no_id && !stays_[o];
                 o = model_.owner(o)) {
                stays_[o] = true;
            }
        }
    }

    void divide_body(id g, id around) {
        const auto nodes = contents_.own_nodes(g);
        for (auto node : nodes) {
            place_[node] = around;
        }
        const auto top = plan_.regions[around].module;
        if (detail::range::any_of(nodes, [&](id node) {
                return folded_.next_below(top, module_of(node)) != no_id;
            })) {
            divide(g, top, around);
        }
    }

    void divide(id g, id top, id around) {
        divided_graph divided{g,
                              nested_graph(model_, g, contents_.nodes(g), contents_.bodies(g)),
                              {},
                              {},
                              graph_results(model_, g, g == 0 ? exposed_ : std::span<const id>())};
        const auto& view = divided.view;
        const auto order = order_of(g, view);
        divided.rank.resize(order.size());
        for (id i = 0; i < order.size(); ++i) {
            divided.rank[order[i]] = i;
        }
        std::vector<id> module(view.nodes.size());
        for (id v = 0; v < module.size(); ++v) {
            module[v] = stays_[view.nodes[v]] ? top : module_of(view.nodes[v]);
        }
        auto folded = fold_regions(
            view.graph, std::span<const id>(order), folded_, std::span<const id>(module), top,
            options_.least,
            [&](id m, id v) { return call_in(modules_, m, attributions_[view.nodes[v]]); },
            [&](id v) { return dependence_[view.nodes[v]] <= dependence::weight; });
        divided.spread = spread_constants(model_, divided.leaving, view, folded.regions);
        dissolve_regions(folded, find_idle_regions(model_, g, divided.leaving, view, divided.spread,
                                                   options_.least, folded.regions));
        plan_.left.insert(plan_.left.end(), folded.left.begin(), folded.left.end());
        if (g == 0 || folded.regions.size() > 1) {
            folded.regions.front().parent = around;
            add(std::move(divided), std::move(folded.regions));
        }
    }

    [[nodiscard]] std::vector<id> order_of(id g, const nested_view& view) const {
        std::vector<id> order;
        order.reserve(view.nodes.size());
        sweep_order(view.graph).forward([&](id v) { order.push_back(v); });
        if (order.size() < view.nodes.size()) {
            refuse_cycle(model_, g);
        }
        return order;
    }

    void add(divided_graph divided, std::vector<fold_region> regions) {
        const auto base = static_cast<id>(plan_.regions.size());
        plan_.root[divided.graph] = base;
        for (auto& region : regions) {
            const auto number = static_cast<id>(plan_.regions.size());
            region.parent += number == base ? 0 : base;
            region.end += base;
            for (auto& item : region.items) {
                item.index = item.is_region ? item.index + base : divided.view.nodes[item.index];
                if (!item.is_region) {
                    place_[item.index] = number;
                }
            }
            plan_.regions.push_back(std::move(region));
            plan_.graph.push_back(divided.graph);
        }
        add_holders(divided.graph);
        graphs_.push_back(std::move(divided));
    }

    void add_holders(id g) {
        for (auto node = model_.graph(g).owner;
             node != no_id && plan_.holders.insert(node).second;) {
            node = model_.owner(node);
        }
    }

    /// Finds nodes of bodies that must record their module, and counts those that stay in bodies
    /// and functions although their module should fold.
    void look_at_bodies() {
        const auto& tree = modules_.index();
        for (id node = 0; node < model_.node_count(); ++node) {
            const auto g = model_.graph_of(node);
            if (g == 0) {
                continue;
            }
            const auto around = place_[node];
            const auto top = around == no_id ? no_id : plan_.regions[around].module;
            const auto own = module_of(node);
            const auto wanted = folded_.innermost(own);
            if (wanted != no_id && (top == no_id || !tree.is_ancestor(top, wanted))) {
                ++plan_.in_bodies;
            }
            const bool outside_of_calls = plan_.root[g] == no_id || plan_.root[g] == around;
            if (top != no_id && top != 0 && top != own && outside_of_calls &&
                tree.is_ancestor(top, own)) {
                plan_.noted.emplace(node, around);
                add_holders(g);
            }
        }
    }

    /// Finds the graphs of the folded model, in its order.
    void list_graphs() {
        list_graphs_in(0);
        for (const auto& function : plan_.functions) {
            list_bodies_in(function.region);
        }
    }

    void list_graphs_in(id root) {
        plan_.graphs.push_back(root);
        list_bodies_in(root);
    }

    void list_bodies_in(id region) {
        for (const auto& item : plan_.regions[region].items) {
            if (!item.is_region) {
                list_bodies_of(item.index);
            }
        }
    }

    void list_bodies_of(id node) {
        if (!plan_.changes_inside(node)) {
            return;
        }
        for (auto g : contents_.bodies_of(node)) {
            plan_.look_into(
                g, contents_, [&](id region) { list_graphs_in(region); },
                [&](id inside) { list_bodies_of(inside); });
        }
    }

    const onnx_model& model_;
    const graph_contents& contents_;
    const Modules& modules_;
    std::span<const attribution> attributions_;
    Shapes& shapes_;
    const fold_options<Modules>& options_;
    std::span<const id> exposed_;
    folded_modules folded_;
    std::vector<dependence> dependence_;
    std::vector<id> place_;   // by node: its region, or that of its owner
    std::vector<bool> stays_; // by node: outside of functions
    std::vector<divided_graph> graphs_;
    fold_plan plan_;
};

} // namespace detail

/// Plans which operators become functions, nested like the modules. Each graph and body is folded
/// separately; a body moves with the operator that owns it, and folds for descendants of that
/// operator's module. Operators in functions of the model stay there. Calls of overloaded
/// functions, and operators with such calls in their bodies, stay outside.
///
/// `attributions` is by node; `exposed` are values of the main graph that are read elsewhere, like
/// its outputs.
/// Throws: `error` of `error_code::malformed` if a graph has a cycle or defines a value twice.
/// Complexity: O((V + E) log V) per level of modules that fold, and of bodies.
template <module_view Modules, detail::node_shapes_like Shapes>
[[nodiscard]] detail::fold_plan
plan_fold(const onnx_model& model, const graph_contents& contents, const Modules& modules,
          std::span<const attribution> attributions, Shapes& shapes,
          const fold_options<Modules>& options = {}, std::span<const id> exposed = {}) {
    detail::check_definitions(model);
    return detail::fold_planner<Modules, Shapes>(model, contents, modules, attributions, shapes,
                                                 options, exposed)
        .plan();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_FOLD_PLAN_FOLD_HPP
