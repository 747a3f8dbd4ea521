// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SCOPE_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_SCOPE_MODULES_HPP

#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/detail/prefetch.hpp>
#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/evidence/detail/alike_calls.hpp>
#include <stemma/evidence/detail/hidden_levels.hpp>
#include <stemma/evidence/detail/lent_modules.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/part_repeated.hpp>
#include <stemma/evidence/detail/path_below.hpp>
#include <stemma/evidence/detail/scope_calls.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_series.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_witness.hpp>
#include <stemma/evidence/detail/shared_members.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Resolves every scope. The roots stand for `base`, as do scopes called `strip` below them.
///
/// Threads take ranges of scopes; each resolves enclosing scopes in other ranges for itself.
/// Complexity: O(scopes * depth) expected.
template <module_view Modules>
[[nodiscard]] std::vector<scope_module>
resolve_scopes(const scope_table& table, const scope_resolver<Modules>& resolver, id base,
               std::optional<std::string_view> strip) {
    constexpr auto roots = static_cast<std::size_t>(scope_style_count);
    constexpr std::size_t ahead = 16; // segments are far apart, in the names
    const scope_module root{base, no_id, no_id, detail::confidence::scope};
    std::vector<scope_module> result(table.scopes.size(), root);
    const auto count = table.scopes.size() - roots;
    const auto parts = thread_limit::current().parts_of_operators(count);
    for_each_range(count, parts, [&](std::size_t, std::size_t first, std::size_t last) {
        const auto begin = static_cast<id>(roots + first);
        const auto end = static_cast<id>(roots + last);
        auto own = resolver;
        std::unordered_map<id, scope_module> before; // of scopes in other ranges
        const auto find = [&](id s) -> const scope_module* {
            if (s < roots || s >= begin) {
                return &result[s];
            }
            const auto entry = before.find(s);
            return entry == before.end() ? nullptr : &entry->second;
        };
        const auto resolve = [&](id s) {
            const auto& scope = table.scopes[s];
            const auto around = find(scope.parent)->module;
            return scope.parent < roots && scope.instance() == strip ? root
                   : around == no_id                                 ? own.resolve_alone(s)
                                                                     : own.resolve(s, around);
        };
        std::vector<id> open;
        for (auto s = begin; s < end; ++s) {
            if (s + ahead < end) {
                prefetch(table.scopes[s + ahead].segment.data());
            }
            for (auto above = table.scopes[s].parent; find(above) == nullptr;
                 above = table.scopes[above].parent) {
                open.push_back(above);
            }
            for (; !open.empty(); open.pop_back()) {
                before.emplace(open.back(), resolve(open.back()));
            }
            result[s] = resolve(s);
        }
    });
    return result;
}

/// Finds operators whose parameters contradict their scope where the scope is ambiguous, and the
/// operators of the same scope after them, or before them. Modules are ranks in `modules`.
template <parameter_readers Ops, module_view Modules>
void part_shared_scopes(const Ops& ops, const scope_table& table, const Modules& modules,
                        const parameter_owners& owners, const scope_resolver<Modules>& resolver,
                        scope_modules& result) {
    const auto& graph = ops.graph();
    const tree_index& tree = modules.index();
    const auto is_scope = [](id s) { return s != no_id && s >= scope_style_count; };
    struct reading {
        id other = no_id; // the module whose parameters are read instead
        bool own = false;

        [[nodiscard]] bool contradicts() const { return other != no_id && !own; }
    };
    const auto read = [&](const operator_t<Ops>& vertex, id s) {
        const auto module = result.of_scope[s].module;
        const auto around = result.of_scope[table.scopes[s].parent].module;
        reading outcome;
        ops.for_each_parameter(vertex, [&](id p) {
            for (auto owner : owners.of(p)) {
                const auto called = nearest_called(modules, owner);
                if (module != no_id && tree.are_related(module, called)) {
                    outcome.own = true;
                } else if (around != no_id && resolver.could_print(s, around, called)) {
                    outcome.other = called;
                }
            }
        });
        return outcome;
    };
    // In most models no operator contradicts its scope.
    const auto count = thread_limit::current().parts_of_operators(num_vertices(graph));
    std::vector<std::uint8_t> contradicted(count);
    for_each_vertex_range(graph, count, [&](std::size_t part, auto first, auto last) {
        contradicted[part] = std::any_of(first, last, [&](const operator_t<Ops>& vertex) {
            const auto s = table.scope_of[index_of(graph, vertex)];
            return is_scope(s) && read(vertex, s).contradicts();
        });
    });
    if (std::find(contradicted.begin(), contradicted.end(), 1) == contradicted.end()) {
        return;
    }
    std::vector<bool> reads_own(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        const auto v = static_cast<id>(index_of(graph, *it));
        const auto s = table.scope_of[v];
        if (!is_scope(s)) {
            continue;
        }
        const auto match = read(*it, s);
        reads_own[v] = match.own;
        if (match.contradicts()) {
            result.of_operator[v] = {match.other, no_id, no_id, detail::confidence::scope_read};
            continue;
        }
        if (match.own) {
            continue;
        }
        for (const auto u : producers_of(graph, *it)) {
            if (table.scope_of[u] != s) {
                continue;
            }
            if (const auto before = result.of_operator.find(u);
                before != result.of_operator.end()) {
                const auto behind = before->second;
                result.of_operator[v] = behind;
                break;
            }
            reads_own[v] = reads_own[v] || reads_own[u];
        }
    }
    detail::part_beginnings(ops, table, reads_own, result.of_operator);
}

/// Binds every scope in the names of operators to a module of a known tree.
///
/// `owners` are those of the operators' parameters in that tree; they decide ambiguous names, for a
/// whole scope and for individual operators.
/// Requires: `ops` may be read concurrently if a `thread_scope` allows it.
/// Complexity: O(operators + scopes * depth) expected.
template <parameter_readers Ops, module_view Modules>
[[nodiscard]] scope_modules bind_scopes(const Ops& ops, const scope_table& table,
                                        const Modules& modules, const parameter_owners& owners) {
    const detail::scope_resolver<Modules> resolver(
        table, modules, detail::collect_witnesses(ops, table, modules, owners), true,
        [&] { return detail::find_weighted(ops, table, owners); });
    scope_modules result;
    result.of_scope =
        detail::resolve_scopes(table, resolver, owners.mapping.base, owners.mapping.strip);
    detail::known_modules<Modules> known{{modules}, resolver.lookup()};
    detail::alike_calls(ops, table, known, result.of_scope, resolver.read_in(result.of_scope))
        .run();
    detail::part_shared_scopes(ops, table, modules, owners, resolver, result);
    detail::repeated_parter(ops, table, result.of_scope)
        .run([&](id m) { return resolver.calls(m); }, result.of_operator);
    detail::number_scopes(ops, table, result, modules.index().size());
    return result;
}

/// Adds the modules that scopes denote to a tree that holds only those of other sources.
///
/// `tree` is what `builder` built last.
/// Returns: for every scope a module, by its id in `builder`.
/// Complexity: as `bind_scopes`.
template <parameter_readers Ops>
[[nodiscard]] scope_modules grow_scopes(const Ops& ops, const scope_table& table,
                                        const module_tree& tree, const parameter_owners& owners,
                                        module_tree_builder& builder) {
    const detail::scope_resolver<module_tree> resolver(
        table, tree, detail::collect_witnesses(ops, table, tree, owners), false, {},
        [&] { return detail::find_weights_read(ops, table); });
    std::vector<id> builder_id(tree.size());
    for (id m = 0; m < builder.size(); ++m) {
        builder_id[builder.rank_of(m)] = m;
    }
    scope_modules ranks; // in `tree`, if the module is there
    ranks.of_scope = detail::resolve_scopes(table, resolver, 0, std::nullopt);
    auto result = ranks;
    const auto has_inside = detail::find_enclosing(table);
    const detail::lent_modules<module_tree> lent(
        table, tree, ranks.of_scope, [&] { return detail::find_computing(ops, table); });
    const detail::shared_members shared(table);
    detail::hidden_levels hidden(builder);
    std::vector<bool> is_grown(table.scopes.size(), false);
    std::optional<bool> reordered;           // computed on demand
    std::optional<scope_series<Ops>> parted; // the same
    const auto grow = [&](id s, auto& self) -> void {
        if (is_grown[s]) {
            return;
        }
        is_grown[s] = true;
        const auto& scope = table.scopes[s];
        const auto parent = result.of_scope[scope.parent].module;
        auto& module = result.of_scope[s];
        if (module.module != no_id) {
            module.module = builder_id[module.module];
            module.caller = module.caller == no_id ? no_id : builder_id[module.caller];
            hidden.note(parent, scope.instance(), module.module);
            return;
        }
        auto counted = scope.counted();
        if (scope.style == scope_style::relative) {
            counted.reset(); // those are child names
        }
        const auto first = counted ? table.find(scope.parent, counted->first) : no_id;
        if (first != no_id && first > s && !reordered) {
            reordered = detail::are_reordered(ops, table, [&](id a, id b) {
                const auto m = ranks.of_scope[a].module;
                return m != no_id && m == ranks.of_scope[b].module;
            });
        }
        const bool repeats = first != no_id && (first < s || *reordered);
        if (repeats) {
            self(first, self);
        }
        // A guess is no surer than the module it was made in.
        const auto guess = [&](id m, float sureness) {
            const auto at_most = result.of_scope[scope.parent].confidence;
            module = {m, no_id, no_id, std::min(sureness, at_most)};
        };
        const auto make = [&](std::string_view instance, id around) {
            const auto path = detail::path_below(builder, around, scope.style, instance);
            return detail::module_below(builder, around, path);
        };
        // List members are numbers: `list.1_2` is a call of `list.1`.
        const bool is_call =
            counted && detail::is_number(counted->first.substr(counted->first.rfind('.') + 1));
        // Where an optimizer removed operators, calls may differ in what is left; a scope that
        // calls nothing, and reads nothing or the same, is then more likely a further call.
        const bool plain = first != no_id && !table.leftover.empty() && !has_inside[s] &&
                           !has_inside[first] && resolver.read_alike(s, first);
        if (!parted) {
            parted.emplace(
                ops, table, builder,
                [&](id t) {
                    const auto m = ranks.of_scope[t].module;
                    return m == no_id ? no_id : builder_id[m];
                },
                [&](id t) {
                    self(t, self);
                    return result.of_scope[t].module;
                });
        }
        const auto guess_by_name = [&] {
            if (repeats &&
                (is_call || plain ||
                 (table.scopes[first].operators > 0 && table.scopes[first].kinds == scope.kinds) ||
                 (!has_inside[s] && !has_inside[first] &&
                  detail::repeats_shared(table, first, s)))) {
                guess(result.of_scope[first].module, detail::confidence::scope_numbered);
            } else if (is_call) {
                guess(make(counted->first, parent), detail::confidence::scope_numbered);
            } else if (const auto path = hidden.find(parent, scope.instance()); !path.empty()) {
                guess(builder.at_path(path, parent), detail::confidence::scope_hidden);
            } else if (counted && (first != no_id || !table.leftover.empty())) {
                // `att_1` may be another module that prints like `att`, which may be gone.
                guess(make(scope.instance(), parent), detail::confidence::scope_numbered);
            } else {
                guess(make(scope.instance(), parent), hidden.any_noted()
                                                          ? detail::confidence::scope_hidden
                                                          : detail::confidence::scope_new);
            }
        };
        const auto stem = repeats ? counted->first : scope.instance();
        const auto owner = parted->owner(s);
        const auto join_owner = [&] {
            guess(make(parted->stem(s), owner), detail::confidence::scope_numbered);
        };
        if (owner != no_id && parted->is_read(s)) {
            join_owner();
        } else if (parted->is_apart(s)) {
            guess(parent, detail::confidence::shallow); // below it, in unknown containers
        } else if (const auto other = lent.elsewhere(s); other != no_id) {
            guess(builder_id[other], detail::confidence::scope_elsewhere);
            module.caller = parent;
        } else if (const auto lender = lent.owner(s); lender != no_id) {
            guess(detail::module_below(builder, builder_id[lender], stem),
                  detail::confidence::scope_elsewhere);
            module.caller = parent;
        } else if (const auto deeper = lent.unprinted(s); deeper != no_id) {
            guess(make(stem, builder_id[deeper]), detail::confidence::scope_hidden);
        } else if (const auto outside = shared.outside(s); outside != no_id) {
            self(outside, self);
            guess(result.of_scope[outside].module, detail::confidence::scope_elsewhere);
            module.caller = parent;
        } else if (const auto holder = shared.holder(s); holder != no_id) {
            guess(detail::module_below(builder, result.of_scope[holder].module, stem),
                  detail::confidence::scope_elsewhere);
            module.caller = parent;
        } else if (first != no_id && owner != no_id) {
            join_owner();
        } else if (first != no_id && parted->is_call_of(first, s)) {
            self(first, self);
            guess(result.of_scope[first].module, detail::confidence::scope_numbered);
        } else if (counted && first == no_id && parted->is_later_call(s)) {
            guess(make(counted->first, parent), detail::confidence::scope_numbered);
        } else {
            const float at_most =
                parted->is_beside_apart(s) ? detail::confidence::shallow : lent.surest(s);
            guess_by_name();
            module.confidence = std::min(module.confidence, at_most);
        }
    };
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        grow(s, grow);
    }
    detail::growing_modules growing{builder};
    detail::alike_calls(ops, table, growing, result.of_scope, resolver.read_in(ranks.of_scope))
        .run();
    for (id s = scope_style_count; s < table.scopes.size(); ++s) {
        const auto qualified = table.scopes[s].qualified_class();
        if (!qualified.empty() && !builder.has_class(result.of_scope[s].module)) {
            const auto dot = qualified.rfind('.');
            builder.set_class(result.of_scope[s].module,
                              qualified.substr(dot == qualified.npos ? 0 : dot + 1), qualified);
        }
    }
    detail::part_shared_scopes(ops, table, tree, owners, resolver, ranks);
    for (const auto& [v, own] : ranks.of_operator) {
        result.of_operator[v] = {builder_id[own.module], own.call, no_id, own.confidence};
    }
    detail::repeated_parter(ops, table, result.of_scope)
        .run([](id) { return no_id; }, result.of_operator);
    detail::number_scopes(ops, table, result, builder.size());
    detail::note_calls(table, result, builder);
    return result;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SCOPE_MODULES_HPP
