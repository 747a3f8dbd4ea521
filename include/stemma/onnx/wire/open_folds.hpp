// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_OPEN_FOLDS_HPP
#define STEMMA_ONNX_WIRE_OPEN_FOLDS_HPP

#include <stemma/config.hpp>
#include <stemma/core/base64.hpp>
#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/fold_record.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire/byte_patch.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/opened_calls.hpp>
#include <stemma/onnx/wire/opset_texts.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/carrier.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// Opens the calls that folding made, and makes the bytes again that were folded.
class fold_opener {
public:
    /// Requires: both outlive it; the model carries no tags (see `strip_editor`).
    /// Throws: as `opened_calls` does. Complexity: that of `opened_calls`.
    fold_opener(const wire_model& model, const graph_contents& contents, fold_record record)
        : model_(model), record_(std::move(record)), calls_(model, contents, record_) {}

    /// Makes the bytes of the model as it was, with its tags.
    /// Throws: `error` of `error_code::contradiction` when the file was changed since, and the
    ///   record does not fit it any more; of `malformed` when what it says of tags is damaged; of
    ///   `too_large` when the result would reach 2 GiB.
    /// Complexity: O(bytes that are not weights) of the result.
    [[nodiscard]] byte_rope build() {
        find_order();
        byte_rope result;
        auto fields = model_.reader();
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph, graph_part(fields.inner(field)));
                ++part_;
            } else if (field.is(at_model::ir_version, wire_type::varint) && record_.lifted) {
                result.add_text(version_field());
            } else if (stays(fields, field)) {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        check(written_ == order_.size() && next_info_ == record_.infos.size());
        return with_tags(std::move(result));
    }

    /// Whether the model that was folded had tags, and `build` put them back. Those of a model of
    /// which something else was changed since are lost.
    [[nodiscard]] bool restored_tags() const noexcept { return restored_tags_; }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    void check(bool fits) const { detail::check_fold(fits, model_); }

    [[nodiscard]] byte_rope with_tags(byte_rope untagged) {
        const auto text = find_model_metadata(model_, fold_source_tags_key);
        if (!text) {
            return untagged;
        }
        const auto bytes = from_base64(*text);
        const auto patch = bytes ? byte_patch::from_bytes(*bytes) : std::nullopt;
        if (!patch) {
            STEMMA_THROW(error(error_code::malformed, model_.file(),
                               std::string(fold_source_tags_key), "is not what folding writes"));
        }
        auto tagged = patch->apply(untagged);
        restored_tags_ = tagged.has_value();
        return tagged ? std::move(*tagged) : std::move(untagged);
    }

    [[nodiscard]] std::string version_field() const {
        std::string field;
        if (record_.ir_version) {
            detail::append_varint(at_model::ir_version << 3U, field);
            detail::append_varint(static_cast<std::uint64_t>(*record_.ir_version), field);
        }
        return field;
    }

    [[nodiscard]] bool stays(const wire_reader& fields, const wire_field& field) {
        if (field.is_bytes(at_model::functions)) {
            const auto f = next_function_++;
            return f >= model_.functions().size() || !calls_.is_ours_function(f);
        }
        if (field.is_bytes(at_model::opset_import)) {
            const auto domain = read_opset_import(fields.inner(field)).domain;
            return std::find(record_.domains.begin(), record_.domains.end(), domain) ==
                   record_.domains.end();
        }
        return !field.is_bytes(at_model::metadata_props) ||
               !is_fold_entry(wire_model::read_entry(fields, field).first);
    }

    /// Finds the place of every node in the order in which calls are opened.
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

    [[nodiscard]] byte_rope graph_part(wire_reader fields) {
        byte_rope part;
        std::uint32_t others = 0;
        placed_ = 0;
        write_infos(part);
        const auto write_runs = [&] {
            for (; next_run_ < record_.layout.size() && record_.layout[next_run_].part == part_ &&
                   record_.layout[next_run_].fields == others;
                 ++next_run_) {
                write_nodes(record_.layout[next_run_].nodes, part);
            }
        };
        write_runs();
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(at_graph::node)) {
                part.add_range(field.begin, field.end - field.begin);
                ++others;
                ++placed_;
                write_infos(part);
                write_runs();
            } else if (record_.layout.empty() && written_ == 0) {
                write_nodes(order_.size(), part);
            }
        }
        return part;
    }

    void write_nodes(std::uint64_t count, byte_rope& out) {
        check(count <= order_.size() - written_);
        for (; count > 0; --count) {
            calls_.append(order_[written_++], at_graph::node, out);
            ++placed_;
            write_infos(out);
        }
    }

    /// Writes the ValueInfos that stood behind what was written last.
    void write_infos(byte_rope& out) {
        for (; next_info_ < record_.infos.size() && record_.infos[next_info_].part == part_ &&
               record_.infos[next_info_].fields == placed_;
             ++next_info_) {
            out.add_text(record_.infos[next_info_].bytes);
        }
    }

    const wire_model& model_;
    fold_record record_;
    opened_calls calls_;
    std::vector<id> order_; // of the nodes, as they stood
    std::size_t next_run_ = 0;
    std::size_t next_info_ = 0;
    std::uint32_t placed_ = 0; // fields of the part that is made, but for such infos
    id next_function_ = 0;
    std::size_t written_ = 0;
    std::uint32_t part_ = 0;
    bool restored_tags_ = false;
};

/// Returns: what a model says of how it was folded, if it was.
/// Throws: `error` of `error_code::malformed` when that is damaged.
[[nodiscard]] inline std::optional<fold_record> find_fold_record(const wire_model& model) {
    const auto text = find_model_metadata(model, fold_key);
    return text ? std::optional(read_fold_record(*text, model.file())) : std::nullopt;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_OPEN_FOLDS_HPP
