// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_MODULE_DAG_HPP
#define STEMMA_REPORT_MODULE_DAG_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/ids.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/report/visibility.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The extent of a module's DAG.
enum class dag_level : std::uint8_t {
    subtree, ///< the module with its descendants
    direct,  ///< the module itself
};

namespace detail {

/// The operators of a module, by vertex index, and their dependences.
struct module_dag {
    std::vector<id> operators;            ///< ascending
    std::vector<std::pair<id, id>> edges; ///< producer and reader, ascending, each pair once
};

/// The DAGs of all modules of a tree, computed one at a time.
template <operator_graph_like Graph>
class module_dags {
public:
    /// `modules_of(index, take)` calls `take(module)` for every module that lists a vertex, and is
    /// called twice; a vertex without modules is in no DAG.
    /// Requires: graph and tree outlive this. Complexity: O(V + modules + calls of `take`).
    template <class ModulesOf>
    module_dags(const Graph& graph, const tree_index& modules, ModulesOf modules_of)
        : graph_(graph)
        , modules_(modules)
        , vertex_(graph)
        , rounds_(num_vertices(graph), 0)
        , members_(modules.size(), [&](auto take) {
            for (id v = 0; v < rounds_.size(); ++v) {
                modules_of(v, [&](id m) { take(m, v); });
            }
        }) {}

    /// Returns: the DAG of a module, valid until the next call.
    /// Complexity: O(n log n) of its operators, and the edges at them.
    [[nodiscard]] const module_dag& of(index_arg<module_id> m,
                                       dag_level level = dag_level::subtree) {
        const auto end = level == dag_level::subtree ? modules_.end(m) : m + 1;
        auto& operators = dag_.operators;
        const auto members = members_.range(m, end);
        operators.assign(members.begin(), members.end());
        sort_each_once(operators, 0);
        ++round_;
        for (auto v : operators) {
            rounds_[v] = round_;
        }
        auto& edges = dag_.edges;
        edges.clear();
        for (auto v : operators) {
            const auto first = edges.size();
            for (auto [it, last] = out_edges(vertex_[v], graph_); it != last; ++it) {
                const auto reader = static_cast<id>(detail::index_of(graph_, target(*it, graph_)));
                if (rounds_[reader] == round_) {
                    edges.emplace_back(v, reader);
                }
            }
            sort_each_once(edges, first);
        }
        return dag_;
    }

private:
    /// Sorts and deduplicates from `first` on; the input is usually sorted already.
    template <class T>
    static void sort_each_once(std::vector<T>& items, std::size_t first) {
        const auto begin = items.begin() + static_cast<std::ptrdiff_t>(first);
        if (std::adjacent_find(begin, items.end(), std::greater_equal<>()) != items.end()) {
            std::sort(begin, items.end());
            items.erase(std::unique(begin, items.end()), items.end());
        }
    }

    const Graph& graph_;
    const tree_index& modules_;
    detail::vertices_by_index<Graph> vertex_;
    std::vector<id> rounds_;      // by index, the last round in which it was in the DAG
    detail::grouped_ids members_; // vertex indices, by module
    id round_ = 0;
    module_dag dag_;
};

} // namespace detail

/// Options for writing the DAGs of modules.
struct dag_options {
    dag_level level = dag_level::subtree; ///< the extent of a module's DAG
    bool multi = false; ///< list an operator under all its tags rather than its primary one
};

/// Writes the DAG of every selected module, by tag (docs/dag.schema.json).
///
/// `name_of(index)` returns a unique text for an operator. `shown` selects operators.
/// Complexity: O(V + E + modules), plus the operators of every module and the edges at them; memory
/// for the largest module, not for the document.
template <text_sink Sink, operator_view Ops, class NameOf,
          detail::showing<Ops> Visibility = hide_constants>
void write_module_dags(Sink& sink, const Ops& ops, const tree_index& modules, const tagging& tagged,
                       NameOf name_of, const dag_options& options = {},
                       const Visibility& visibility = {}) {
    const auto& graph = ops.graph();
    std::vector<bool> shown(num_vertices(graph));
    for (auto [it, last] = vertices(graph); it != last; ++it) {
        shown[detail::index_of(graph, *it)] = detail::shows(visibility, ops, *it);
    }
    detail::module_dags dags(graph, modules, [&](id v, auto take) {
        if (shown[v] && options.multi) {
            tagged.pool.for_each(tagged.tag_sets[v], take);
        } else if (shown[v]) {
            take(tagged.selected(v));
        }
    });
    json_writer json(sink);
    json.begin_object();
    for (id m = 0; m < modules.size(); ++m) {
        if (!tagged.tags.is_selected(m)) {
            continue;
        }
        const auto& dag = dags.of(m, options.level);
        json.key(tagged.tags.text(m));
        json.begin_object();
        json.values("nodes", dag.operators, [&](auto v) { return name_of(v); });
        json.flat_list("edges", dag.edges, [&](const auto& pair) {
            const auto& [producer, reader] = pair;
            json.row(name_of(producer), name_of(reader));
        });
        json.end_object();
    }
    json.end_object();
    json.finish();
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_MODULE_DAG_HPP
