// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_SOURCE_HPP
#define STEMMA_FOLD_DETAIL_FOLD_SOURCE_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/tag_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Turns a model into the one that is folded: without tags and, in nodes that may move into
/// functions, without entries left over from an earlier folding, which unfolding removes, and
/// without the name `ai.onnx` for the standard domain, which ONNX Runtime does not know there. A
/// `model_editor`.
class fold_source_editor {
public:
    /// Requires: `model`, which may have tags, outlives it; the others are of the same nodes.
    /// Complexity: O(fields of the nodes that may move).
    fold_source_editor(const wire_model& model, const graph_contents& contents,
                       const fold_plan& plan)
        : model_(&model), strip_(model), changes_(model.node_count(), false) {
        for (id r = 0; r < plan.regions.size(); ++r) {
            for (const auto& item : plan.regions[r].items) {
                if (!plan.is_graph(r) && !item.is_region) {
                    note(item.index);
                }
            }
        }
        for (id node = 0; node < model.node_count(); ++node) {
            const auto g = model.graph_of(node);
            if (plan.holders.contains(node) || (g != 0 && contents.root(g) == 0)) {
                note(node);
            }
        }
        message_edits edits;
        add_entries(model.reader(), onnx_fields::model::metadata_props, edits);
        needed_ = needed_ || !edits.empty();
    }

    /// Whether more than tags is removed.
    [[nodiscard]] bool is_needed() const noexcept { return needed_; }

    /// Edits a node.
    void edit_node(id node, message_edits& edits) const {
        if (!changes_[node]) {
            strip_.edit_node(node, edits);
            return;
        }
        message_edits parts[2];
        strip_.edit_node(node, parts[0]);
        add_edits(node, parts[1]);
        merge(parts, edits);
    }
    /// Edits the metadata of an initializer.
    void edit_tensor(const tensor_ref& tensor, message_edits& edits) const {
        strip_.edit_tensor(tensor, edits);
    }
    /// Edits the metadata of a value.
    void edit_value_info(const value_info_ref& info, message_edits& edits) const {
        strip_.edit_value_info(info, edits);
    }
    /// Edits the metadata of the model.
    void edit_model(message_edits& edits) const {
        message_edits parts[2];
        strip_.edit_model(parts[0]);
        add_entries(model_->reader(), onnx_fields::model::metadata_props, parts[1]);
        merge(parts, edits);
    }

private:
    void note(id node) {
        message_edits edits;
        add_edits(node, edits);
        changes_[node] = !edits.empty();
        needed_ = needed_ || changes_[node];
    }

    void add_edits(id node, message_edits& edits) const {
        using at = onnx_fields::node;
        auto fields = model_->reader(model_->message(node));
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at::domain) && fields.text(field) == standard_domain) {
                edits.replace_content(model_->bytes().data(), field.content, field.end, {});
            } else {
                add_entry(fields, field, at::metadata_props, edits);
            }
        }
    }

    static void add_entries(wire_reader fields, std::uint32_t number, message_edits& edits) {
        for (wire_field field; fields.next(field);) {
            add_entry(fields, field, number, edits);
        }
    }

    static void add_entry(const wire_reader& fields, const wire_field& field, std::uint32_t number,
                          message_edits& edits) {
        if (field.is_bytes(number) && is_fold_entry(wire_model::read_entry(fields, field).first)) {
            edits.remove(field.begin, field.end);
        }
    }

    /// Appends edits of several lists in file order.
    template <std::size_t Count>
    static void merge(const message_edits (&parts)[Count], message_edits& edits) {
        std::vector<edit> all;
        for (const auto& part : parts) {
            part.for_each([&](const edit& one) { all.push_back(one); });
        }
        std::stable_sort(all.begin(), all.end(),
                         [](const edit& a, const edit& b) { return a.at < b.at; });
        for (const auto& one : all) {
            edits.replace(one.at, one.at + one.removed, one.text);
        }
    }

    const wire_model* model_;
    strip_editor strip_;
    std::vector<bool> changes_; // by node
    bool needed_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_SOURCE_HPP
