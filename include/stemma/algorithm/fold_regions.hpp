// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_FOLD_REGIONS_HPP
#define STEMMA_ALGORITHM_FOLD_REGIONS_HPP

#include <stemma/algorithm/acyclic_parts.hpp>
#include <stemma/algorithm/folded_modules.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <queue>
#include <span>
#include <utility>
#include <vector>

namespace stemma {

/// What stands in a region: an operator, by vertex index, or a region, by number.
struct fold_item {
    id index = 0;           ///< vertex index, or number of the region
    bool is_region = false; ///< what `index` names

    friend bool operator==(const fold_item&, const fold_item&) = default;
};

/// Operators of one call of one module that can be contracted into one, with regions inside.
struct fold_region {
    id module = 0;     ///< 0, the root, for the whole graph
    id call = 0;       ///< of the module, by the number that `calls` gave; 0 where there is none
    id run = 0;        ///< which part of the call, where that had to be divided
    id runs = 1;       ///< into how many parts it was divided
    id parent = no_id; ///< number of the region around; `no_id` for the whole graph
    id end = 0;        ///< the regions inside are those from the next number to this one
    id operators = 0;  ///< with those of the regions inside
    std::vector<fold_item> items; ///< producers first, else by their first operator
};

/// Whether region `r` is region `other` or around it. Complexity: O(1).
[[nodiscard]] inline bool holds_region(std::span<const fold_region> regions, id r, id other) {
    return r <= other && other < regions[r].end;
}

/// What a policy wanted to fold and what was left where it is.
struct fold_leftover {
    id module = 0;             ///< that was to be folded
    id call = 0;               ///< of the module, as in `fold_region`
    std::size_t operators = 0; ///< how many there are, which stay in the region around
    id runs = 1; ///< parts that the call had to be divided into; the ones left are too small
};

/// What can be folded, and what cannot.
struct fold_regions_result {
    std::vector<fold_region> regions; ///< in preorder; the first one is the whole graph
    std::vector<fold_leftover> left;  ///< in the order in which they were met
};

namespace detail {

/// Finds regions level by level, from the outside to the inside.
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
        id size = 0;
        id parts = 0;
    };

    struct part {
        id group = 0;
        members vertices;
        id child = no_id;
    };

    void divide(id region, const members& all) {
        const auto edges =
            find_induced_edges(graph_, std::span<const vertex_t<Graph>>(all), place_);
        std::vector<group> groups;
        auto of = find_groups(region, all, edges, groups);
        const auto numbers = acyclic_parts(edges, of);
        std::vector<part> parts;
        for (id i = 0; i < all.size(); ++i) {
            if (numbers[i] != no_id) {
                parts.resize(std::max<std::size_t>(parts.size(), numbers[i] + 1));
                parts[numbers[i]].group = of[i];
                parts[numbers[i]].vertices.push_back(all[i]);
            }
        }
        for (const auto& p : parts) {
            ++groups[p.group].parts;
        }
        result_.regions[region].operators = static_cast<id>(all.size());
        const auto sequence = order_items(all, edges, numbers, parts);
        std::vector<id> runs(groups.size(), 0);
        for (const auto& item : sequence) {
            if (!item.is_region) {
                result_.regions[region].items.push_back(item);
                continue;
            }
            auto& p = parts[item.index];
            auto& g = groups[p.group];
            if (p.vertices.size() < least_) {
                leave(region, p, g);
                continue;
            }
            const auto child = static_cast<id>(result_.regions.size());
            result_.regions[region].items.push_back({child, true});
            result_.regions.push_back(
                {g.module, g.call, runs[p.group]++, g.parts, region, 0, 0, {}});
            divide(child, p.vertices);
            members().swap(p.vertices);
        }
        result_.regions[region].end = static_cast<id>(result_.regions.size());
    }

    void leave(id region, const part& p, const group& g) {
        for (const auto& v : p.vertices) {
            result_.regions[region].items.push_back({static_cast<id>(index_of(graph_, v)), false});
        }
        result_.left.push_back({g.module, g.call, p.vertices.size(), g.parts});
    }

    /// Returns: by place the number of its group, a call of a module; `no_id` for none.
    [[nodiscard]] std::vector<id> find_groups(id region, const members& all,
                                              const induced_edges& edges,
                                              std::vector<group>& groups) {
        const auto top = result_.regions[region].module;
        std::vector<id> module(all.size());
        for (id i = 0; i < all.size(); ++i) {
            module[i] = modules_.next_below(top, module_[index_of(graph_, all[i])]);
        }
        const auto call = find_calls(all, edges, module);
        std::map<std::pair<id, id>, id> known;
        std::vector<id> of(all.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            if (module[i] != no_id) {
                const auto next = static_cast<id>(groups.size());
                of[i] = known.try_emplace({module[i], call[i]}, next).first->second;
                if (of[i] == next) {
                    groups.push_back({module[i], call[i], 0, 0});
                }
            }
        }
        // What several groups read is of none of them, if it depends on no data.
        for (auto i = static_cast<id>(all.size()); i-- > 0;) {
            const auto readers = edges.of(i);
            if (of[i] != no_id && constant_(all[i]) &&
                std::any_of(readers.begin(), readers.end(), [&](id r) { return of[r] != of[i]; })) {
                of[i] = no_id;
            }
        }
        return of;
    }

    /// Returns: by place the call of its module. Where that is not known it is that of what is
    /// read, else that of a reader.
    [[nodiscard]] std::vector<id> find_calls(const members& all, const induced_edges& edges,
                                             const std::vector<id>& module) const {
        std::vector<id> call(all.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            if (module[i] != no_id) {
                call[i] = calls_(module[i], all[i]);
            }
        }
        const auto pass = [&](id from, id to) {
            if (module[from] != no_id && module[from] == module[to] && call[to] == no_id) {
                call[to] = call[from];
            }
        };
        for (id i = 0; i < all.size(); ++i) {
            for (auto reader : edges.of(i)) {
                pass(i, reader);
            }
        }
        for (auto i = static_cast<id>(all.size()); i-- > 0;) {
            for (auto reader : edges.of(i)) {
                pass(reader, i);
            }
            call[i] = call[i] == no_id ? 0 : call[i];
        }
        return call;
    }

    /// Returns: vertices in no part, and parts by number, in an order in which they can run.
    [[nodiscard]] std::vector<fold_item> order_items(const members& all, const induced_edges& edges,
                                                     const std::vector<id>& number,
                                                     const std::vector<part>& parts) const {
        // Units: parts, then places without one. Whichever can run and stands first comes next.
        std::vector<id> unit(all.size());
        std::vector<id> first(parts.size(), no_id);
        for (id i = 0; i < all.size(); ++i) {
            const bool in_part = number[i] != no_id;
            unit[i] = in_part ? number[i] : static_cast<id>(parts.size()) + i;
            if (in_part) {
                first[number[i]] = std::min(first[number[i]], i);
            }
        }
        std::vector<id> waiting(parts.size() + all.size(), 0);
        std::vector<std::vector<id>> inside(parts.size());
        for (id i = 0; i < all.size(); ++i) {
            if (number[i] != no_id) {
                inside[number[i]].push_back(i);
            }
            for (auto to : edges.of(i)) {
                waiting[unit[to]] += unit[to] == unit[i] ? 0U : 1U;
            }
        }
        std::priority_queue<std::pair<id, id>, std::vector<std::pair<id, id>>, std::greater<>> open;
        const auto position = [&](id u) {
            return u < parts.size() ? first[u] : u - static_cast<id>(parts.size());
        };
        for (id u = 0; u < waiting.size(); ++u) {
            const bool exists = u < parts.size() || number[position(u)] == no_id;
            if (exists && waiting[u] == 0) {
                open.emplace(position(u), u);
            }
        }
        std::vector<fold_item> result;
        const auto release = [&](id u, id place) {
            for (auto to : edges.of(place)) {
                if (unit[to] != u && --waiting[unit[to]] == 0) {
                    open.emplace(position(unit[to]), unit[to]);
                }
            }
        };
        while (!open.empty()) {
            const auto u = open.top().second;
            open.pop();
            if (u < parts.size()) {
                result.push_back({u, true});
                for (auto place : inside[u]) {
                    release(u, place);
                }
            } else {
                const auto place = position(u);
                result.push_back({static_cast<id>(index_of(graph_, all[place])), false});
                release(u, place);
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

} // namespace detail

/// Divides a graph into regions that can be contracted one inside the other, as the modules of the
/// operators lie one inside the other.
///
/// `order` holds the vertices, producers first; `module` is by vertex index. `modules` says which
/// modules get regions; the graph lies in `top` itself, and what is not below that stays in place.
/// `least` is how many operators a region must have. `calls(m, v)` says
/// which call of module `m`, or of what is around it, vertex `v` belongs to: a number, or `no_id`.
/// Each call is one region, or several where it cannot be contracted as one. `constant(v)` says
/// whether an operator depends on no data; what is read in several regions stays outside of them
/// then.
/// Requires: `top` folds or is the root.
/// Complexity: O((V + E) log V) for every level of modules that fold.
template <operator_graph_like Graph, class Calls, class Constant>
[[nodiscard]] fold_regions_result
fold_regions(const Graph& graph, std::span<const vertex_t<Graph>> order,
             const folded_modules& modules, std::span<const id> module, id top, std::size_t least,
             Calls calls, Constant constant) {
    return detail::fold_divider<Graph, Calls, Constant>(graph, order, modules, module, top, least,
                                                        calls, constant)
        .take();
}

/// Returns: by vertex index, the region that an operator stands in; the last one of several.
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

} // namespace stemma

#endif // STEMMA_ALGORITHM_FOLD_REGIONS_HPP
