// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP
#define STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP

#include <stemma/algorithm/sweeps.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/core/vertices_by_index.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/parameter_owners.hpp>
#include <stemma/evidence/tied_parameters.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/policy/category.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// The modules whose parameters are read nearest to an operator, on one side of it; one entry for
/// each module, and `no_id` for all whose parameters have lost their names.
class nearest_owners {
public:
    struct entry {
        id position = 0; ///< in the order of the graph
        id module = no_id;
    };

    static constexpr std::size_t capacity = 8;

    /// Adds an entry; `closer(a, b)` says which of two positions is the nearer one.
    template <class Closer>
    void add(entry added, Closer closer) {
        auto* known = std::find_if(entries_.begin(), end(),
                                   [&](const entry& e) { return e.module == added.module; });
        if (known == end() && size_ < capacity) {
            entries_[size_++] = added;
            return;
        }
        if (known == end()) {
            known = std::max_element(entries_.begin(), end(), [&](const entry& a, const entry& b) {
                return closer(a.position, b.position);
            });
        }
        if (closer(added.position, known->position)) {
            *known = added;
        }
    }

    template <class Closer>
    void add(const nearest_owners& others, Closer closer) {
        for (const auto& e : others) {
            add(e, closer);
        }
    }

    [[nodiscard]] const entry* begin() const noexcept { return entries_.data(); }
    [[nodiscard]] const entry* end() const noexcept { return entries_.data() + size_; }

private:
    [[nodiscard]] entry* end() noexcept { return entries_.data() + size_; }

    std::array<entry, capacity> entries_{};
    std::size_t size_ = 0;
};

/// Finds the operators of a model without names that belong to modules around parameters.
template <operator_view Ops, module_view Modules>
class region_finder {
public:
    explicit region_finder(evidence_context<Ops, Modules>& context)
        : ops_(context.ops())
        , graph_(ops_.graph())
        , tree_(context.index())
        , owners_(context.owners())
        , tied_(ops_, owners_)
        , order_(graph_)
        , steady_(context.independent())
        , owner_(num_vertices(graph_), no_id)
        , vertex_(graph_) {
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
        }
    }

    /// Returns: by vertex index, a module for operators without parameters of their own.
    [[nodiscard]] std::vector<id> run() {
        std::vector<id> found(owner_.size(), no_id);
        const auto direct = owner_;
        complete_affine_operators();
        nameless_.resize(owner_.size());
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            nameless_[v] = owner_[v] == no_id && bare_[v] && reads_nameless_parameter(vertex_[v]);
        }
        complete_normalizations();
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
        return found;
    }

private:
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

    [[nodiscard]] bool reads_nameless_parameter(operator_t<Ops> v) const {
        bool nameless = false;
        ops_.for_each_parameter(v, [&](id p) { nameless = nameless || owners_.of(p).empty(); });
        return nameless;
    }

    /// A multiplication with a weight whose name is lost, and the addition of a bias behind it.
    void complete_affine_operators() {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id || !bare_[v] || !reads_nameless_parameter(vertex_[v])) {
                continue;
            }
            auto [out, out_last] = out_edges(vertex_[v], graph_);
            if (out == out_last) {
                continue;
            }
            const auto reader = target(*out, graph_);
            const bool alone = ++out == out_last;
            auto [in, in_last] = in_edges(reader, graph_);
            if (alone && ++in == in_last) {
                owner_[v] = owner_[index_of(graph_, reader)];
            }
        }
    }

    /// What lies between one value and the scale of a normalization, and is used for nothing else.
    void complete_normalizations() {
        for (std::size_t v = 0; v < owner_.size(); ++v) {
            if (owner_[v] != no_id && bare_[v] &&
                std::string_view(ops_.op_type(vertex_[v])) == "Mul") {
                complete_normalization(v);
            }
        }
    }

    void complete_normalization(std::size_t scale) {
        constexpr std::size_t max_region = 32;
        std::vector<std::size_t> region;
        std::size_t complete = 0; // how much of the region is known to hang on one value
        std::vector<std::pair<std::size_t, std::size_t>> outside; // operator, times read inside
        const auto is_inside = [&](std::size_t v) {
            return v == scale || std::find(region.begin(), region.end(), v) != region.end();
        };
        const auto look = [&](std::size_t v) {
            for (auto [in, last] = in_edges(vertex_[v], graph_); in != last; ++in) {
                const auto u = index_of(graph_, source(*in, graph_));
                if (steady_[u] || is_inside(u)) {
                    continue;
                }
                const auto known = std::find_if(outside.begin(), outside.end(),
                                                [&](const auto& o) { return o.first == u; });
                known == outside.end() ? outside.emplace_back(u, 1)
                                       : * known = {u, known->second + 1};
            }
        };
        const auto is_used_inside_only = [&](std::size_t u) {
            for (auto [out, last] = out_edges(vertex_[u], graph_); out != last; ++out) {
                if (!is_inside(index_of(graph_, target(*out, graph_)))) {
                    return false;
                }
            }
            return owner_[u] == no_id && bare_[u];
        };
        for (;;) {
            outside.clear();
            look(scale);
            std::for_each(region.begin(), region.end(), look);
            if (outside.size() == 1 && outside.front().second > 1) {
                complete = region.size();
            }
            const auto next = std::find_if(outside.begin(), outside.end(), [&](const auto& o) {
                return is_used_inside_only(o.first);
            });
            if (next == outside.end() || region.size() == max_region) {
                break;
            }
            region.push_back(next->first);
        }
        for (std::size_t i = 0; i < complete; ++i) {
            owner_[region[i]] = owner_[scale];
        }
    }

    [[nodiscard]] bool is_landmark(std::size_t v) const {
        return owner_[v] != no_id || nameless_[v];
    }

    /// Whether two operators are in the same body.
    [[nodiscard]] bool are_together(operator_t<Ops> u, operator_t<Ops> v) const {
        if constexpr (nested_operators<Ops>) {
            return ops_.owner(u) == ops_.owner(v);
        } else {
            return true;
        }
    }

    /// Gives every other operator the deepest module that two of the nearest owners around it
    /// share, one of them before it: it is what calls both. Where only one is near, what calls that
    /// one.
    void surround(std::vector<id>& found) {
        std::vector<nearest_owners> before(owner_.size());
        std::vector<nearest_owners> behind(owner_.size());
        std::vector<id> position(owner_.size(), no_id);
        id step = 0;
        order_.forward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            position[v] = step++;
            for (auto [in, last] = in_edges(vertex, graph_); in != last; ++in) {
                const auto u = index_of(graph_, source(*in, graph_));
                if (!are_together(source(*in, graph_), vertex)) {
                    continue;
                }
                is_landmark(u) ? before[v].add({position[u], owner_[u]}, std::greater<>())
                               : before[v].add(before[u], std::greater<>());
            }
        });
        order_.backward([&](operator_t<Ops> vertex) {
            const auto v = index_of(graph_, vertex);
            for (auto [out, last] = out_edges(vertex, graph_); out != last; ++out) {
                const auto w = index_of(graph_, target(*out, graph_));
                if (!are_together(target(*out, graph_), vertex)) {
                    continue;
                }
                is_landmark(w) ? behind[v].add({position[w], owner_[w]}, std::less<>())
                               : behind[v].add(behind[w], std::less<>());
            }
        });
        joins_.assign(found.size(), false);
        for (std::size_t v = 0; v < found.size(); ++v) {
            if (bare_[v] && owner_[v] == no_id && !steady_[v]) {
                bool joins = false;
                found[v] =
                    nameless_[v] ? 0 : shared_around(position[v], before[v], behind[v], joins);
                joins_[v] = joins;
            }
        }
    }

    [[nodiscard]] id shared_around(id here, const nearest_owners& before,
                                   const nearest_owners& behind, bool& joins) const {
        id only = no_id;
        bool several = false;
        for (const auto* side : {&before, &behind}) {
            for (const auto& e : *side) {
                several = several || (only != no_id && only != e.module) || e.module == no_id;
                only = e.module;
            }
        }
        if (!several) {
            const bool leaf = only != no_id && tree_.end(only) == only + 1;
            return leaf && only != 0 ? tree_.parent(only) : only;
        }
        if (behind.begin() == behind.end()) { // the end of a model: who knows whose
            common_module all;
            for (const auto& e : before) {
                all.add(e.module == no_id ? 0 : e.module);
            }
            return all.get(tree_);
        }
        id best = 0;
        id best_distance = no_id;
        for (const auto& a : before) {
            for (const auto* side : {&before, &behind}) {
                for (const auto& b : *side) {
                    if (a.module == no_id || b.module == no_id || a.module == b.module) {
                        continue;
                    }
                    const auto shared = tree_.lca(a.module, b.module);
                    const auto distance =
                        std::max(here - a.position,
                                 b.position > here ? b.position - here : here - b.position);
                    if (tree_.depth(shared) > tree_.depth(best) ||
                        (tree_.depth(shared) == tree_.depth(best) && distance < best_distance)) {
                        best = shared;
                        best_distance = distance;
                        joins = side == &before;
                    }
                }
            }
        }
        return best;
    }

    const Ops& ops_;
    const graph_of<Ops>& graph_;
    const tree_index& tree_;
    const parameter_owners& owners_;
    tied_parameters<Ops> tied_;
    sweep_order<graph_of<Ops>> order_;
    const std::vector<bool>& steady_; // independent of data: left to propagation
    std::vector<id> owner_;           // whose parameters an operator reads or is part of reading
    vertices_by_index<graph_of<Ops>> vertex_;
    std::vector<bool> joins_;    // known from two modules before it
    std::vector<bool> nameless_; // reads parameters, of which none has a name that tells
    std::vector<bool> bare_;     // nothing but parameters can tell where it comes from
};

} // namespace detail

/// Evidence from parameters for the operators around those that read them, where names and metadata
/// are gone: the rest of a module that reads its parameters in its last steps, and what a module
/// does with the results of the modules it calls.
struct parameter_regions {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::vector<id> found) : ops_(&ops), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto v = index_of(ops_->graph(), vertex);
            if (v < found_.size() && found_[v] != no_id) {
                f(claim{found_[v], no_id, 0.6F, provenance::parameter, false});
            }
        }

    private:
        const Ops* ops_;
        std::vector<id> found_;
    };

    /// Complexity: O(V + E).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        // Where most operators have names, what is left is better told by its neighbours.
        constexpr std::size_t few = 20;
        const auto& scopes = context.scopes().scope_of;
        const auto& chains = context.hierarchies().chain_of;
        std::size_t named = 0;
        for (std::size_t v = 0; v < scopes.size(); ++v) {
            named += scopes[v] != no_id || (!chains.empty() && chains[v] != no_id) ? 1U : 0U;
        }
        std::vector<id> found;
        if (named * few <= scopes.size()) {
            found = detail::region_finder<Ops, Modules>(context).run();
        }
        // Regions end where parameters are read, whoever ran there.
        for (auto& module : found) {
            module = module == no_id ? no_id : nearest_called(context.modules(), module);
        }
        return {context.ops(), std::move(found)};
    }
};

} // namespace stemma

#endif // STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP
