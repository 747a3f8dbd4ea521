// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_LEFTOVERS_HPP
#define STEMMA_EVIDENCE_LEFTOVERS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/path_mapping.hpp>
#include <stemma/evidence/detail/scope_modules.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Evidence in the remains of operators that optimizers replaced: a name that still contains the
/// name of one of them, or the names of the values that a constant was folded from.
///
/// An operator fused from several may belong to several modules, so the claim is for the common
/// ancestor of the remaining module and the owners of the parameters read.
struct leftovers {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::unordered_map<id, std::pair<id, float>> found)
            : ops_(&ops), found_(std::move(found)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (found_.empty()) {
                return;
            }
            const auto entry =
                found_.find(static_cast<id>(detail::index_of(ops_->graph(), vertex)));
            if (entry != found_.end()) {
                f(claim{entry->second.first, no_id, entry->second.second, provenance::leftover,
                        true, no_id});
            }
        }

    private:
        const Ops* ops_;
        std::unordered_map<id, std::pair<id, float>> found_;
    };

    /// Complexity: O(operators with leftovers).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::unordered_map<id, std::pair<id, float>> by_node;
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
                auto module = bound.of_scope[table.scope_of[v]].module;
                if (module == no_id) {
                    continue;
                }
                const auto end =
                    std::lower_bound(table.ends.begin(), table.ends.end(), std::pair(v, id{0}));
                const bool ends = end != table.ends.end() && end->first == v;
                if (ends) {
                    const auto joined = bound.of_scope[end->second].module;
                    module = joined == no_id ? module : tree.lca(module, joined);
                }
                if constexpr (joined_operators<Ops>) {
                    // The name is that of one of two operators, and the other is in another module.
                    if (!ends && module != 0 && tree.end(module) == module + 1 &&
                        context.ops().is_joined(*it)) {
                        module = tree.parent(module);
                    }
                }
                context.ops().for_each_parameter(*it, [&](id p) {
                    for (auto owner : context.owners().of(p)) {
                        module = tree.lca(module, detail::nearest_called(context.modules(), owner));
                    }
                });
                by_node[v] = {module, ends ? detail::confidence::leftover_of_both
                                           : detail::confidence::leftover};
            }
        }
        follow_data(context, by_node);
        add_folded(context, by_node);
        return {context.ops(), std::move(by_node)};
    }

private:
    /// Layout conversions inserted for a runtime belong where the data come from.
    template <class Ops, class Modules>
    static void follow_data(evidence_context<Ops, Modules>& context,
                            std::unordered_map<id, std::pair<id, float>>& found) {
        const auto& graph = context.ops().graph();
        const auto& table = context.scopes();
        for (auto [it, last] = vertices(graph); it != last; ++it) {
            const std::string_view type = context.ops().op_type(*it);
            if (type != "ReorderInput" && type != "ReorderOutput") {
                continue;
            }
            const auto v = static_cast<id>(detail::index_of(graph, *it));
            for (auto [in, in_last] = in_edges(*it, graph); in != in_last; ++in) {
                const auto u = static_cast<id>(detail::index_of(graph, source(*in, graph)));
                const auto entry = found.find(u);
                if (entry != found.end()) {
                    found[v] = entry->second;
                } else if (table.scope_of[u] != no_id) {
                    const auto& bound = context.modules_of_scopes().of(u, table.scope_of[u]);
                    found[v] = {bound.module,
                                std::min(bound.confidence, detail::confidence::leftover)};
                }
                if (found.contains(v) && found[v].first == no_id) {
                    found.erase(v);
                }
            }
        }
    }

    /// Constants whose metadata list what they were folded from.
    template <class Ops, class Modules>
    static void add_folded(evidence_context<Ops, Modules>& context,
                           std::unordered_map<id, std::pair<id, float>>& found) {
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
                    found.emplace(v, std::pair(module, detail::confidence::folded));
                if (!added) {
                    known->second.first = context.index().lca(known->second.first, module);
                }
            });
        }
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_LEFTOVERS_HPP
