// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_RECORD_DETAIL_FIND_RECORDED_HPP
#define STEMMA_RECORD_DETAIL_FIND_RECORDED_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/graph_sketch.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/read_tags.hpp>
#include <stemma/record/detail/recorded_claims.hpp>
#include <stemma/record/detail/recorded_origins.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What a file that was changed after tagging still says about the origin of its nodes.
struct recorded_evidence {
    std::vector<claim_table> claims;   ///< of `provenance::recorded`; several where a node has
                                       ///< several, at most `max_claim_tables`
    std::vector<id> by_module_alone;   ///< nodes with a module but no mark, which may have been
                                       ///< copied along with it; ascending
    std::vector<std::string> problems; ///< what could not be used
};

/// Returns: the modules that the carriers on a node refer to: each of a repeated key, at most
/// `max_claim_tables`. Complexity: as `carrier_modules::find`, for each.
[[nodiscard]] inline std::vector<id> find_origins(const node_carriers& carriers,
                                                  const module_lookup<module_tree>& lookup,
                                                  carrier_modules& by_carrier) {
    std::vector<id> origins;
    for (const auto path : carriers.modules) {
        const auto module = origins.size() < max_claim_tables ? find_module(lookup, path) : no_id;
        if (module != no_id && !detail::range::contains(origins, module)) {
            origins.push_back(module);
        }
    }
    if (origins.empty()) {
        const auto module = by_carrier.find(carriers);
        module != no_id ? origins.push_back(module) : void();
    }
    return origins;
}

/// Uses the sketch of the graph and the marks on the nodes and, where these say nothing, the other
/// carriers on nodes. A node whose mark was copied from another one is not considered further.
/// Complexity: as `find_recorded_origins`, and O(modules + fields of the nodes).
[[nodiscard]] inline recorded_evidence
find_recorded(const wire_model& model, const module_tree& modules, const tag_table& tags) {
    recorded_evidence result;
    const auto text = find_model_metadata(model, sketch_key);
    const auto sketch = text ? read_sketch(*text, modules.size()) : std::nullopt;
    if (text && !sketch) {
        result.problems.push_back(std::string(sketch_key) + " cannot be read and is ignored");
    }
    const module_lookup<module_tree> lookup(modules);
    carrier_modules by_carrier(modules, tags, has_our_namespaces(model));
    std::vector<node_mark_found> marks;
    std::vector<std::pair<id, std::vector<id>>> named;
    for (id node = 0; node < model.node_count(); ++node) {
        const auto carriers = read_node_carriers(model, node);
        for (const auto number : carriers.marks) {
            marks.push_back({node, number});
        }
        if (!carriers.marks.empty() && sketch) {
            continue;
        }
        if (auto origins = find_origins(carriers, lookup, by_carrier); !origins.empty()) {
            named.emplace_back(node, std::move(origins));
        }
    }
    const auto table_of = [&](std::size_t i) -> std::vector<claim>& {
        while (result.claims.size() <= i) {
            result.claims.push_back({provenance::recorded, std::vector<claim>(model.node_count())});
        }
        return result.claims[i].of;
    };
    if (sketch) {
        result.claims.push_back(find_recorded_origins(model, *sketch, modules.index(), marks));
    }
    for (const auto& [node, origins] : named) {
        if (table_of(0)[node].module != no_id) {
            continue;
        }
        for (std::size_t i = 0; i < origins.size(); ++i) {
            claim candidate{origins[i], no_id, detail::confidence::recorded_alone,
                            provenance::recorded};
            candidate.doubtful = origins.size() > 1;
            table_of(i)[node] = candidate;
        }
        result.by_module_alone.push_back(node);
    }
    return result;
}

/// Returns: the evidence kept in the record when the file was tagged again after a change.
/// Complexity: O(nodes).
[[nodiscard]] inline recorded_evidence kept_evidence(const model_record& record) {
    recorded_evidence result;
    for (const auto& claims : record.claims) {
        if (claims.source == provenance::recorded) {
            result.claims.push_back(to_table(claims));
        }
    }
    return result;
}

/// Translates claims about modules of one tree to the modules with the same paths in another one;
/// claims about missing ones are dropped. Complexity: O(length of all paths + nodes).
inline void move_claims(const module_tree& from, const module_tree& to,
                        recorded_evidence& evidence) {
    const module_lookup<module_tree> lookup(to);
    std::vector<id> moved(from.size());
    for (id m = 0; m < from.size(); ++m) {
        moved[m] = find_module(lookup, from.path(m));
    }
    for (auto& table : evidence.claims) {
        for (auto& entry : table.of) {
            entry.module = entry.module == no_id ? no_id : moved[entry.module];
        }
    }
}

/// Drops the claims of nodes that carry only a module if the other sources, `prepared`, and all
/// neighbours disagree: they were copied from elsewhere. Complexity: O(such nodes and their
/// neighbours), and that of the sources.
template <class Graph, class Prepared>
void drop_strangers(const Graph& graph, const tree_index& tree, const Prepared& prepared,
                    recorded_evidence& evidence) {
    for (const auto node : evidence.by_module_alone) {
        const auto said = evidence.claims.front().of[node].module;
        bool contradicted = false;
        bool agreed = false;
        prepared.for_each_claim(node, [&](const claim& candidate) {
            contradicted = true;
            agreed = agreed || (said != no_id && tree.are_related(candidate.module, said));
        });
        const auto ask = [&](id neighbour) {
            const auto other = evidence.claims.front().of[neighbour].module;
            agreed = agreed || (other != no_id && other != 0 && said != no_id &&
                                tree.are_related(other, said));
        };
        for (auto [it, last] = in_edges(node, graph); it != last; ++it) {
            ask(source(*it, graph));
        }
        for (auto [it, last] = out_edges(node, graph); it != last; ++it) {
            ask(target(*it, graph));
        }
        for (auto& table : evidence.claims) {
            table.of[node] = contradicted && !agreed ? claim{} : table.of[node];
        }
    }
}

/// Returns: the number of modules whose class was known before and is not now.
/// Complexity: O(length of all paths).
[[nodiscard]] inline std::size_t count_lost_classes(const module_tree& before,
                                                    const module_tree& now) {
    const module_lookup<module_tree> lookup(now);
    std::size_t lost = 0;
    for (id m = 0; m < before.size(); ++m) {
        if (!before.class_name(m).empty()) {
            const auto module = find_module(lookup, before.path(m));
            lost += module == no_id || now.class_name(module).empty() ? 1U : 0U;
        }
    }
    return lost;
}

/// Whether two trees have the same modules of the same classes, with the same numbers.
/// Complexity: O(modules).
[[nodiscard]] inline bool has_same_modules(const module_tree& now, const module_tree& before) {
    bool same = now.size() == before.size();
    for (id m = 0; same && m < before.size(); ++m) {
        same = now.index().parent(m) == before.index().parent(m) &&
               (m == 0 || now.name(m) == before.name(m)) &&
               now.class_name(m) == before.class_name(m);
    }
    return same;
}

/// Whether a tree has all modules of another one, with the classes known there.
/// Complexity: O(modules); if they differ, O(bytes of their paths).
[[nodiscard]] inline bool has_all_modules(const module_tree& now, const module_tree& before) {
    if (has_same_modules(now, before)) {
        return true;
    }
    const module_lookup<module_tree> lookup(now);
    for (id m = 0; m < before.size(); ++m) {
        const auto module = find_module(lookup, before.path(m));
        if (module == no_id || (now.class_name(module).empty() && !before.class_name(m).empty())) {
            return false;
        }
    }
    return true;
}

/// Whether a tree can replace that of a record of the same graph: it has all modules, with the same
/// numbers if the file refers to these. Complexity: as above.
[[nodiscard]] inline bool can_replace(const module_tree& now, const recorded_model& record) {
    const bool has_numbers = record.carriers.model || !record.claims.empty();
    return has_numbers ? has_same_modules(now, record.modules)
                       : has_all_modules(now, record.modules);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_RECORD_DETAIL_FIND_RECORDED_HPP
