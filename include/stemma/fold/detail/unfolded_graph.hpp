// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_UNFOLDED_GRAPH_HPP
#define STEMMA_FOLD_DETAIL_UNFOLDED_GRAPH_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/fold/detail/folded_functions.hpp>
#include <stemma/fold/detail/opened_calls.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Restores a graph of a folded model, chunk by chunk.
class unfolded_graph {
public:
    /// Requires and throws: as `opened_calls` does. Complexity: that of `opened_calls`.
    unfolded_graph(const wire_model& model, const graph_contents& contents,
                   const folded_functions& functions, const folded_graph_record& record, id graph,
                   opening_budget& budget, const opened_calls::body_opener& bodies)
        : model_(model)
        , record_(record)
        , calls_(model, contents, functions, record, graph, budget, bodies) {
        find_order();
    }

    /// Appends the next chunk of the graph; `fields` reads its present form.
    /// Throws: `error` of `error_code::contradiction` if the record does not match it.
    /// Complexity: O(fields and nodes).
    void append_part(wire_reader fields, message_tree& out) {
        std::uint32_t others = 0;
        placed_ = 0;
        const auto append_runs = [&] {
            append_infos(out);
            for (; next_run_ < record_.layout.size() && record_.layout[next_run_].part == part_ &&
                   record_.layout[next_run_].fields == others;
                 ++next_run_) {
                append_nodes(record_.layout[next_run_].nodes, out);
            }
        };
        append_runs();
        out.edit(fields, [&](edited_field& field) {
            if (!field.is_bytes(at_graph::node)) {
                field.keep();
                ++others;
                ++placed_;
                append_runs();
                return;
            }
            field.erase();
            if (record_.layout.empty() && written_ == 0) {
                append_nodes(order_.size(), out);
            }
        });
        ++part_;
    }

    /// Whether the whole graph was restored.
    [[nodiscard]] bool is_whole() const {
        return written_ == order_.size() && next_info_ == record_.infos.size();
    }

private:
    using at_graph = detail::onnx_fields::graph;

    void check(bool fits) const { detail::check_fold(fits, model_); }

    /// Finds the inlining order of all nodes.
    void find_order() {
        order_.reserve(calls_.size());
        std::vector<bool> seen(calls_.size(), false);
        for (const auto& run : record_.order) {
            check(run.first + run.count <= calls_.size());
            for (auto e = run.first; e < run.first + run.count; ++e) {
                check(!seen[e]);
                seen[e] = true;
                order_.push_back(static_cast<id>(e));
            }
        }
        for (id e = 0; record_.order.empty() && e < calls_.size(); ++e) {
            order_.push_back(e);
        }
    }

    void append_nodes(std::uint64_t count, message_tree& out) {
        check(count <= order_.size() - written_);
        for (; count > 0; --count) {
            calls_.append(order_[written_++], out);
            ++placed_;
            append_infos(out);
        }
    }

    /// Appends the removed ValueInfos that followed what was appended last.
    void append_infos(message_tree& out) {
        for (; next_info_ < record_.infos.size() && record_.infos[next_info_].part == part_ &&
               record_.infos[next_info_].fields == placed_;
             ++next_info_) {
            out.add_text(record_.infos[next_info_].bytes);
        }
    }

    const wire_model& model_;
    const folded_graph_record& record_;
    opened_calls calls_;
    std::vector<id> order_; // of the nodes in the original
    std::size_t next_run_ = 0;
    std::size_t next_info_ = 0;
    std::uint32_t placed_ = 0; // fields of the current chunk, without such infos
    std::size_t written_ = 0;
    std::uint32_t part_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_UNFOLDED_GRAPH_HPP
