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
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The initializers of a split model with edited parts.
class edited_tensors {
public:
    /// Decides which version of every initializer counts.
    /// Requires: `folder` outlives this. Throws: `error` of `refused` if parts contradict each
    /// other. Complexity: O(n log n) in initializers, plus the bytes of edited ones.
    explicit edited_tensors(const split_folder& folder) : folder_(folder), sparse_(find_sparse()) {
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
            if (folder_.parts()[p].edited) {
                add_others(p);
            }
        }
        std::sort(added_.begin(), added_.end());
        added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
    }

    /// Whether an initializer exists in the source or an edited part, and is still used.
    [[nodiscard]] bool contains(std::string_view name) const {
        return tensors_.find(name) != tensors_.end();
    }

    /// Whether an initializer is new.
    [[nodiscard]] bool is_added(std::string_view name) const {
        return std::binary_search(added_.begin(), added_.end(), name);
    }

    /// Returns: the part whose version counts; `no_id`: that of the source. Requires:
    /// contains(name).
    [[nodiscard]] id part_of(std::string_view name) const {
        return tensors_.find(name)->second.part;
    }

    /// Returns: the names of new ones, sorted.
    [[nodiscard]] const std::vector<std::string>& added() const noexcept { return added_; }

    /// Returns: the facts about an initializer. Requires: contains(name).
    [[nodiscard]] tensor_header header(std::string_view name) const {
        return header_of(tensors_.find(name)->second);
    }

    /// Appends an initializer over `split_files` to a graph, with its data inline unless external
    /// to the source and unchanged. Requires: contains(name). Throws: `error` of `refused` for data
    /// that is not in the folder. Complexity: O(fields).
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

    /// Adds the initializers of an edited part that the split did not give it.
    void add_others(id p) {
        const auto& listed = folder_.manifest().parts[p].initializers;
        const std::unordered_set<std::string_view> given(listed.begin(), listed.end());
        for (const auto& entry : folder_.parts()[p].tensors) {
            const auto name = entry.first;
            const tensor_entry here{p, entry.second};
            const bool in_source = folder_.skeleton().tensors.contains(name);
            const bool untouched = in_source && is_in_weights(here) && !folder_.weights_edited();
            if (given.contains(name) || untouched) {
                continue;
            }
            const auto known = tensors_.emplace(std::string(name), here);
            if (!known.second && !same_content(known.first->second, here)) {
                folder_.refuse(
                    p, "its initializer '" + std::string(name) + "' differs from that of " +
                           (known.first->second.part == no_id ? "the source" : "another part"));
            }
            if (sparse_.contains(name)) {
                folder_.refuse(p, "its initializer '" + std::string(name) +
                                      "' is sparse in the source");
            }
            if (!in_source) {
                added_.emplace_back(name);
            }
        }
    }

    /// Returns: the names of the sparse initializers of the source. Complexity: O(initializers).
    [[nodiscard]] std::unordered_set<std::string_view> find_sparse() const {
        const auto& source = *folder_.skeleton().model;
        std::unordered_set<std::string_view> names;
        for (const auto& tensor : source.tensors()) {
            if (tensor.graph == 0 && tensor.sparse) {
                names.insert(source.text(tensor.name));
            }
        }
        return names;
    }

    [[nodiscard]] std::optional<tensor_entry> choose(std::string_view name, id in_skeleton,
                                                     const std::vector<id>& held_by) const {
        const tensor_entry source{no_id, in_skeleton};
        std::optional<tensor_entry> original;
        std::optional<tensor_entry> changed;
        for (auto p : held_by) {
            const auto& part = folder_.parts()[p];
            const auto found = part.tensors.find(name);
            if (found == part.tensors.end()) {
                continue;
            }
            const tensor_entry here{p, found->second};
            if (!part.edited || is_in_weights(here) || has_same_place(here, source)) {
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
        if (!original) {
            return changed;
        }
        // Unchanged external data of the source stays there.
        const bool may_differ = folder_.weights_edited() && is_in_weights(*original);
        return header_of(source).external && !may_differ ? source : original;
    }

    [[nodiscard]] bool is_in_weights(const tensor_entry& at) const {
        const auto header = header_of(at);
        return at.part != no_id && header.external &&
               header.location == folder_.manifest().weights.file;
    }

    /// Whether two have the same external data.
    [[nodiscard]] bool has_same_place(const tensor_entry& a, const tensor_entry& b) const {
        const auto first = header_of(a);
        const auto second = header_of(b);
        return first.external && second.external && first.location == second.location &&
               first.offset == second.offset && first.length == second.length;
    }

    /// A range of one of `split_files`.
    struct data_range {
        id file = no_id;
        std::uint64_t offset = 0;
        std::uint64_t length = 0;
    };

    /// Returns: where external data is that goes into the joined model.
    [[nodiscard]] std::optional<data_range> external_data(const tensor_entry& at) const {
        const auto header = header_of(at);
        const bool in_weights = is_in_weights(at);
        if (!header.external || at.part == no_id ||
            (!in_weights && !folder_.parts()[at.part].edited)) {
            return std::nullopt;
        }
        const auto& part = folder_.parts()[at.part];
        const std::string name(part.model->text(part.model->tensors()[at.tensor].name));
        const auto other = in_weights ? no_id : folder_.find_other(header.location);
        if (!in_weights && other == no_id) {
            const auto known = folder_.skeleton().tensors.find(name);
            if (known != folder_.skeleton().tensors.end() &&
                has_same_place(at, {no_id, known->second})) {
                return std::nullopt;
            }
            folder_.refuse(at.part, "the data of '" + name + "' are in '" +
                                        std::string(header.location) +
                                        "', which is not in the folder");
        }
        const auto file = in_weights ? split_files::weights : split_files::other(folder_, other);
        const auto size = split_files::at(folder_, file).bytes().size();
        const bool to_the_end = header.length == 0 && header.elements() > 0;
        if (header.offset > size || header.length > size - header.offset) {
            folder_.refuse(at.part, "the data of '" + name + "' extend past the end of " +
                                        (in_weights ? "the file of weights"
                                                    : "'" + std::string(header.location) + "'"));
        }
        return data_range{file, header.offset, to_the_end ? size - header.offset : header.length};
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
        const auto data = external_data(at);
        out.edit(
            m.reader(found.message),
            [&](edited_field& field) {
                if (data && (field.number == at_tensor::external_data ||
                             field.number == at_tensor::data_location)) {
                    field.erase();
                }
            },
            file);
        if (data) {
            out.append(at_tensor::raw_data,
                       [&] { out.add_range(data->offset, data->length, data->file); });
        }
    }

    const split_folder& folder_;
    std::unordered_set<std::string_view> sparse_; // see `find_sparse`
    std::map<std::string, tensor_entry, std::less<>> tensors_;
    std::vector<std::string> added_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP
