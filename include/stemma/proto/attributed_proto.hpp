// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_ATTRIBUTED_PROTO_HPP
#define STEMMA_PROTO_ATTRIBUTED_PROTO_HPP

#include <stemma/error.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/attribution_options.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/proto/tag_proto.hpp>
#include <stemma/record/detail/given_names.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <onnx/onnx_pb.h>

#include <string>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// A caller's model message with the attributions of its nodes: everything that an
/// `attributed_model` finds in the same model in a file, and `tag`, which changes the message in
/// place.
///  Numbers of nodes and values are those of `proto_model`. For the verbs on files (cut,
/// fold, split), open `mapped_file::holding(model.SerializeAsString(), name)`.
template <detail::model_message Proto = onnx::ModelProto>
class attributed_proto {
public:
    /// `name` stands for a path in messages. Nothing is written, and no tensor data copied.
    ///
    /// Requires: `model` outlives this, and keeps its nodes for `tag`.
    /// Throws: as `attributed_model`, and as `message_outline`.
    /// Complexity: that of `attributed_model`, and O(bytes) for `message_outline`.
    explicit attributed_proto(Proto& model, attribution_options options = {},
                              std::string name = "model")
        : proto_(&model)
        , outline_(model)
        , opened_(mapped_file::viewing(outline_.bytes(), std::move(name)), std::move(options)) {}

    /// The original message, not a copy.
    [[nodiscard]] const Proto& proto() const noexcept { return *proto_; }

    /// Its nodes, values and graphs at construction.
    [[nodiscard]] const wire_model& model() const noexcept { return opened_.model(); }

    /// From a capture, the record in the model, or the model itself.
    [[nodiscard]] const module_tree& modules() const noexcept { return opened_.modules(); }

    /// The tags found, or carried by the model.
    [[nodiscard]] const tagging& tags() const noexcept { return opened_.tags(); }

    /// For claims, findings and notes. Tensor data is missing in its `model`, see
    /// `message_outline`.
    [[nodiscard]] attributed_model& known() noexcept { return opened_; }
    /// The same, const.
    [[nodiscard]] const attributed_model& known() const noexcept { return opened_; }

    /// Removes all stemma data from the message and writes the tags, including record, mark,
    /// origins and the source lines it had, as into a file. Parameters and given names are kept if
    /// the message is as it was tagged before.
    ///
    /// Throws: `error` of `error_code::contradiction` if nodes were added or removed since
    /// construction, leaving the message unchanged; otherwise as `strip`.
    /// Complexity: that of `stemma::tag`, and of `attributed_model::record`.
    void tag(const carrier_set& carriers = usual_carriers) {
        const proto_model tables(*proto_);
        if (tables.node_count() != model().node_count()) {
            STEMMA_THROW(error(error_code::contradiction, opened_.model().file(), "",
                               "changed since it was read"));
        }
        const auto sources = detail::find_sources_to_write(opened_, written_sources::as_before);
        auto editor = detail::make_tag_editor(
            tables, modules(), tags(),
            [&](const carrier_set& written) { return opened_.record(written); }, carriers,
            sources.text);
        if (sources.lines != nullptr) {
            editor.write_sources(*sources.lines);
        }
        if (detail::keeps_additions(opened_)) {
            editor.keep_parameters();
            if (detail::has_given_names(tables)) {
                editor.name_nodes(tables);
            }
        }
        detail::edit_messages(*proto_, tables, editor);
    }

private:
    Proto* proto_;
    detail::message_outline outline_;
    attributed_model opened_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_ATTRIBUTED_PROTO_HPP
