// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_TAG_OPERATORS_HPP
#define STEMMA_TAGGING_TAG_OPERATORS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/tagging/detail/number_calls.hpp>
#include <stemma/tagging/detail/overrule_shared.hpp>
#include <stemma/tagging/detail/propagate_tags.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/resolve_evidence.hpp>
#include <stemma/tagging/selection.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The origin of all operators of a model, and their tags.
class tagging {
public:
    std::vector<attribution> attributions;       ///< by vertex index; every operator has a module
    tag_table tags;                              ///< of the modules
    std::vector<detail::id_set> tag_sets;        ///< by vertex index: selected modules, never empty
    detail::id_set_pool pool;                    ///< the sets of two or more
    detail::per_operator_lists<claim> conflicts; ///< claims about operators that are disputed
    detail::per_operator_lists<id>
        callers;                  ///< by vertex index: modules that called one owned elsewhere
    std::size_t dropped = 0;      ///< operators whose claims were dropped
    provenance_names provenances; ///< of the sources queried
    node_origins origins;         ///< in the original, if tags were carried over from one

    /// Returns: the selected module whose tag is the operator's primary one.
    [[nodiscard]] id selected(id v) const noexcept { return tags.selected(attributions[v].module); }
};

namespace detail {

template <class P>
inline constexpr bool is_for_tagging =
    policy_for<P, selection_category> || policy_for<P, naming_category> ||
    policy_for<P, evidence_category> || policy_for<P, resolution_category> ||
    policy_for<P, propagation_category>;

/// What `tag_operators` asks if no evidence is passed; complete with <stemma/tagging/tagger.hpp>.
template <class Ops>
struct default_evidence;

/// Returns: the evidence among some policies, else the default.
template <class Ops, class... Ps>
[[nodiscard]] auto find_evidence(const policies<Ps...>& chosen) {
    if constexpr ((policy_for<Ps, evidence_category> || ...)) {
        return chosen.template get<evidence_category>();
    } else {
        static_assert(
            requires { typename default_evidence<Ops>::type; },
            "tag_operators: pass evidence, or include <stemma/tagging/tagger.hpp>");
        return typename default_evidence<Ops>::type();
    }
}

/// Explains what a policy chosen for tagging lacks.
template <class Ops, class Modules, class Selection, class Naming, class Evidence, class Resolution,
          class Propagation>
consteval bool are_for_this_tagging() {
    return explain_policy<selection_category, Selection, Modules>() &&
           explain_policy<naming_category, Naming, Modules>() &&
           explain_policy<evidence_category, Evidence, Ops, Modules>() &&
           explain_policy<resolution_category, Resolution>() &&
           explain_policy<propagation_category, Propagation, Ops>();
}

} // namespace detail

/// Determines for every operator the module it comes from.
///
/// Queries the evidence, resolves its claims, propagates to operators without any, and names
/// modules. Policies not passed are the defaults: `by_weight`, `both_sides`, `not_infrastructure`,
/// `class_paths`, and with <stemma/tagging/tagger.hpp> the evidence of `name_sources`.
/// Requires: policies that support concurrent calls if a `thread_scope` allows several threads.
/// Complexity: linear in operators, edges and modules, times the cap on tag sets.
template <operator_view Ops, module_view Modules, policy... Ps>
[[nodiscard]] tagging tag_operators(evidence_context<Ops, Modules>& context,
                                    const policies<Ps...>& chosen) {
    static_assert((detail::is_for_tagging<Ps> && ...),
                  "tag_operators: tagging uses no policy with this policy_category");
    const auto selection = chosen.template get_or<selection_category, not_infrastructure>();
    const auto naming = chosen.template get_or<naming_category, class_paths>();
    const auto evidence = detail::find_evidence<Ops>(chosen);
    const auto resolution = chosen.template get_or<resolution_category, by_weight>();
    const auto propagation = chosen.template get_or<propagation_category, both_sides>();
    static_assert(detail::are_for_this_tagging<
                  Ops, Modules, std::decay_t<decltype(selection)>, std::decay_t<decltype(naming)>,
                  std::decay_t<decltype(evidence)>, std::decay_t<decltype(resolution)>,
                  std::decay_t<decltype(propagation)>>());
    tagging result;
    evidence_result resolved;
    std::vector<bool> has_evidence;
    const auto resolve_all = [&] {
        resolved = resolve_evidence(context, evidence, resolution);
        for (const auto& [v, before, readers, least] :
             detail::overrule_shared(context.ops(), context.index(), resolved.of,
                                     context.independent(), resolved.callers)) {
            if (!before.conflict) {
                const std::array claims{
                    claim{before.module, before.call, before.confidence, before.source},
                    claim{readers, no_id, least, provenance::consumer}};
                resolved.conflicts.add(v, claims);
            }
        }
        resolved.conflicts.sort();
        if constexpr (parameter_readers<Ops>) {
            detail::number_calls(context.ops(), context.index(), resolved.of);
        }
        has_evidence.resize(resolved.of.size());
        std::transform(resolved.of.begin(), resolved.of.end(), has_evidence.begin(),
                       [](const attribution& entry) { return entry.module != no_id; });
        propagate(context.ops(), context.index(), resolved.of, propagation, &context.independent());
    };
    detail::run_tasks(
        thread_limit::current().parts_of_operators(num_vertices(context.ops().graph())),
        {resolve_all, [&] { result.tags = name_modules(context.modules(), selection, naming); }});
    result.provenances = context.provenances();
    result.attributions = std::move(resolved.of);
    result.conflicts = std::move(resolved.conflicts);
    result.callers = std::move(resolved.callers);
    result.dropped = resolved.dropped;
    result.tag_sets.resize(has_evidence.size(), no_id);
    for (id v = 0; v < has_evidence.size(); ++v) {
        result.tag_sets[v] = has_evidence[v] ? result.selected(v) : no_id;
    }
    std::vector<id> several;
    resolved.alternatives.for_each([&](id v, std::span<const id> modules) {
        several.clear();
        for (auto m : modules) {
            several.push_back(result.tags.selected(m));
        }
        several = detail::range::each_once(std::move(several));
        if (result.tag_sets[v] != no_id && several.size() <= detail::default_tag_cap) {
            result.tag_sets[v] = result.pool.intern(several);
        }
    });
    if (detail::propagates(propagation)) {
        std::vector<id> selected(context.index().size());
        for (id m = 0; m < selected.size(); ++m) {
            selected[m] = result.tags.selected(m);
        }
        detail::propagate_tags(context.ops(), context.index(), selected, result.tag_sets,
                               result.pool);
    }
    for (id v = 0; v < result.tag_sets.size(); ++v) {
        if (result.tag_sets[v] == no_id) {
            result.tag_sets[v] = result.selected(v);
        }
    }
    return result;
}

/// The same, directly from operators and modules.
template <operator_view Ops, module_view Modules, policy... Ps>
[[nodiscard]] tagging tag_operators(const Ops& ops, const Modules& modules,
                                    const policies<Ps...>& chosen = policies<>{}) {
    evidence_context<Ops, Modules> context(ops, modules);
    return tag_operators(context, chosen);
}

/// Rejects types that are no operator views, with an explanation.
template <class Ops, class Modules, class... Chosen>
    requires(!operator_view<Ops>)
tagging tag_operators(const Ops&, const Modules&, const Chosen&...) {
    static_assert(explain_operator_view<Ops>());
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_TAG_OPERATORS_HPP
