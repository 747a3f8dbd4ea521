// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_DETAIL_REGION_FINDER_HPP
#define STEMMA_DETAIL_REGION_FINDER_HPP

#include <stemma/algorithm/sweeps.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/core/vertices_by_index.hpp>
#include <stemma/detail/nearest_owners.hpp>
#include <stemma/detail/parameter_blocks.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/evidence/tied_parameters.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::detail {

/// Finds the modules of operators that have no name, from those around them that do or that read
/// parameters.
template <operator_view Ops, module_view Modules>
class region_finder {
public:
    explicit region_finder(evidence_context<Ops, Modules>& context)
        : ops_(context.ops())
        , graph_(ops_.graph())
        , modules_(context.modules())
        , tree_(context.index())
        , owners_(context.owners())
        , tied_(ops_, owners_)
        , order_(graph_)
        , steady_(context.independent())
        , owner_(num_vertices(graph_), no_id)
        , named_(owner_.size(), no_id)
        , vertex_(graph_)
        , goes_on_(owner_.size(), false) {
        const auto& scopes = context.scopes();
        const auto& chains = context.hierarchies().chain_of;
        bare_.resize(owner_.size());
        for (auto [it, last] = vertices(graph_); it != last; ++it) {
            const auto v = index_of(graph_, *it);
            bool named = scopes.scope_of[v] != no_id || (!chains.empty() && chains[v] != no_id);
            if constexpr (calling_operators<Ops>) {
                named = named || ops_.callee(*it) != no_id || ops_.enclosing_function(*it) != no_id;
            }
            bare_[v] = !named;
            owner_[v] = owner_of(*it);
            named_[v] = named_module(context, v);
            // What is computed without data has the name of whoever was first to need it.
            owner_[v] = named_[v] != no_id && !steady_[v] ? named_[v] : owner_[v];
        }
        find_products();
    }

    /// Returns: by vertex index, a module for operators without parameters of their own.
    [[nodiscard]] std::vector<id> run() {
        const auto direct = owner_;
        parameter_blocks<Ops>(ops_, bare_, steady_, products_, lost_).complete(owner_);
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            lost_[v] = lost_[v] && owner_[v] == no_id;
        }
        std::vector<id> found(owner_.size(), no_id);
        for (std::size_t v = 0; v < found.size(); ++v) {
            found[v] = direct[v] == no_id && bare_[v] ? owner_[v] : no_id;
        }
        // What joins the results of several modules is sure enough to tell where its neighbours
        // belong.
        surround(found);
        for (std::size_t v = 0; v < found.size(); ++v) {
            owner_[v] = joins_[v] ? found[v] : owner_[v];
        }
        surround(found);
        // Regions end where parameters are read, whoever ran there.
        for (auto& module : found) {
            module = caller(module);
        }
        serve_readers(direct, found);
        return found;
    }

private:
    /// Returns: the module in the metadata or the name of an operator, or `no_id`.
    [[nodiscard]] static id named_module(evidence_context<Ops, Modules>& context, std::size_t v) {
        const auto& chains = context.hierarchies().chain_of;
        if (!chains.empty() && chains[v] != no_id) {
            const auto& place = context.modules_of_hierarchies().of_chain[chains[v]];
            return place.exact ? place.module : no_id;
        }
        const auto scope = context.scopes().scope_of[v];
        return scope == no_id ? no_id
                              : context.modules_of_scopes().of(static_cast<id>(v), scope).module;
    }

    [[nodiscard]] id owner_of(operator_t<Ops> v) const {
        id module = no_id;
        ops_.for_each_parameter(v, [&](id p) {
            const auto owners = owners_.of(p);
            for (std::size_t i = 0; i < owners.size(); ++i) {
                if (tied_.favours(v, p, i)) {
                    module = module == no_id ? owners[i] : tree_.lca(module, owners[i]);
                }
            }
        });
        return module;
    }

    /// Finds the operators that read weights, and those of them that read one whose name is lost:
    /// they belong to some module, and nobody knows to which. Other constants without an owner tell
    /// nothing.
    void find_products() {
        products_.resize(owner_.size());
        lost_.resize(owner_.size());
        if constexpr (sized_parameters<Ops>) {
            std::vector<bool> weights(static_cast<std::size_t>(ops_.parameter_count()), true);
            ops_.keep_matrices(weights);
            for (std::size_t v = 0; v < owner_.size(); ++v) {
                ops_.for_each_parameter(vertex_[v], [&](id p) {
                    products_[v] = products_[v] || weights[p];
                    lost_[v] = lost_[v] || (weights[p] && owners_.of(p).empty() &&
                                            owner_[v] == no_id && bare_[v]);
                });
            }
        }
    }

    /// Adds what is known of a neighbour; where nothing is, what that one's neighbours are.
    template <class Closer>
    void add_neighbour(nearest_owners& to, std::size_t neighbour, id position,
                       const nearest_owners& beyond, Closer closer) const {
        if (owner_[neighbour] != no_id) {
            to.add({position, owner_[neighbour], named_[neighbour] != no_id}, closer);
            return;
        }
        if (steady_[neighbour]) {
            return;
        }
        to.add(beyond, closer);
        if (lost_[neighbour]) {
            to.add({position, no_id}, closer);
        }
    }

    /// What is computed without data, as shapes and positions are, serves who reads it. What reads
    /// parameters itself is served by whoever calls its module. Some module ran that; a constant
    /// runs nowhere, so several readers share it in what holds them all, called or not.
    void serve_readers(const std::vector<id>& direct, std::vector<id>& found) const {
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!steady_[v] || !bare_[v] || owner_[v] != no_id) {
                return;
            }
            common_module readers;
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                const auto w = index_of(graph_, target(*out, graph_));
                const bool reads = named_[w] != no_id ? products_[w] : direct[w] != no_id;
                const auto module = named_[w] != no_id   ? named_[w]
                                    : direct[w] != no_id ? direct[w]
                                                         : found[w];
                if (module != no_id) {
                    readers.add(reads ? caller(around(module)) : module);
                }
            }
            const auto shared = readers.get(tree_);
            found[v] = is_constant(vertex) ? shared : caller(shared);
        });
    }

    /// Whether an operator without data has no inputs to compute anything from.
    [[nodiscard]] bool is_constant(operator_t<Ops> v) const {
        const auto [in, last] = in_edges(v, graph_);
        bool reads = in != last;
        if constexpr (data_aware_operators<Ops>) {
            reads = reads || ops_.hides_data(v); // as a shape of data does
        }
        return !reads;
    }

    /// Returns: the module, or the one above that ran it if none did; `no_id` of that.
    [[nodiscard]] id caller(id module) const {
        return module == no_id ? no_id : nearest_called(modules_, module);
    }

    /// Whether two operators are in the same body.
    [[nodiscard]] bool are_together(operator_t<Ops> u, operator_t<Ops> v) const {
        if constexpr (nested_operators<Ops>) {
            return ops_.owner(u) == ops_.owner(v);
        } else {
            return true;
        }
    }

    /// Gives every other operator the deepest module that the nearest owners before and behind it
    /// share: it is what calls both. What joins results is also where these meet.
    void surround(std::vector<id>& found) {
        std::vector<nearest_owners> before(owner_.size());
        std::vector<nearest_owners> behind(owner_.size());
        std::vector<id> position(owner_.size(), no_id);
        id step = 0;
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            position[v] = step++;
            for (auto [in, last] = in_edges(vertex, graph_); in != last; ++in) {
                if (const auto u = source(*in, graph_); are_together(u, vertex)) {
                    const auto i = index_of(graph_, u);
                    add_neighbour(before[v], i, position[i], before[i], std::greater<>());
                }
            }
        });
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                if (const auto w = target(*out, graph_); are_together(w, vertex)) {
                    const auto i = index_of(graph_, w);
                    add_neighbour(behind[v], i, position[i], behind[i], std::less<>());
                }
            }
        });
        const auto residual = residual_modules(
            propagation_problem<Ops>{ops_, tree_, order_, owner_, thread_limit(), &steady_});
        std::vector<bool> goes_on = goes_on_; // what is between calls of others in its module
        joins_.assign(found.size(), false);
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            if (!bare_[v] || owner_[v] != no_id || steady_[v]) {
                return;
            }
            const bool adds = ops_.op_type(vertex) == std::string_view("Add");
            // A single call that is skipped tells little of who calls.
            const bool several = residual[v] != no_id && around(residual[v]) == residual[v];
            const auto skipped = adds && several ? residual[v] : no_id;
            const auto between = lost_[v] && behind[v].begin() == behind[v].end()
                                     ? 0
                                     : shared_around(position[v], before[v], behind[v]);
            const auto joined = meeting_point(v, before, skipped);
            joins_[v] = joined != no_id && !tree_.is_ancestor(joined, between);
            found[v] = joins_[v] ? joined : between;
            goes_on[v] = joins_[v] && skipped == no_id;
            const auto u = only_source(graph_, vertex, steady_);
            if (!joins_[v] && u != no_id && goes_on[u] && arranges(vertex)) {
                found[v] = owner_[u] != no_id ? owner_[u] : found[u];
                goes_on[v] = true;
            }
        });
        goes_on_ = std::move(goes_on);
    }

    /// Whether an operator only lays out anew what it reads: a module does that with what it
    /// computed itself, before it hands it on.
    [[nodiscard]] bool arranges(operator_t<Ops> v) const {
        constexpr std::array<std::string_view, 5> types{"Transpose", "Reshape", "Squeeze",
                                                        "Unsqueeze", "Flatten"};
        return std::find(types.begin(), types.end(), std::string_view(ops_.op_type(v))) !=
               types.end();
    }

    /// Returns: where the results meet that an operator joins: in the module around what it skips,
    /// else the deepest one that owners before two of its inputs share; `no_id` where it joins
    /// none.
    [[nodiscard]] id meeting_point(std::size_t v, const std::vector<nearest_owners>& before,
                                   id residual) const {
        std::vector<nearest_owners> inputs;
        for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
            if (const auto u = source(*in, graph_); are_together(u, vertex_[v])) {
                const auto i = index_of(graph_, u);
                nearest_owners owners;
                add_neighbour(owners, i, 0, before[i], std::greater<>());
                inputs.push_back(owners);
            }
        }
        id best = residual;
        for (std::size_t i = 0; i < inputs.size() && residual == no_id; ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                for (const auto& a : inputs[i]) {
                    for (const auto& b : inputs[j]) {
                        // What is before both inputs has met before.
                        if (a.module != no_id && b.module != no_id && !inputs[j].holds(a.module) &&
                            !inputs[i].holds(b.module)) {
                            const auto shared = tree_.lca(a.module, b.module);
                            best = best == no_id || tree_.depth(shared) > tree_.depth(best) ? shared
                                                                                            : best;
                        }
                    }
                }
            }
        }
        return best;
    }

    /// Returns: the deepest module shared by an owner before and one behind; the root before the
    /// first owner, and behind the last what all before have in common.
    [[nodiscard]] id shared_around(id here, const nearest_owners& before,
                                   const nearest_owners& behind) const {
        if (behind.begin() == behind.end()) { // the end of a model: who knows whose
            common_module all;
            for (const auto& e : before) {
                all.add(e.module == no_id ? 0 : around(e.module));
            }
            return all.low == no_id ? no_id : all.get(tree_);
        }
        id best = 0;
        id best_distance = no_id;
        for (const auto& a : before) {
            for (const auto& b : behind) {
                if (a.module == no_id || b.module == no_id) {
                    continue;
                }
                const auto shared = a.module != b.module ? tree_.lca(a.module, b.module)
                                    : a.named && b.named ? a.module
                                                         : around(a.module);
                const auto distance = std::max(here - a.position, b.position - here);
                if (tree_.depth(shared) > tree_.depth(best) ||
                    (tree_.depth(shared) == tree_.depth(best) && distance < best_distance)) {
                    best = shared;
                    best_distance = distance;
                }
            }
        }
        return best;
    }

    /// Returns: what calls a module without any inside, else the module itself.
    [[nodiscard]] id around(id module) const {
        const bool leaf = tree_.end(module) == module + 1;
        return leaf && module != 0 ? tree_.parent(module) : module;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const Modules& modules_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    tied_parameters<Ops> tied_;
    sweep_order<graph_of<Ops>> order_;
    const std::vector<bool>& steady_; // independent of data
    std::vector<id> owner_;           // whose parameters an operator reads or is part of reading
    std::vector<id> named_;           // what metadata or a name says
    vertices_by_index<graph_of<Ops>> vertex_;
    std::vector<bool> goes_on_;  // joins results that its module goes on with
    std::vector<bool> joins_;    // joins results of several modules
    std::vector<bool> products_; // reads a weight
    std::vector<bool> lost_;     // reads a weight whose name is lost
    std::vector<bool> bare_;     // nothing but parameters can tell where it comes from
};

} // namespace stemma::detail

#endif // STEMMA_DETAIL_REGION_FINDER_HPP
