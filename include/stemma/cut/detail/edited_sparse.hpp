// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_EDITED_SPARSE_HPP
#define STEMMA_CUT_DETAIL_EDITED_SPARSE_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/write_joined.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <map>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The sparse initializers of a split model with edited parts: all those of the source, as the
/// parts have them.
class edited_sparse {
public:
    /// Requires: `folder` outlives this. Throws: `error` of `refused` if parts contradict each
    /// other, or one has a new one. Complexity: O(n log n) in initializers, plus the bytes of
    /// these.
    explicit edited_sparse(const split_folder& folder) : folder_(folder) {
        add(no_id);
        for (id p = 0; p < folder_.parts().size(); ++p) {
            add(p);
        }
    }

    /// Whether an initializer of the source is sparse. Complexity: O(log n).
    [[nodiscard]] bool contains(std::string_view name) const { return versions_.count(name) > 0; }

    /// Appends one over `split_files` to a graph. Requires: contains(name). Complexity: O(log n).
    void append(std::string_view name, message_tree& graph) const {
        const auto& at = versions_.find(name)->second;
        graph.append(onnx_fields::graph::sparse_initializer, [&] {
            graph.add_range(at.message.begin, at.message.size,
                            at.part == no_id ? split_files::skeleton : split_files::part(at.part));
        });
    }

private:
    struct version {
        id part = no_id; // `no_id`: the skeleton
        wire_model::container_record message;
        std::string_view text;
    };

    /// Adds those of the source (`no_id`) or a part.
    void add(id p) {
        const auto& file = p == no_id ? folder_.skeleton() : folder_.parts()[p];
        for (const auto& tensor : file.model->tensors()) {
            if (tensor.graph != 0 || !tensor.sparse) {
                continue;
            }
            const auto message = file.model->containers()[tensor.message.container];
            const version here{p, message, file.model->bytes().substr(message.begin, message.size)};
            const auto name = file.model->text(tensor.name);
            const auto entry =
                p == no_id ? versions_.emplace(name, here).first : versions_.find(name);
            if (entry == versions_.end()) {
                folder_.refuse(p, "adds the sparse initializer '" + std::string(name) +
                                      "'; new ones must be dense");
            }
            auto& counts = entry->second;
            if (counts.part == no_id) {
                counts = here;
            } else if (counts.text != here.text) {
                folder_.refuse(file.edited ? p : counts.part,
                               "its initializer '" + std::string(name) +
                                   "' differs from that of another part");
            }
        }
    }

    const split_folder& folder_;
    std::map<std::string_view, version> versions_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_SPARSE_HPP
