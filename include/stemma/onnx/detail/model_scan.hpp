// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_MODEL_SCAN_HPP
#define STEMMA_ONNX_DETAIL_MODEL_SCAN_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/graph_runs.hpp>
#include <stemma/onnx/detail/graph_scan.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/message_refs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads a whole model into tables; a long main graph in parts, by several threads.
class model_scan : public graph_scan {
protected:
    using graph_scan::graph_scan;

    /// Returns: the number of threads that read the main graph.
    std::size_t scan_model() {
        auto fields = reader();
        bool has_graph = false;
        std::size_t used = 1;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                has_graph = true;
                used = std::max(used, scan_main_graph(field));
            } else if (field.is_bytes(at_model::functions)) {
                scan_function(fields, field);
            } else if (field.is_bytes(at_model::opset_import)) {
                scan_opset(fields.inner(field));
            } else if (field.is(at_model::ir_version, wire_type::varint)) {
                ir_version_ = static_cast<std::int64_t>(field.value);
            } else if (field.is_bytes(at_model::producer_name)) {
                producer_name_ = ref(field);
            } else if (field.is_bytes(at_model::producer_version)) {
                producer_version_ = ref(field);
            } else if (field.is_bytes(at_model::metadata_props)) {
                model_metadata_.push_back({field.content, field.size(), no_id});
            }
        }
        if (!has_graph) {
            STEMMA_THROW(
                error(error_code::malformed, file_, "", "not an ONNX model: it has no graph"));
        }
        return used;
    }

    std::vector<message_ref> model_metadata_;

private:
    using at_model = onnx_fields::model;
    using at_opset = onnx_fields::opset;
    using at_graph = onnx_fields::graph;

    // Part of the main graph's fields, read on behalf of the whole, which then takes over the
    // result. `end` is where the last field ends.
    model_scan(const model_scan& whole, const wire_field& graph, const graph_run& run,
               std::uint32_t& end)
        : graph_scan(whole.bytes_, whole.file_) {
        add_graph(graph_kind::main);
        end = scan_graph_fields(run, run, begin_container(graph, 0, no_id));
    }

    std::size_t scan_main_graph(const wire_field& where) {
        const auto container = begin_container(where, 0, no_id);
        const graph_run all{where.content, where.end};
        const auto runs = guess_runs(bytes_, all.begin, all.end);
        std::vector<std::optional<model_scan>> parts(runs.size());
        std::vector<std::uint32_t> ends(runs.size());
        for_each_part(runs.size(), [&](std::size_t i) {
            if (i == 0) {
                ends[0] = scan_graph_fields(runs[0], all, container);
                return;
            }
            try {
                parts[i] = model_scan(*this, where, runs[i], ends[i]);
            } catch (const error&) {
                // A reader arriving here from the preceding fields will read them again.
            }
        });
        std::vector<model_scan*> taken;
        auto read_to = ends[0];
        for (std::size_t i = 1; i < runs.size() && read_to == runs[i].begin && parts[i]; ++i) {
            taken.push_back(&*parts[i]);
            read_to = ends[i];
        }
        append<model_scan>(taken, container, runs.size(),
                           [&](model_scan& part, const part_offsets& offset) {
                               if (&part == taken.front()) {
                                   expect_refs(taken);
                               }
                               append_refs(part, offset);
                           });
        parts.clear();
        // Wrongly guessed runs.
        scan_graph_fields({read_to, all.end}, all, container);
        end_container(container);
        return runs.size();
    }

    void expect_refs(std::span<model_scan* const> parts) {
        const auto make_room = [&](auto table) {
            auto size = (this->*table).size();
            for (const auto* part : parts) {
                size += (part->*table).size();
            }
            (this->*table).reserve(size);
        };
        make_room(&model_scan::tensors_);
        make_room(&model_scan::value_infos_);
        make_room(&model_scan::graph_fields_);
    }

    void append_refs(const model_scan& part, const part_offsets& offset) {
        const auto moved = [&](auto entry) {
            entry.graph = offset.graph_of(entry.graph);
            return entry;
        };
        const auto moved_named = [&](auto entry) {
            entry.message.container = offset.container_of(entry.message.container);
            entry.value += offset.named;
            return moved(entry);
        };
        const auto append_all = [](auto& to, const auto& from, auto f) {
            std::transform(from.begin(), from.end(), std::back_inserter(to), f);
        };
        append_all(described_tensors_, part.described_tensors_,
                   [n = tensors_.size()](id i) { return static_cast<id>(i + n); });
        append_all(described_infos_, part.described_infos_,
                   [n = value_infos_.size()](id i) { return static_cast<id>(i + n); });
        append_all(tensors_, part.tensors_, moved_named);
        append_all(value_infos_, part.value_infos_, moved_named);
        append_all(graph_fields_, part.graph_fields_, moved);
        holds_.insert(holds_.end(), part.holds_.begin(), part.holds_.end());
        padding_ |= part.padding_;
        for (const auto& [field, g] : part.graph_fields_) {
            if (g == 0 && field.is_bytes(at_graph::name)) {
                graph_at(0).name = ref(field);
            }
        }
    }

    void scan_opset(wire_reader fields) {
        onnx_model::opset_import import;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_opset::domain)) {
                import.domain = fields.text(field);
            } else if (field.is(at_opset::version, wire_type::varint)) {
                import.version = static_cast<std::int64_t>(field.value);
            }
        }
        opsets_.push_back(import);
    }
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_MODEL_SCAN_HPP
