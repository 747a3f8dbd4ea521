// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_RESOLVE_EVIDENCE_HPP
#define STEMMA_TAGGING_RESOLVE_EVIDENCE_HPP

#include <stemma/config.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/policy_name.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/vertex_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/detail/named_claims.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/tagging/resolution.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Where the list of an operator is among those of others.
struct list_entry {
    id v = no_id; ///< vertex index
    std::size_t first = 0;
    std::size_t count = 0;

    /// In the order in which they were added, for one operator.
    friend bool operator<(const list_entry& a, const list_entry& b) noexcept {
        return std::tie(a.v, a.first, a.count) < std::tie(b.v, b.first, b.count);
    }
};

/// Lists for some operators, by vertex index.
template <class T>
class per_operator_lists {
public:
    /// Adds the list of `v`. Requires: at most one per vertex, by increasing `v`; otherwise `sort`
    /// must be called before `of`, which finds the list added first.
    void add(id v, std::span<const T> items) {
        places_.push_back({v, items_.size(), items.size()});
        items_.insert(items_.end(), items.begin(), items.end());
    }

    /// Adds all lists of another one. Complexity: O(its size).
    void append(const per_operator_lists& other) {
        other.for_each([&](id v, std::span<const T> items) { add(v, items); });
    }

    /// Returns: the number of lists added.
    [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

    /// Returns: the list of vertex index `v`; empty if it has none.
    /// Complexity: O(log size), if lists were added by increasing vertex index.
    [[nodiscard]] std::span<const T> of(id v) const noexcept {
        const auto it = std::lower_bound(places_.begin(), places_.end(), list_entry{v, 0, 0});
        return it == places_.end() || it->v != v ? std::span<const T>{} : at(*it);
    }

    /// Calls `f(v, list)` for every operator that has one. Complexity: O(lists).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& place : places_) {
            f(place.v, at(place));
        }
    }

    /// Enables `of` after lists were added in any order.
    void sort() {
        if (!std::is_sorted(places_.begin(), places_.end())) {
            std::sort(places_.begin(), places_.end());
        }
    }

private:
    [[nodiscard]] std::span<const T> at(const list_entry& place) const noexcept {
        return std::span(items_).subspan(place.first, place.count);
    }

    std::vector<list_entry> places_;
    std::vector<T> items_;
};

} // namespace detail

/// The resolved evidence about all operators.
struct evidence_result {
    std::vector<attribution> of; ///< by vertex index; `module == no_id` without evidence
    detail::per_operator_lists<claim> conflicts; ///< claims about operators that are disputed
    detail::per_operator_lists<id> alternatives; ///< modules claimed by one source that no other
                                                 ///< one decided between
    detail::per_operator_lists<id> callers;      ///< the caller of a module owned elsewhere
    std::size_t dropped = 0;                     ///< operators whose claims were dropped
};

namespace detail {

/// Checks the answer of a resolution policy. Throws: as `refuse_answer`. Complexity: O(claims).
template <class Resolution>
void check_resolved(const Resolution& policy, const attribution& resolved,
                    std::span<const claim> claims, const tree_index& tree) {
    if (!is_confidence(resolved.confidence)) {
        refuse_answer(policy, "resolution", no_confidence);
    }
    if (resolved.module == no_id) {
        return;
    }
    if (resolved.module >= tree.size()) {
        refuse_answer(policy, "resolution", "names a module that is not in the tree");
    }
    if (!range::any_of(claims, [&](const claim& c) { return c.source == resolved.source; })) {
        refuse_answer(policy, "resolution", "names a source that makes no claim");
    }
    if (resolved.call != no_id &&
        !range::any_of(claims, [&](const claim& c) { return c.call == resolved.call; })) {
        refuse_answer(policy, "resolution", "names a call that no source claims");
    }
}

/// Queries prepared sources, called `names`, about some operators; `of` is by vertex index, for all
/// of them.
template <class Sources, class Graph, class Iterator, resolution_policy Resolution>
void resolve_evidence(const Sources& sources, const Graph& graph, const tree_index& tree,
                      Iterator it, Iterator last, const Resolution& resolution,
                      const provenance_names& names, std::span<attribution> of,
                      evidence_result& result) {
    // The previous operator's claims and their resolution: neighbours mostly agree.
    std::vector<claim> claims;
    attribution resolved;
    std::vector<id> modules;
    const auto refuse_claim = [&](provenance source, std::string_view fault) {
        STEMMA_THROW(error(error_code::refused, "",
                           std::string("evidence '").append(names[source]).append("'"), fault));
    };
    for (; it != last; ++it) {
        auto end = claims.begin();
        bool as_before = true;
        bool is_called = false;
        sources.for_each_claim(*it, [&](const claim& candidate) {
            if (candidate.module >= tree.size() ||
                (candidate.caller != no_id && candidate.caller >= tree.size())) {
                refuse_claim(candidate.source, "claims a module that is not in the tree");
            }
            if (!is_confidence(candidate.confidence)) {
                refuse_claim(candidate.source, no_confidence);
            }
            is_called |= candidate.caller != no_id;
            if (end == claims.end()) {
                claims.push_back(candidate);
                end = claims.end();
                as_before = false;
                return;
            }
            if (!as_before || *end != candidate) {
                *end = candidate;
                as_before = false;
            }
            ++end;
        });
        if (end == claims.begin()) {
            continue;
        }
        if (!as_before || end != claims.end()) {
            claims.erase(end, claims.end());
            resolved = resolution.resolve(tree, claims);
            check_resolved(resolution, resolved, claims, tree);
        }
        const auto v = static_cast<id>(index_of(graph, *it));
        of[v] = resolved;
        if (resolved.module == no_id) {
            ++result.dropped;
        }
        if (resolved.conflict) {
            result.conflicts.add(v, claims);
        }
        if (claims.size() > 1 && claims.front().source == claims.back().source) {
            modules.clear();
            for (const auto& one : claims) {
                modules.push_back(one.module);
            }
            result.alternatives.add(v, modules);
        }
        if (!is_called) {
            continue;
        }
        for (const auto& one : claims) {
            if (one.caller != no_id && one.module == resolved.module &&
                one.source == resolved.source) {
                result.callers.add(v, {&one.caller, 1});
            }
        }
    }
}

} // namespace detail

/// Queries the sources about every operator and resolves their claims, in as many threads as
/// allowed.
/// Complexity: that of the sources and the resolution policy.
template <operator_view Ops, module_view Modules, evidence_policy<Ops, Modules> Evidence,
          resolution_policy Resolution = by_weight>
[[nodiscard]] evidence_result resolve_evidence(evidence_context<Ops, Modules>& context,
                                               const Evidence& evidence,
                                               const Resolution& resolution = {}) {
    const auto& graph = context.ops().graph();
    const auto size = static_cast<std::size_t>(num_vertices(graph));
    const auto sources = detail::prepare_source(evidence, context);
    std::vector<attribution> of(size);
    // Operators vary in cost, so there are more parts than threads.
    const auto workers = thread_limit::current().parts_of_operators(size);
    std::vector<evidence_result> parts(workers == 1 ? 1 : 8 * workers);
    detail::for_each_item(parts.size(), workers, [&](std::size_t part, std::size_t) {
        const auto [first, last] = detail::vertex_range(graph, parts.size(), part);
        detail::resolve_evidence(sources, graph, context.index(), first, last, resolution,
                                 context.provenances(), of, parts[part]);
    });
    auto result = std::move(parts.front());
    for (std::size_t part = 1; part < parts.size(); ++part) {
        result.conflicts.append(parts[part].conflicts);
        result.alternatives.append(parts[part].alternatives);
        result.callers.append(parts[part].callers);
        result.dropped += parts[part].dropped;
    }
    result.of = std::move(of);
    result.conflicts.sort();
    result.alternatives.sort();
    result.callers.sort();
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_RESOLVE_EVIDENCE_HPP
