// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_TAG_PROTO_HPP
#define STEMMA_PROTO_TAG_PROTO_HPP

#include <stemma/config.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/open/write_tagged.hpp>
#include <stemma/proto/detail/edit_messages.hpp>
#include <stemma/proto/proto_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/tagging/tag_operators.hpp>

namespace stemma::inline STEMMA_ABI {

/// Strips a model: nodes, initializers, value infos, and model metadata.
///
/// Throws: as `proto_model`, leaving the model unchanged; `error` of `error_code::malformed` if an
/// unknown metadata field is not an entry: everything before it is then stripped already.
/// Complexity: O(messages), and that of `proto_model`.
template <detail::model_message Proto>
void strip(Proto& model) {
    const proto_model tables(model);
    detail::strip_editor editor(tables);
    detail::edit_messages(model, tables, editor);
}

/// Strips a model and tags it, as `tag` does for a file: with the record, table and sketch that the
/// carriers need. `about` may have the options of the attribution, and whether the tree was derived
/// from the model.
///
/// Requires: `tagged` is up to date with the model. Throws: as `strip`. Complexity: O(messages +
/// values + length of the output), and that of `proto_model`.
template <detail::model_message Proto>
void tag(Proto& model, const module_tree& modules, const tagging& tagged,
         const carrier_set& carriers = {}, detail::model_record about = {}) {
    const proto_model tables(model);
    about.carriers = carriers;
    about.describe(tables.node_count(), detail::find_digests(tables));
    auto editor = detail::make_tag_editor(
        tables, modules, tagged, [&](const carrier_set&) { return about; }, carriers);
    detail::edit_messages(model, tables, editor);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_TAG_PROTO_HPP
