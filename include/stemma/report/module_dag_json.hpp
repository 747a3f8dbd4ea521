// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_MODULE_DAG_JSON_HPP
#define STEMMA_REPORT_MODULE_DAG_JSON_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/report/module_dag.hpp>
#include <stemma/report/visibility.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI {

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

#endif // STEMMA_REPORT_MODULE_DAG_JSON_HPP
