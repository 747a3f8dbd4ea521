// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_OPENER_HPP
#define STEMMA_FOLD_DETAIL_FOLD_OPENER_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/edit_bodies.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/fold/detail/folded_functions.hpp>
#include <stemma/fold/detail/opened_calls.hpp>
#include <stemma/io/detail/base64.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/byte_patch.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
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

/// Inlines the calls made by folding, restoring the original bytes.
class fold_opener {
public:
    /// Requires: both outlive it; the model carries no tags (see `strip_editor`).
    /// Complexity: O(nodes + values).
    fold_opener(const wire_model& model, const graph_contents& contents, fold_record record)
        : model_(model)
        , contents_(contents)
        , record_(std::move(record))
        , functions_(model, record_)
        , bodies_([this](id node) -> const message_tree& { return with_own_bodies(node); })
        , graphs_(1 + functions_.bodies().size()) {}

    fold_opener(const fold_opener&) = delete; // members refer to each other
    fold_opener& operator=(const fold_opener&) = delete;
    ~fold_opener() = default;

    /// Builds the original model, with its tags, once.
    /// Throws: `error` of `error_code::contradiction` if the file has changed and the record no
    /// longer matches; of `malformed` if the record of tags is damaged; of `too_large` if the
    /// result would reach 2 GiB.
    /// Complexity: O(bytes of the result without weights).
    [[nodiscard]] message_tree build() {
        check(functions_.bodies().size() == record_.bodies.size());
        message_tree result;
        result.edit(model_.reader(), [&](edited_field& field) {
            if (field.is_bytes(at_model::graph)) {
                field.replace([&] { append_graph(0, field.inner(), result); });
            } else if (field.is(at_model::ir_version, wire_type::varint) && record_.lifted) {
                field.erase();
                if (record_.ir_version) {
                    result.append_number(at_model::ir_version, *record_.ir_version);
                }
            } else if (is_of_folding(field)) {
                field.erase();
            }
        });
        for (const auto& graph : graphs_) {
            check(graph && graph->is_whole());
        }
        return with_tags(std::move(result));
    }

    /// Whether the original model had tags, and `build` restored them. They are lost if anything
    /// else changed since.
    [[nodiscard]] bool restored_tags() const noexcept { return restored_tags_; }

    /// Whether `build` restored all of the original model but its tags.
    [[nodiscard]] bool is_whole() const noexcept { return is_whole_; }

private:
    using at_model = detail::onnx_fields::model;

    void check(bool fits) const { detail::check_fold(fits, model_); }

    [[nodiscard]] message_tree with_tags(message_tree untagged) {
        const auto tags = find_model_metadata(model_, fold_source_tags_key);
        const auto text = tags ? tags : find_model_metadata(model_, fold_source_key);
        if (!text) {
            return untagged;
        }
        const auto bytes = from_base64(*text);
        const auto patch = bytes ? byte_patch::from_bytes(*bytes) : std::nullopt;
        if (!patch) {
            STEMMA_THROW(error(error_code::malformed, model_.file(),
                               std::string(tags ? fold_source_tags_key : fold_source_key),
                               "was not written by fold"));
        }
        auto tagged = patch->apply(untagged, model_.bytes());
        restored_tags_ = tags && tagged;
        is_whole_ = tags || tagged;
        return tagged ? std::move(*tagged) : std::move(untagged);
    }

    /// Whether a field of the model was added by folding.
    [[nodiscard]] bool is_of_folding(const edited_field& field) {
        if (field.is_bytes(at_model::functions)) {
            const auto f = next_function_++;
            return f < model_.functions().size() && functions_.made(f);
        }
        if (field.is_bytes(at_model::opset_import)) {
            const auto domain = read_opset_import(field.inner()).domain;
            return detail::range::contains(record_.domains, domain);
        }
        return field.is_bytes(at_model::metadata_props) && is_note(field);
    }

    /// Whether a metadata entry belongs to folding.
    [[nodiscard]] static bool is_note(const edited_field& field) {
        return is_fold_entry(wire_model::read_entry(field.around(), field).first);
    }

    void append_graph(std::size_t number, const wire_reader& fields, message_tree& out) {
        auto& graph = graphs_[number];
        if (!graph) {
            const folded_graph_record& record = number == 0 ? record_ : record_.bodies[number - 1];
            const auto g = number == 0 ? 0 : functions_.bodies()[number - 1];
            graph.emplace(model_, contents_, functions_, record, g, budget_, bodies_);
        }
        graph->append_part(fields, out);
    }

    /// Returns: the original message of a node, except for names captured by its bodies.
    [[nodiscard]] const message_tree& with_own_bodies(id node) {
        if (opened_.try_emplace(node).second) {
            check(budget_.bodies > 0);
            --budget_.bodies;
            message_tree message;
            detail::edit_bodies(
                message, model_, contents_, node,
                [&](id g, const wire_reader& fields) { append_body(g, fields, message); },
                [](edited_field& field) {
                    if (field.is_bytes(detail::onnx_fields::node::metadata_props) &&
                        is_note(field)) {
                        field.erase();
                    }
                });
            opened_[node] = std::move(message);
            ++budget_.bodies;
        }
        check(opened_.at(node).has_value()); // otherwise recursive
        return *opened_.at(node);
    }

    void append_body(id g, const wire_reader& fields, message_tree& out) {
        const auto& bodies = functions_.bodies();
        const auto body = std::lower_bound(bodies.begin(), bodies.end(), g);
        if (body != bodies.end() && *body == g) {
            append_graph(static_cast<std::size_t>(body - bodies.begin()) + 1, fields, out);
            return;
        }
        detail::edit_nodes(
            out, model_, contents_, g, fields, [&](id node) { return functions_.changed(node); },
            [&](id node) { out.append(with_own_bodies(node)); });
    }

    const wire_model& model_;
    const graph_contents& contents_;
    fold_record record_;
    folded_functions functions_;
    opening_budget budget_;
    opened_calls::body_opener bodies_;
    std::vector<std::optional<unfolded_graph>> graphs_; // the main graph, and bodies
    std::unordered_map<id, std::optional<message_tree>>
        opened_; // by node; nothing while in progress
    id next_function_ = 0;
    bool restored_tags_ = false;
    bool is_whole_ = true;
};

/// Returns: the fold record of a model, if any. Throws: `error` of `error_code::malformed` if it is
/// damaged.
[[nodiscard]] inline std::optional<fold_record> find_fold_record(const wire_model& model) {
    const auto text = find_model_metadata(model, fold_key);
    return text ? std::optional(read_fold_record(*text, model.file())) : std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_OPENER_HPP
