// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PLAN_ANNOTATE_LAYERS_HPP
#define STEMMA_PLAN_ANNOTATE_LAYERS_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/detail/system_files.hpp>
#include <stemma/io/output_file.hpp>
#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/place_external_data.hpp>
#include <stemma/onnx/detail/rewrite.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/attributed_model.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// The key of node metadata that ONNX Runtime's option `session.layer_assignment_settings` reads.
inline constexpr std::string_view layer_annotation_key = "layer_ann";

/// Sets or replaces the annotation of nodes. A `model_editor`.
class layer_annotator {
public:
    layer_annotator(const wire_model& model, std::span<const id> nodes, std::string annotation)
        : model_(&model), annotation_(std::move(annotation)) {
        std::vector<bool> asked(model.node_count(), false);
        for (const auto node : nodes) {
            asked[node] = true;
        }
        asked_ = std::make_shared<const std::vector<bool>>(std::move(asked));
    }

    void edit_node(id node, message_edits& edits) const {
        if (!(*asked_)[node]) {
            return;
        }
        const auto message = model_->message(node);
        auto fields = model_->reader(message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::node::metadata_props) &&
                wire_model::read_entry(fields, field).first == layer_annotation_key) {
                edits.remove(field.begin, field.end);
            }
        }
        edits.insert_entry(message.begin + message.size, onnx_fields::node::metadata_props,
                           layer_annotation_key, annotation_);
    }
    void edit_tensor(const tensor_ref&, message_edits&) const {}
    void edit_value_info(const value_info_ref&, message_edits&) const {}
    void edit_model(message_edits&) const {}

private:
    const wire_model* model_;
    std::string annotation_;
    std::shared_ptr<const std::vector<bool>> asked_; // by node, shared by copies
};

} // namespace detail

/// Writes a model with `layer_ann` annotations on some nodes, by which ONNX Runtime assigns nodes
/// to devices; the rest of the file stays byte for byte.
/// Throws: `error` of `error_code::too_large` if it reaches 2 GiB, `cannot_write`, and as
/// `place_external_data`. Complexity: O(bytes).
inline void annotate_layers(const attributed_model& opened, std::span<const id> nodes,
                            std::string annotation, const std::string& output,
                            const write_options& options = {}) {
    detail::layer_annotator editor(opened.model(), nodes, std::move(annotation));
    detail::rewrite plan(opened.model(), editor);
    output_file written(output);
    plan.write(opened.file(), written);
    detail::place_external_data(opened.model(), output, options.data, options.replace_data,
                                options.sync);
    written.commit(options.sync);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PLAN_ANNOTATE_LAYERS_HPP
