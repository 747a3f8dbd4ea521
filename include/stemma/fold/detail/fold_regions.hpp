// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_REGIONS_HPP
#define STEMMA_FOLD_DETAIL_FOLD_REGIONS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/fold/detail/acyclic_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The modules of a tree that fold, and their nesting. The root never folds, nor do modules nested
/// in `max_depth` folded ones.
class folded_modules {
public:
    /// Bounds the work for chains, and the nesting of functions.
    static constexpr id max_depth = 64;

    /// `folds(m)` says whether a module should fold. Requires: the tree outlives it.
    /// Complexity: O(modules).
    template <class Folds>
    folded_modules(const tree_index& tree, Folds folds)
        : tree_(&tree), folded_(tree.size(), false), above_(tree.size(), no_id) {
        std::vector<id> depth(tree.size(), 0);
        for (id m = 1; m < tree.size(); ++m) {
            const auto parent = tree.parent(m);
            above_[m] = folded_[parent] ? parent : above_[parent];
            depth[m] = depth[parent];
            if (depth[m] < max_depth && folds(m)) {
                ++depth[m];
                folded_[m] = true;
            }
        }
    }

    /// Whether a module folds.
    [[nodiscard]] bool folds(id m) const { return folded_[m]; }

    /// Returns: the innermost folded module among a module and its ancestors, or `no_id`.
    [[nodiscard]] id innermost(id m) const { return folded_[m] ? m : above_[m]; }

    /// Returns: the outermost of these below `top`, or `no_id`. Requires: `top` folds or is the
    /// root. Complexity: O(`max_depth`).
    [[nodiscard]] id next_below(id top, id m) const {
        if (!tree_->is_ancestor(top, m)) {
            return no_id;
        }
        id outermost = no_id;
        for (auto around = innermost(m); around != no_id && around != top;
             around = above_[around]) {
            outermost = around;
        }
        return outermost;
    }

private:
    const tree_index* tree_;
    std::vector<bool> folded_;
    std::vector<id> above_; // by module: its nearest folded ancestor
};

/// An item of a region: an operator, by vertex index, or a nested region, by number.
struct fold_item {
    id index = 0;           ///< vertex index, or number of the region
    bool is_region = false; ///< what `index` names

    friend bool operator==(const fold_item&, const fold_item&) = default;
};

/// Operators of one call of a module that can be contracted into one, with nested regions.
struct fold_region {
    id module = 0;     ///< 0, the root, for the whole graph
    id call = 0;       ///< of the module, by the number from `calls`; 0 if there is none
    id run = 0;        ///< the part of the call, if it had to be divided
    id runs = 1;       ///< the number of parts of the call
    id parent = no_id; ///< number of the enclosing region; `no_id` for the whole graph
    id end = 0;        ///< nested regions have the numbers from the next one up to, excluding, this
    id operators = 0;  ///< including nested regions
    std::vector<fold_item> items; ///< producers first, ties by their first operator
};

/// Whether region `r` is region `other` or encloses it. Complexity: O(1).
[[nodiscard]] inline bool holds_region(std::span<const fold_region> regions, id r, id other) {
    return r <= other && other < regions[r].end;
}

/// Operators that a policy wanted to fold but that were left in place.
struct fold_leftover {
    id module = 0;             ///< the module to fold
    id call = 0;               ///< of the module, as in `fold_region`
    std::size_t operators = 0; ///< their number; they stay in the enclosing region
    id runs = 1;               ///< the number of parts of the call; those left are too small
};

/// What can be folded, and what cannot.
struct fold_regions_result {
    std::vector<fold_region> regions; ///< in preorder; the first is the whole graph
    std::vector<fold_leftover> left;  ///< in the order found
};

/// Finds regions level by level, outer ones first.
template <operator_graph_like Graph, class Calls, class Constant>
class fold_divider {
public:
    fold_divider(const Graph& graph, std::span<const vertex_t<Graph>> order,
                 const folded_modules& modules, std::span<const id> module, id top,
                 std::size_t least, Calls calls, Constant constant)
        : graph_(graph)
        , modules_(modules)
        , module_(module)
        , least_(least)
        , calls_(calls)
        , constant_(constant)
        , place_(num_vertices(graph), no_id) {
        result_.regions.emplace_back().module = top;
        divide(0, {order.begin(), order.end()});
    }

    [[nodiscard]] fold_regions_result take() && { return std::move(result_); }

private:
    using members = std::vector<vertex_t<Graph>>;

    struct group {
        id module = 0;
        id call = 0;
        id parts = 0;
        id runs = 0; ///< parts that already are regions
    };

    void divide(id region, const members& all) {
        const auto top = result_.regions[region].module;
        std::vector<id> module;
        module.reserve(all.size());
        bool divides = false;
        for (const auto& v : all) {
            module.push_back(modules_.next_below(top, module_[index_of(graph_, v)]));
            divides = divides || module.back() != no_id;
        }
        result_.regions[region].operators = static_cast<id>(all.size());
        if (divides) {
            divide(region, all, module);
        } else {
            auto& items = result_.regions[region].items;
            items.reserve(all.size());
            for (const auto& v : all) {
                items.push_back(item(v));
            }
        }
        result_.regions[region].end = static_cast<id>(result_.regions.size());
    }

    /// `next` is the module below that of the region, by position.
    void divide(id region, const members& all, const std::vector<id>& next) {
        const auto edges =
            find_induced_edges(graph_, std::span<const vertex_t<Graph>>(all), place_);
        std::vector<group> groups;
        const auto of = find_groups(all, edges, next, groups);
        const auto part = acyclic_parts(edges, of);
        id parts = 0;
        for (auto p : part) {
            parts = p == no_id ? parts : std::max(parts, p + 1);
        }
        const grouped_ids places(parts, [&](auto take) {
            for (id i = 0; i < part.size(); ++i) {
                if (part[i] != no_id) {
                    take(part[i], i);
                }
            }
        });
        for (id p = 0; p < parts; ++p) {
            ++groups[of[places[p].front()]].parts;
        }
        for (auto first : find_sequence(edges, part, places)) {
            if (part[first] == no_id) {
                result_.regions[region].items.push_back(item(all[first]));
            } else {
                add_part(region, all, places[part[first]], groups[of[first]]);
            }
        }
    }

    /// Makes a part a region, or leaves its operators in place.
    void add_part(id region, const members& all, std::span<const id> places, group& g) {
        auto& items = result_.regions[region].items;
        if (places.size() < least_) {
            for (auto i : places) {
                items.push_back(item(all[i]));
            }
            result_.left.push_back({g.module, g.call, places.size(), g.parts});
            return;
        }
        const auto child = static_cast<id>(result_.regions.size());
        items.push_back({child, true});
        result_.regions.push_back({g.module, g.call, g.runs++, g.parts, region, 0, 0, {}});
        members inside;
        inside.reserve(places.size());
        for (auto i : places) {
            inside.push_back(all[i]);
        }
        divide(child, inside);
    }

    [[nodiscard]] fold_item item(const vertex_t<Graph>& v) const {
        return {static_cast<id>(index_of(graph_, v)), false};
    }

    /// Returns: by position, the number of the group, which is a call of a module; `no_id` for
    /// none.
    [[nodiscard]] std::vector<id> find_groups(const members& all, const induced_edges& edges,
                                              const std::vector<id>& module,
                                              std::vector<group>& groups) const {
        const auto call = find_calls(all, edges, module);
        flat_index index;
        std::vector<id> of(all.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            if (module[i] != no_id) {
                const auto next = static_cast<id>(groups.size());
                of[i] = index.insert(hash_mix(module[i], call[i]), next, [&](id g) {
                    return groups[g].module == module[i] && groups[g].call == call[i];
                });
                if (of[i] == next) {
                    groups.push_back({module[i], call[i], 0, 0});
                }
            }
        }
        // What several groups read and no data determines belongs to none of them.
        for (auto i = static_cast<id>(all.size()); i-- > 0;) {
            const auto readers = edges.of(i);
            if (of[i] != no_id && constant_(all[i]) &&
                std::any_of(readers.begin(), readers.end(), [&](id r) { return of[r] != of[i]; })) {
                of[i] = no_id;
            }
        }
        return of;
    }

    /// Returns: by position, the call of its module; if unknown, that of a producer, otherwise that
    /// of a reader.
    [[nodiscard]] std::vector<id> find_calls(const members& all, const induced_edges& edges,
                                             const std::vector<id>& module) const {
        std::vector<id> call(all.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            if (module[i] != no_id) {
                call[i] = calls_(module[i], all[i]);
            }
        }
        for (id i = 0; i < all.size(); ++i) {
            if (call[i] == no_id) {
                continue;
            }
            for (auto reader : edges.of(i)) {
                if (call[reader] == no_id && module[reader] == module[i]) {
                    call[reader] = call[i];
                }
            }
        }
        for (auto i = static_cast<id>(all.size()); i-- > 0;) {
            if (call[i] != no_id) {
                continue;
            }
            const auto readers = edges.of(i);
            const auto reader = std::find_if(readers.begin(), readers.end(), [&](id r) {
                return module[r] == module[i] && module[i] != no_id;
            });
            call[i] = reader == readers.end() ? 0 : call[*reader];
        }
        return call;
    }

    /// Returns: positions in no part, and the first of each part, in execution order.
    [[nodiscard]] static std::vector<id> find_sequence(const induced_edges& edges,
                                                       const std::vector<id>& part,
                                                       const grouped_ids& places) {
        // A part is identified by its first position. The first that can run is next.
        std::vector<id> lead(part.size());
        for (id i = 0; i < lead.size(); ++i) {
            lead[i] = part[i] == no_id ? i : places[part[i]].front();
        }
        std::vector<id> waiting(lead.size(), 0);
        for (id i = 0; i < lead.size(); ++i) {
            for (auto to : edges.of(i)) {
                waiting[lead[to]] += lead[to] == lead[i] ? 0U : 1U;
            }
        }
        std::priority_queue<id, std::vector<id>, std::greater<>> open;
        for (id i = 0; i < lead.size(); ++i) {
            if (lead[i] == i && waiting[i] == 0) {
                open.push(i);
            }
        }
        std::vector<id> result;
        result.reserve(lead.size());
        while (!open.empty()) {
            const auto next = open.top();
            open.pop();
            result.push_back(next);
            for (auto i : part[next] == no_id ? std::span(&next, 1) : places[part[next]]) {
                for (auto to : edges.of(i)) {
                    if (lead[to] != next && --waiting[lead[to]] == 0) {
                        open.push(lead[to]);
                    }
                }
            }
        }
        return result;
    }

    const Graph& graph_;
    const folded_modules& modules_;
    std::span<const id> module_; // by vertex index
    std::size_t least_;
    Calls calls_;
    Constant constant_;
    std::vector<id> place_; // by vertex index: scratch
    fold_regions_result result_;
};

/// Divides a graph into nested regions that can be contracted, following the nesting of the
/// operators' modules.
///
/// `order` contains the vertices, producers first; `module` is by vertex index. `modules` says
/// which modules get regions; the graph itself is in `top`, and operators outside `top` stay in
/// place. `least` is the minimum number of operators of a region. `calls(m, v)` returns the call of
/// module `m`, or of an ancestor, that vertex `v` belongs to: a number, or `no_id`. Each call is
/// one region, or several if it cannot be contracted as one. `constant(v)` says whether an operator
/// depends on no data; such an operator stays outside if several regions read it.
/// Requires: `top` folds or is the root.
/// Complexity: O((V + E) log V) per level of modules that fold.
template <operator_graph_like Graph, class Calls, class Constant>
[[nodiscard]] fold_regions_result
fold_regions(const Graph& graph, std::span<const vertex_t<Graph>> order,
             const folded_modules& modules, std::span<const id> module, id top, std::size_t least,
             Calls calls, Constant constant) {
    return fold_divider<Graph, Calls, Constant>(graph, order, modules, module, top, least, calls,
                                                constant)
        .take();
}

/// Returns: by vertex index, the region of an operator; the last one of several.
/// Complexity: O(items).
[[nodiscard]] inline std::vector<id> find_places(std::span<const fold_region> regions,
                                                 std::size_t operators) {
    std::vector<id> place(operators, 0);
    for (id r = 0; r < regions.size(); ++r) {
        for (const auto& item : regions[r].items) {
            if (!item.is_region) {
                place[item.index] = r;
            }
        }
    }
    return place;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_REGIONS_HPP
