// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_LAWS_HPP
#define STEMMA_TESTS_LAWS_HPP

#include "law_book.hpp"

#include <stemma/align/lexicon.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/partition_graph.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/user_frames.hpp>
#include <stemma/fold/fold.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/source_lines.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/report/visibility.hpp>
#include <stemma/tagging/diagnostics.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/selection.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What no compiler checks about a policy: the laws of its role, tested on an example. For tests of
/// custom policies; each function returns a sentence for every broken law.
namespace stemma {

/// Sentences about broken laws; empty if there are none.
using broken_laws = std::vector<std::string>;

/// Complexity: two queries per module.
template <class P, module_view Modules>
    requires selection_policy<P, Modules>
[[nodiscard]] broken_laws broken_selection_laws(const P& policy, const Modules& modules) {
    detail::law_book laws;
    for (id m = 0; m < modules.index().size(); ++m) {
        const bool first = policy.selects(modules, m);
        laws.expect(first == static_cast<bool>(policy.selects(modules, m)),
                    "selection: a module is not selected consistently");
    }
    return laws.take();
}

/// `selection` determines the tagged modules of the example. Complexity: twice that of the policy,
/// and the length of all tags.
template <class P, module_view Modules, selection_policy<Modules> Selection = all_modules>
    requires naming_policy<P, Modules>
[[nodiscard]] broken_laws broken_naming_laws(const P& policy, const Modules& modules,
                                             const Selection& selection = {}) {
    detail::law_book laws;
    const auto selected = detail::select_modules(modules, selection);
    std::array<tag_table, 2> tables;
    for (auto& tags : tables) {
        tags = tag_table(modules.index(), selected);
        policy.name_modules(modules, tags);
        for (id m = 0; m < tags.size(); ++m) {
            if (tags.is_selected(m) && !tags.has_segment(m)) {
                laws.expect(false, "naming: a selected module gets no segment");
                return laws.take();
            }
        }
        tags.finish();
    }
    std::map<std::string, id> module_of;
    for (id m = 0; m < selected.size(); ++m) {
        if (selected[m] == m) {
            laws.expect(!detail::has_bare_slash(tables[0].segment(m)),
                        "naming: a segment holds a `/` that is not escaped");
            laws.expect(module_of.emplace(tables[0].text(m), m).second,
                        "naming: two modules have the same tag");
            laws.expect(tables[0].text(m) == tables[1].text(m),
                        "naming: a module gets different tags on repeated calls");
        }
    }
    return laws.take();
}

/// Complexity: that of the policy; two queries per operator.
template <class P, operator_view Ops, module_view Modules>
    requires evidence_policy<P, Ops, Modules>
[[nodiscard]] broken_laws broken_evidence_laws(const P& policy,
                                               evidence_context<Ops, Modules>& context) {
    detail::law_book laws;
    const auto claims = policy.prepare(context);
    const auto& graph = context.ops().graph();
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        std::array<std::vector<claim>, 2> answers;
        for (auto& list : answers) {
            claims.for_each_claim(*it, [&](const claim& one) { list.push_back(one); });
        }
        laws.expect(ranges::equal(answers[0], answers[1],
                                  [](const claim& a, const claim& b) {
                                      return detail::fields_of(a) == detail::fields_of(b);
                                  }),
                    "evidence: an operator gets different claims on repeated calls");
        for (const auto& one : answers[0]) {
            laws.expect(one.module < context.index().size(),
                        "evidence: a claim names a module that is not in the tree");
            laws.expect(is_evidence(one.source),
                        "evidence: a claim names a rule of propagation as its source");
            laws.expect(detail::is_share(one.confidence),
                        "evidence: a confidence is not between 0 and 1");
        }
    }
    return laws.take();
}

/// `claims` are about one operator, grouped by source. Complexity: two queries.
template <resolution_policy P>
[[nodiscard]] broken_laws broken_resolution_laws(const P& policy, const tree_index& modules,
                                                 std::span<const claim> claims) {
    detail::law_book laws;
    const attribution resolved = policy.resolve(modules, claims);
    const attribution again = policy.resolve(modules, claims);
    laws.expect(detail::fields_of(resolved) == detail::fields_of(again),
                "resolution: the same claims are resolved differently");
    laws.expect(resolved.module == no_id || resolved.module < modules.size(),
                "resolution: the module is not in the tree");
    laws.expect(detail::is_share(resolved.confidence),
                "resolution: a confidence is not between 0 and 1");
    laws.expect(resolved.module == no_id || is_evidence(resolved.source),
                "resolution: the source of an attribution is a rule of propagation");
    return laws.take();
}

/// `evidence` is by vertex index, `no_id` if unknown. Complexity: three times that of the policy.
template <class P, operator_view Ops>
    requires propagation_policy<P, Ops>
[[nodiscard]] broken_laws broken_propagation_laws(const P& policy, const Ops& ops,
                                                  const tree_index& modules,
                                                  std::span<const id> evidence) {
    detail::law_book laws;
    const auto propagated = detail::propagated(policy, ops, modules, evidence);
    for (std::size_t v = 0; v < evidence.size(); ++v) {
        if (evidence[v] != no_id) {
            laws.expect(propagated[v].module == evidence[v] &&
                            propagated[v].source == provenance::exported,
                        "propagation: an operator with evidence is changed");
            continue;
        }
        laws.expect(propagated[v].module < modules.size(),
                    "propagation: an operator gets no module of the tree");
        laws.expect(!is_evidence(propagated[v].source),
                    "propagation: a propagated attribution names evidence as its source");
        laws.expect(detail::is_share(propagated[v].confidence),
                    "propagation: a confidence is not between 0 and 1");
    }
    if constexpr (propagation_policy<P, detail::renumbered_operators>) {
        // The same graph, numbered from the front and from the back.
        const auto count = static_cast<id>(evidence.size());
        const auto turned = [count](id v) { return count - 1 - v; };
        const std::vector<id> reversed(evidence.rbegin(), evidence.rend());
        const auto forwards = detail::propagated(
            policy, detail::renumber(ops, [](id v) { return v; }), modules, evidence);
        const auto backwards =
            detail::propagated(policy, detail::renumber(ops, turned), modules, reversed);
        for (id v = 0; v < count; ++v) {
            laws.expect(forwards[v].module == backwards[turned(v)].module,
                        "propagation: the result depends on how the operators are numbered");
        }
    }
    return laws.take();
}

/// Complexity: two queries.
template <carrier_policy P>
[[nodiscard]] broken_laws broken_carrier_laws(const P& policy, const operator_tags& tags) {
    detail::law_book laws;
    std::array<detail::recording_sink, 2> sinks;
    for (auto& sink : sinks) {
        policy.write(tags, sink);
    }
    laws.expect(sinks[0].said == sinks[1].said, "carrier: equal tags are written differently");
    for (const auto& [what, key, value] : sinks[0].said) {
        laws.expect(what != "metadata" || key.starts_with(key_prefix),
                    "carrier: a metadata key does not start with `pkg.stemma.`");
        laws.expect(!what.starts_with("attribute") || key == detail::source_module_attribute ||
                        key == detail::hierarchy_tags_attribute,
                    "carrier: an attribute is not named `source_module` or `hierarchy_tags`");
        laws.expect(what != "doc_line" || (value.starts_with(detail::doc_line_mark) &&
                                           value.find('\n') == std::string::npos),
                    "carrier: a doc_string entry has several lines, or no mark of ours");
    }
    return laws.take();
}

/// `names` are distinct names of values. Complexity: one query per name.
template <cut_policy P>
[[nodiscard]] broken_laws broken_cut_laws(const P& policy, std::span<const std::string> names) {
    detail::law_book laws;
    laws.expect(policy.pulls(dependence::constant), "cut: a constant is not copied in");
    for (auto d : {dependence::constant, dependence::weight, dependence::shape}) {
        laws.expect(policy.pulls(d) || !policy.pulls(dependence::data),
                    "cut: data is copied in, but something simpler is not");
    }
    std::map<std::string, std::string> originals;
    for (const auto& name : names) {
        const std::string boundary = policy.boundary_name(name);
        laws.expect(originals.emplace(boundary, name).first->second == name,
                    "cut: two boundary values get the same name");
        laws.expect(!boundary.empty() || name.empty(),
                    "cut: a value loses its name at the boundary");
    }
    return laws.take();
}

/// Complexity: two queries per pair of names.
template <lexicon_policy P>
[[nodiscard]] broken_laws broken_lexicon_laws(const P& policy,
                                              std::span<const std::string> captured,
                                              std::span<const std::string> types) {
    detail::law_book laws;
    for (const auto& operation : captured) {
        laws.expect(static_cast<trail>(policy.trail_of(operation)) ==
                        static_cast<trail>(policy.trail_of(operation)),
                    "lexicon: an operation gets different trails on repeated calls");
        for (const auto& type : types) {
            laws.expect(static_cast<correspondence>(policy.correspond(operation, type)) ==
                            static_cast<correspondence>(policy.correspond(operation, type)),
                        "lexicon: a pair does not correspond consistently");
        }
    }
    return laws.take();
}

/// Complexity: two queries per operator.
template <class P, operator_view Ops>
    requires visibility_policy<P, Ops>
[[nodiscard]] broken_laws broken_visibility_laws(const P& policy, const Ops& ops) {
    detail::law_book laws;
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const bool first = policy.shows(ops, *it);
        laws.expect(first == static_cast<bool>(policy.shows(ops, *it)),
                    "visibility: an operator is not shown consistently");
    }
    return laws.take();
}

/// Complexity: two queries per frame.
template <frames_policy P>
[[nodiscard]] broken_laws broken_frames_laws(const P& policy,
                                             std::span<const source_position> frames) {
    detail::law_book laws;
    for (const auto& at : frames) {
        laws.expect(policy.kind(at) == policy.kind(at),
                    "frames: a frame gets different kinds on repeated calls");
    }
    return laws.take();
}

/// Complexity: two queries per finding.
template <diagnostics_policy P>
[[nodiscard]] broken_laws broken_diagnostics_laws(const P& policy,
                                                  std::span<const finding> findings) {
    detail::law_book laws;
    for (const auto& one : findings) {
        const std::optional<severity> first = policy.judge(one);
        laws.expect(first == std::optional<severity>(policy.judge(finding(one))),
                    "diagnostics: a finding gets different severities on repeated calls");
        laws.expect(!first || *first <= severity::information,
                    "diagnostics: a severity is not one of the enumerators");
    }
    return laws.take();
}

/// `loads` are the operators of a model. Complexity: two queries per operator.
template <cost_policy P>
[[nodiscard]] broken_laws broken_cost_laws(const P& policy, std::span<const operator_load> loads) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    detail::law_book laws;
    std::uint64_t sum = 0;
    for (const auto& load : loads) {
        const std::uint64_t cost = policy.cost(load);
        laws.expect(cost == static_cast<std::uint64_t>(policy.cost(load)),
                    "cost: an operator gets different costs on repeated calls");
        laws.expect(cost <= most - sum, "cost: the sum of all costs is not below 2^63");
        sum = std::min(most, sum + std::min(cost, most - sum));
    }
    return laws.take();
}

/// Complexity: two queries, and O(vertices + parts).
template <operator_graph_like Graph, partition_policy<Graph> P>
[[nodiscard]] broken_laws broken_partition_laws(const P& policy,
                                                const partition_problem<Graph>& problem) {
    detail::law_book laws;
    const partition_plan plan = policy.partition(problem);
    const partition_plan again = policy.partition(problem);
    laws.expect(plan.part_of == again.part_of && plan.parts == again.parts &&
                    plan.module_of == again.module_of && plan.refusal == again.refusal,
                "partition: a graph is divided differently on repeated calls");
    const auto modules = problem.modules == nullptr ? 0 : problem.modules->size();
    laws.expect(!plan.refusal.empty() ||
                    detail::find_partition_fault(plan, problem.order.size(), modules).empty(),
                "partition: a vertex has no valid part");
    return laws.take();
}

/// Complexity: two queries per module.
template <module_view Modules>
[[nodiscard]] broken_laws broken_fold_laws(const fold_options<Modules>& options,
                                           const Modules& modules) {
    detail::law_book laws;
    for (id m = 0; m < modules.index().size(); ++m) {
        const bool folds = options.folds(modules, m);
        laws.expect(folds == options.folds(modules, m),
                    "fold: a module is not selected consistently");
        const auto name = options.name_of(modules, m);
        laws.expect(name == options.name_of(modules, m),
                    "fold: a function gets different names on repeated calls");
        laws.expect(!folds || !name.name.empty(), "fold: a function has no name");
        laws.expect(!folds || !stemma::detail::is_standard_domain(name.domain),
                    "fold: the domain of a function is a standard one");
    }
    return laws.take();
}

} // namespace stemma

#endif // STEMMA_TESTS_LAWS_HPP
