// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_LEFTOVERS_HPP
#define STEMMA_EVIDENCE_LEFTOVERS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/find_quantized.hpp>
#include <stemma/evidence/detail/find_scope.hpp>
#include <stemma/evidence/detail/fused_attention.hpp>
#include <stemma/evidence/detail/hierarchy_modules.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/inserted_conversions.hpp>
#include <stemma/evidence/detail/joined_modules.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/nearest_owners.hpp>
#include <stemma/evidence/detail/operator_kinds.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/scope_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Evidence in the remains of operators that optimizers replaced: a name that still contains the
/// name of one of them, or the names of the values that a constant was folded from.
///
/// An operator fused from several may belong to several modules, so the claim is for the common
/// ancestor of the remaining module and the owners of the parameters read. The least sure claims
/// are not exact.
struct leftovers {
    using policy_category = evidence_category;
    /// A module as told by the remains, or by parameters of the operator that these lead to.
    struct found_module {
        id module = no_id;          ///< `no_id` if nothing tells
        float confidence = 0;       ///< from 0 to 1
        bool by_parameters = false; ///< told by parameters alone
    };
    using found_modules = std::unordered_map<id, found_module>; ///< by vertex index

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, found_modules found) : ops_(&ops), modules_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (modules_.empty()) {
                return;
            }
            const auto entry =
                modules_.find(static_cast<id>(detail::index_of(ops_->graph(), vertex)));
            if (entry != modules_.end()) {
                const auto [module, confidence, by_parameters] = entry->second;
                // Together with other claims from parameters, it is no second witness.
                f(claim{module, no_id, confidence,
                        by_parameters ? provenance::parameter : provenance::leftover,
                        confidence > detail::confidence::region, no_id});
            }
        }

    private:
        const Ops* ops_;
        found_modules modules_;
    };

    /// Complexity: O(operators with leftovers).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        found_modules by_node;
        const auto& table = context.scopes();
        const tree_index& tree = context.index();
        const auto& graph = context.ops().graph();
        if (!table.leftover.empty()) {
            const auto& bound = context.modules_of_scopes();
            for (auto [it, last] = vertices(graph); it != last; ++it) {
                const auto v = static_cast<id>(detail::index_of(graph, *it));
                if (!std::binary_search(table.leftover.begin(), table.leftover.end(), v)) {
                    continue;
                }
                const auto& place = bound.of_scope[table.scope_of[v]];
                auto module = place.module;
                if (module == no_id) {
                    continue;
                }
                const auto end =
                    std::lower_bound(table.ends.begin(), table.ends.end(), std::pair(v, id{0}));
                const bool ends = end != table.ends.end() && end->first == v;
                const auto other = context.joined().find(v);
                const bool is_told = other != context.joined().end();
                bool within = std::binary_search(table.within.begin(), table.within.end(), v);
                if constexpr (joined_operators<Ops>) {
                    within = within && !context.ops().is_joined(*it);
                    // The name is that of one of two operators, and the other is in another module.
                    if (!is_told && module != 0 && tree.is_leaf(module) &&
                        context.ops().is_joined(*it) && !calls_functions(context, *it, module)) {
                        module = place.caller != no_id ? place.caller : tree.parent(module);
                        module = detail::nearest_called(context.modules(), module);
                    }
                }
                module = is_told ? tree.lca(module, other->second) : module;
                if (const auto owned = find_owner(context, *it); owned != no_id) {
                    const auto common = tree.lca(module, owned);
                    module = !within ? common : common == module ? owned : module;
                }
                // Joined names only tell what contains all of them.
                const bool guessed = within && table.scopes[table.scope_of[v]].style ==
                                                   detail::scope_style::relative;
                by_node[v] = {module, guessed ? detail::confidence::common_ancestor
                                      : ends  ? detail::confidence::leftover_of_both
                                              : detail::confidence::leftover};
            }
        }
        const auto conversions = detail::find_conversions(context.ops(), context.scopes());
        follow_data(context, conversions, by_node);
        place_nameless(context, by_node);
        follow_data(context, conversions, by_node);
        follow_readers(context, by_node);
        place_attentions(context, by_node);
        follow_quantized(context, by_node);
        add_folded(context, by_node);
        return {context.ops(), std::move(by_node)};
    }

private:
    /// Returns: the common ancestor of the modules whose parameters an operator reads; `no_id` if
    /// it reads none.
    template <class Ops, class Modules>
    [[nodiscard]] static id find_owner(evidence_context<Ops, Modules>& context, operator_t<Ops> v) {
        detail::common_module owner;
        context.ops().for_each_parameter(v, [&](id p) {
            for (auto each : context.owners().of(p)) {
                owner.add(detail::nearest_called(context.modules(), each));
            }
        });
        return owner.get(context.index());
    }

    /// As `find_owner`, for all that an operator was fused from.
    template <class Ops, class Modules>
    [[nodiscard]] static id find_caller(evidence_context<Ops, Modules>& context,
                                        operator_t<Ops> v) {
        const detail::joined_modules joined(context.ops(), context.modules(), context.joined());
        const auto owner = find_owner(context, v);
        return owner == no_id ? no_id : joined.around(v, owner);
    }

    /// Whether the module in the name of a fused activation is not the activation itself, but one
    /// that calls it as a function: its name and its class are not those of an activation.
    template <class Ops, class Modules>
    [[nodiscard]] static bool calls_functions(evidence_context<Ops, Modules>& context,
                                              operator_t<Ops> v, id module) {
        constexpr std::array<std::string_view, 6> words{"act",  "relu", "sigmoid",
                                                        "tanh", "clip", "nonlin"};
        constexpr std::array<std::string_view, 6> types{"Relu", "LeakyRelu", "Sigmoid",
                                                        "Tanh", "Clip",      "HardSigmoid"};
        const std::string_view name = context.ops().name(v);
        const auto last = name.substr(std::min(name.rfind('/') + 1, name.size()));
        std::string_view own_name = context.modules().name(module);
        own_name = own_name.substr(0, own_name.find_last_not_of("0123456789_") + 1);
        const std::string_view class_name = context.modules().class_name(module);
        const auto is_of = [&](std::string_view type) { // `leaky` is of LeakyRelu
            return detail::starts_alike(class_name, type) ||
                   (detail::starts_alike(type, own_name) &&
                    (type.size() == own_name.size() || detail::is_capital(type[own_name.size()])));
        };
        return name.starts_with('/') && !own_name.empty() &&
               std::any_of(
                   types.begin(), types.end(),
                   [&](std::string_view type) { return last.starts_with(type) && !is_of(type); }) &&
               std::none_of(words.begin(), words.end(), [&](std::string_view word) {
                   return detail::starts_alike(own_name, word) || own_name.ends_with(word);
               });
    }

    /// Returns: the module that was found for an operator, else the one in its name; `no_id`
    /// without.
    template <class Ops, class Modules>
    [[nodiscard]] static found_module find_known(evidence_context<Ops, Modules>& context,
                                                 const found_modules& found, id v) {
        if (const auto known = found.find(v); known != found.end()) {
            return known->second;
        }
        const auto scope = context.scopes().scope_of[v];
        if (scope == no_id) {
            return {no_id, 0};
        }
        const auto& bound = context.modules_of_scopes().of(v, scope);
        return {bound.module, std::min(bound.confidence, detail::confidence::leftover)};
    }

    /// An operator in the layout of a runtime that has lost its name, and that of its weight,
    /// belongs to an unknown module inside the one that calls its neighbours.
    template <class Ops, class Modules>
    static void place_nameless(evidence_context<Ops, Modules>& context, found_modules& found) {
        const auto& graph = context.ops().graph();
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = static_cast<id>(detail::index_of(graph, *it));
            const std::string_view name = context.ops().name(*it);
            if (context.scopes().scope_of[v] != no_id || name.find("_nchwc") == name.npos) {
                continue;
            }
            bool owned = false;
            context.ops().for_each_parameter(
                *it, [&](id p) { owned = owned || !context.owners().of(p).empty(); });
            if (owned) {
                continue;
            }
            detail::common_module shared;
            std::size_t sides = 0;
            const auto add = [&](id u) {
                const auto module = find_known(context, found, u).module;
                shared.add(module == no_id ? no_id : detail::around(context.index(), module));
                sides += module == no_id ? 0U : 1U;
            };
            for (const auto u : detail::producers_of(graph, *it)) {
                add(u);
            }
            for (const auto w : detail::readers_of(graph, *it)) {
                add(w);
            }
            if (const auto module = shared.get(context.index()); module != no_id) {
                // One neighbour alone does not bound the caller.
                found[v] = {sides > 1 ? module : 0, detail::confidence::region};
            }
        }
    }

    /// An operator from an inlined call, or one that reshapes for a fused product, belongs where
    /// its readers do.
    template <class Ops, class Modules>
    static void follow_readers(evidence_context<Ops, Modules>& context, found_modules& found) {
        const auto& graph = context.ops().graph();
        const auto is_inside = [&](operator_t<Ops> v) {
            if constexpr (requires { context.ops().result_name(v); }) {
                return std::string_view(context.ops().result_name(v))
                           .starts_with(detail::inlined_prefix) ||
                       detail::is_reshaped_name(context.ops().name(v));
            } else {
                return false;
            }
        };
        std::vector<operator_t<Ops>> inside; // after their readers, except around cycles
        const auto collect = [&](operator_t<Ops> vertex) {
            const auto v = static_cast<id>(detail::index_of(graph, vertex));
            if (context.scopes().scope_of[v] == no_id && is_inside(vertex)) {
                inside.push_back(vertex);
            }
        };
        const sweep_order<graph_of<Ops>> order(graph);
        order.backward(collect);
        if (order.has_cycle()) {
            const auto [first, last] = vertices(graph);
            std::for_each(first, last, collect);
        }
        for (std::size_t known = 0, before = 1; known != before;) { // until nothing is added
            before = std::exchange(known, 0);
            for (const auto vertex : inside) {
                detail::common_module readers;
                float confidence = 1;
                bool all = true;
                bool by_parameters = false;
                for (auto [out, last] = out_edges(vertex, graph); out != last; ++out) {
                    const auto w = static_cast<id>(detail::index_of(graph, target(*out, graph)));
                    auto reader = find_known(context, found, w);
                    if (reader.module == no_id &&
                        detail::is_product(context.ops().op_type(target(*out, graph)))) {
                        reader = {find_owner(context, target(*out, graph)),
                                  detail::confidence::parameter, true};
                    }
                    all = all && reader.module != no_id;
                    readers.add(reader.module);
                    confidence = std::min(confidence, reader.confidence);
                    by_parameters = by_parameters || reader.by_parameters;
                }
                if (all && readers.low != no_id) {
                    const auto v = static_cast<id>(detail::index_of(graph, vertex));
                    found[v] = {readers.get(context.index()), confidence, by_parameters};
                    ++known;
                }
            }
        }
    }

    /// Conversions inserted for a runtime belong where the data come from.
    template <class Ops, class Modules>
    static void follow_data(evidence_context<Ops, Modules>& context,
                            const std::vector<operator_t<Ops>>& conversions, found_modules& found) {
        const auto& graph = context.ops().graph();
        for (const auto& conversion : conversions) {
            const auto v = static_cast<id>(detail::index_of(graph, conversion));
            for (const auto u : detail::producers_of(graph, conversion)) {
                if (auto known = find_known(context, found, u); known.module != no_id) {
                    if (detail::reshapes_product(context.ops().name(conversion))) {
                        // The last part of what was fused.
                        known.confidence = std::min(known.confidence, detail::confidence::region);
                    }
                    found[v] = known;
                }
            }
        }
    }

    /// Fused attentions without names.
    template <class Ops, class Modules>
    static void place_attentions(evidence_context<Ops, Modules>& context, found_modules& found) {
        const auto& ops = context.ops();
        const auto number = [&](operator_t<Ops> vertex) {
            return static_cast<id>(detail::index_of(ops.graph(), vertex));
        };
        const auto module_of = [&](operator_t<Ops> vertex) {
            const auto known = find_known(context, found, number(vertex)).module;
            return known == no_id ? find_caller(context, vertex) : known;
        };
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            if (detail::is_attention_type(ops.op_type(*it)) && module_of(*it) == no_id) {
                const auto module = detail::find_attention(ops, context.modules(), *it, module_of);
                if (module != no_id) {
                    found[number(*it)] = {module, detail::confidence::region};
                }
            }
        }
    }

    /// What a quantizer inserted behind an operator belongs there, unless names or metadata of its
    /// own say otherwise.
    template <class Ops, class Modules>
    static void follow_quantized(evidence_context<Ops, Modules>& context, found_modules& found) {
        const auto& graph = context.ops().graph();
        const auto place_of = [&](id v) {
            return detail::find_place(context.hierarchies(), context.modules_of_hierarchies(), v);
        };
        const auto& rewritten = context.hierarchies().rewritten; // has the metadata of a part
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const auto v = static_cast<id>(detail::index_of(graph, *it));
            if (context.scopes().scope_of[v] != no_id) {
                continue;
            }
            const auto bias = detail::find_quantized_bias(context.ops(), *it);
            const auto quantized = bias ? bias : detail::find_quantized(context.ops(), *it);
            if (!quantized || found.contains(v) || place_of(v).module != no_id) {
                continue;
            }
            const auto u = static_cast<id>(detail::index_of(graph, *quantized));
            const auto place = place_of(u);
            auto known = find_known(context, found, u);
            if (place.module != no_id) {
                const bool sure =
                    place.exact && !std::binary_search(rewritten.begin(), rewritten.end(), u);
                known = {sure ? place.module : no_id, detail::confidence::leftover};
            } else if (known.module == no_id) {
                known = {find_caller(context, *quantized), detail::confidence::parameter, true};
            }
            known.module != no_id ? void(found[v] = known) : void();
        }
    }

    /// Constants whose metadata list what they were folded from.
    template <class Ops, class Modules>
    static void add_folded(evidence_context<Ops, Modules>& context, found_modules& found) {
        if constexpr (requires(const Ops& ops) { ops.for_each_folded(detail::take_folded{}); }) {
            const module_lookup<Modules> lookup(context.modules());
            const auto& mapping = context.owners().mapping;
            context.ops().for_each_folded([&](operator_t<Ops> vertex, std::string_view origin) {
                const auto path = detail::owner_path(origin);
                if (path.empty()) {
                    return;
                }
                auto module = find_module(lookup, mapping.apply(path), mapping.base);
                if (module == no_id) {
                    return;
                }
                module = detail::nearest_called(context.modules(), module);
                const auto v = static_cast<id>(detail::index_of(context.ops().graph(), vertex));
                const auto [known, added] =
                    found.emplace(v, found_module{module, detail::confidence::folded});
                if (!added) {
                    known->second.module = context.index().lca(known->second.module, module);
                }
            });
        }
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_LEFTOVERS_HPP
