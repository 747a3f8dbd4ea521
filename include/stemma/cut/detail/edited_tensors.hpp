// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP
#define STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/write_joined.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/message_tree.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The initializers of a split model with edited parts.
class edited_tensors {
public:
    /// Decides which version of every initializer counts.
    /// Requires: `folder` outlives this. Throws: `error` of `refused` if parts contradict each
    /// other. Complexity: O(n log n) in initializers, plus the bytes of edited ones.
    explicit edited_tensors(const split_folder& folder) : folder_(folder) {
        std::map<std::string, std::vector<id>> holders;
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for (const auto& name : folder_.manifest().parts[p].initializers) {
                holders[name].push_back(p);
            }
        }
        for (const auto& [name, tensor] : folder_.skeleton().tensors) {
            const auto held_by = holders.find(std::string(name));
            if (held_by == holders.end()) {
                tensors_[std::string(name)] = {no_id, tensor};
            } else if (const auto chosen = choose(name, tensor, held_by->second)) {
                tensors_[std::string(name)] = *chosen;
            }
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (!folder_.parts()[p].edited) {
                continue;
            }
            for (const auto& [name, tensor] : folder_.parts()[p].tensors) {
                if (folder_.skeleton().tensors.contains(name)) {
                    continue;
                }
                const tensor_entry here{p, tensor};
                const auto known = tensors_.emplace(std::string(name), here);
                if (!known.second && !same_content(known.first->second, here)) {
                    folder_.refuse(p, "its initializer '" + std::string(name) +
                                          "' differs from that of another part");
                }
                added_.push_back(std::string(name));
            }
        }
        std::sort(added_.begin(), added_.end());
        added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
    }

    /// Whether an initializer exists in the source or an edited part, and is still used.
    [[nodiscard]] bool contains(std::string_view name) const {
        return tensors_.find(name) != tensors_.end();
    }

    /// Returns: the names of new ones, sorted.
    [[nodiscard]] const std::vector<std::string>& added() const noexcept { return added_; }

    /// Returns: the facts about an initializer. Requires: contains(name).
    [[nodiscard]] tensor_header header(std::string_view name) const {
        return header_of(tensors_.find(name)->second);
    }

    /// Appends an initializer over `split_files` to a graph, with its data inline unless external
    /// to the source. Requires: contains(name). Complexity: O(fields).
    void append(std::string_view name, message_tree& graph) const {
        graph.append(detail::onnx_fields::graph::initializer,
                     [&] { append_fields(tensors_.find(name)->second, graph); });
    }

private:
    using at_tensor = detail::onnx_fields::tensor;

    /// The location of an initializer's bytes.
    struct tensor_entry {
        id part = no_id; // `no_id`: the skeleton
        id tensor = no_id;
    };

    [[nodiscard]] const split_folder::model_file& file_of(const tensor_entry& at) const {
        return at.part == no_id ? folder_.skeleton() : folder_.parts()[at.part];
    }

    [[nodiscard]] tensor_header header_of(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        return read_tensor_header(m, m.tensors()[at.tensor]);
    }

    [[nodiscard]] std::optional<tensor_entry> choose(std::string_view name, id in_skeleton,
                                                     const std::vector<id>& held_by) const {
        std::optional<tensor_entry> original;
        std::optional<tensor_entry> changed;
        bool kept = false; // by an unedited part
        for (auto p : held_by) {
            const auto& part = folder_.parts()[p];
            const auto found = part.tensors.find(name);
            if (found == part.tensors.end()) {
                continue;
            }
            const tensor_entry here{p, found->second};
            if (!part.edited || is_in_weights(here)) {
                kept = kept || !part.edited;
                original = original && !folder_.parts()[original->part].edited ? original : here;
                continue;
            }
            if (changed && !same_content(*changed, here)) {
                folder_.refuse(p, "its initializer '" + std::string(name) +
                                      "' differs from that of another part");
            }
            changed = here;
        }
        if (changed && original && !same_content(*original, *changed)) {
            folder_.refuse(changed->part, "changes the initializer '" + std::string(name) +
                                              "', which other parts share; give it another name");
        }
        const auto chosen = original ? original : changed;
        // External data of the source stays there.
        const bool elsewhere = read_tensor_header(*folder_.skeleton().model,
                                                  folder_.skeleton().model->tensors()[in_skeleton])
                                   .external;
        return chosen && elsewhere && original ? std::optional(tensor_entry{no_id, in_skeleton})
                                               : chosen;
    }

    [[nodiscard]] bool is_in_weights(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        const auto header = read_tensor_header(m, m.tensors()[at.tensor]);
        return header.external && header.location == folder_.manifest().weights.file;
    }

    [[nodiscard]] bool same_content(const tensor_entry& a, const tensor_entry& b) const {
        return text_of(a) == text_of(b);
    }

    [[nodiscard]] std::string text_of(const tensor_entry& at) const {
        message_tree tensor;
        append_fields(at, tensor);
        std::string text;
        tensor.for_each(
            [&](id file, std::uint64_t begin, std::uint64_t size) {
                text.append(split_files::at(folder_, file).bytes().substr(begin, size));
            },
            [&](std::string_view more) { text.append(more); });
        return text;
    }

    void append_fields(const tensor_entry& at, message_tree& out) const {
        const auto& m = *file_of(at).model;
        const auto& found = m.tensors()[at.tensor];
        const auto file = at.part == no_id ? split_files::skeleton : split_files::part(at.part);
        const bool in_weights = is_in_weights(at);
        out.edit(
            m.reader(found.message),
            [&](edited_field& field) {
                if (in_weights && (field.number == at_tensor::external_data ||
                                   field.number == at_tensor::data_location)) {
                    field.erase();
                }
            },
            file);
        if (in_weights) {
            const auto header = read_tensor_header(m, found);
            const auto size = folder_.weights()->bytes().size();
            if (header.offset > size || header.length > size - header.offset) {
                folder_.refuse(at.part, "the data of '" + std::string(m.text(found.name)) +
                                            "' extend past the end of the file of weights");
            }
            out.append(at_tensor::raw_data,
                       [&] { out.add_range(header.offset, header.length, split_files::weights); });
        }
    }

    const split_folder& folder_;
    std::map<std::string, tensor_entry, std::less<>> tensors_;
    std::vector<std::string> added_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP
