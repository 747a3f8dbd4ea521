// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP
#define STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/detail/edited_sparse.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/write_joined.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/tensor_content.hpp>
#include <stemma/onnx/detail/tensor_size.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
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
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The initializers of a split model with edited parts.
class edited_tensors {
public:
    /// Decides which version of every initializer counts.
    /// Requires: `folder` outlives this. Throws: `error` of `refused` if parts contradict each
    /// other. Complexity: O(n log n) in initializers, plus the bytes of edited ones.
    explicit edited_tensors(const split_folder& folder)
        : folder_(folder), sparse_(folder), in_order_(is_in_order()) {
        std::map<std::string, std::vector<id>> holders;
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for (const auto& name : folder_.manifest().parts[p].initializers) {
                holders[name].push_back(p);
            }
        }
        for (const auto& [name, tensor] : folder_.skeleton().tensors) {
            const auto held_by = holders.find(std::string(name));
            if (held_by == holders.end()) {
                tensors_[std::string(name)] = {{no_id, tensor}, {}};
            } else if (const auto chosen = choose(name, {no_id, tensor}, held_by->second)) {
                tensors_[std::string(name)] = *chosen;
            }
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (folder_.parts()[p].edited) {
                add_others(p);
            }
        }
        added_ = range::each_once(std::move(added_));
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
        return tensors_.find(name)->second.data.part;
    }

    /// Whether an initializer has type and shape of the one in the source.
    [[nodiscard]] bool keeps_type(std::string_view name) const {
        const auto source = folder_.skeleton().tensors.find(name);
        return source != folder_.skeleton().tensors.end() && contains(name) &&
               has_same_type(tensors_.find(name)->second.data, {no_id, source->second});
    }

    /// Whether tensors of two models have type, shape and data in common. Complexity: O(bytes).
    [[nodiscard]] static bool are_equal(const wire_model& model, const tensor_ref& tensor,
                                        const wire_model& other_model, const tensor_ref& other) {
        tensor_content_reader own(model);
        tensor_content_reader of_other(other_model);
        return have_same_content(own.read(tensor), of_other.read(other));
    }

    /// Whether an initializer has type, shape and data of a tensor of a model. Requires:
    /// contains(name). Complexity: O(bytes).
    [[nodiscard]] bool equals(std::string_view name, const wire_model& model,
                              const tensor_ref& tensor) const {
        const auto& at = tensors_.find(name)->second.data;
        tensor_content_reader own(*file_of(at).model);
        tensor_content_reader other(model);
        return have_same_content(content_of(at, own), other.read(tensor));
    }

    /// Returns: the names of new ones, sorted.
    [[nodiscard]] const std::vector<std::string>& added() const noexcept { return added_; }

    /// Returns: the sparse ones, which are not among the others.
    [[nodiscard]] const edited_sparse& sparse() const noexcept { return sparse_; }

    /// Returns: the facts about an initializer. Requires: contains(name).
    [[nodiscard]] tensor_header header(std::string_view name) const {
        return header_of(tensors_.find(name)->second.data);
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

    /// The version of an initializer that counts.
    struct version {
        tensor_entry data;
        std::optional<tensor_entry> docs; // where doc_string and metadata were edited
    };

    [[nodiscard]] const split_folder::model_file& file_of(const tensor_entry& at) const {
        return at.part == no_id ? folder_.skeleton() : folder_.parts()[at.part];
    }

    [[nodiscard]] static id file_number(const tensor_entry& at) {
        return at.part == no_id ? split_files::skeleton : split_files::part(at.part);
    }

    [[nodiscard]] bool is_edited(const tensor_entry& at) const {
        return folder_.parts()[at.part].edited;
    }

    [[nodiscard]] wire_reader fields_of(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        return m.reader(m.tensors()[at.tensor].message);
    }

    [[nodiscard]] tensor_header header_of(const tensor_entry& at) const {
        return read_tensor_header(fields_of(at));
    }

    [[noreturn]] void refuse(id p, std::string_view name, std::string_view reason) const {
        folder_.refuse(p, "its initializer '" + std::string(name) + "' " + std::string(reason));
    }

    /// Adds the initializers of an edited part that the split did not give it.
    void add_others(id p) {
        const auto& listed = folder_.manifest().parts[p].initializers;
        const std::unordered_set<std::string_view> given(listed.begin(), listed.end());
        for (const auto& entry : folder_.parts()[p].tensors) {
            const auto name = entry.first;
            if (sparse_.contains(name)) {
                refuse(p, name, "is sparse in the source");
            }
            if (given.contains(name)) {
                continue;
            }
            const tensor_entry here{p, entry.second};
            const auto placed = tensors_.emplace(std::string(name), version{here, {}});
            const auto& counts = placed.first->second.data;
            if (!placed.second && !same_content(counts, here)) {
                refuse(p, name,
                       counts.part == no_id ? "differs from that of the source"
                                            : "differs from that of another part");
            }
            if (!folder_.skeleton().tensors.contains(name)) {
                added_.emplace_back(name);
            }
        }
    }

    /// Whether edited parts have their data where the split put them in the file of weights: there
    /// they have the order of the parts and of their initializers.
    [[nodiscard]] bool is_in_order() const {
        std::unordered_set<std::string_view> met;
        std::uint64_t end = 0;
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for (const auto& name : folder_.manifest().parts[p].initializers) {
                const auto tensor = folder_.parts()[p].tensors.find(name);
                if (!met.insert(name).second || tensor == folder_.parts()[p].tensors.end() ||
                    !is_in_weights({p, tensor->second})) {
                    continue;
                }
                const auto header = header_of({p, tensor->second});
                if (header.offset < end) {
                    return false;
                }
                end = header.offset + external_size(header).value_or(0);
            }
        }
        return true;
    }

    [[nodiscard]] std::optional<version> choose(std::string_view name, const tensor_entry& source,
                                                const std::vector<id>& held_by) const {
        std::vector<tensor_entry> held;
        for (auto p : held_by) {
            const auto tensor = folder_.parts()[p].tensors.find(name);
            if (tensor != folder_.parts()[p].tensors.end()) {
                held.push_back({p, tensor->second});
            }
        }
        // The first one tells best where the split put the data.
        const auto rank = [&](const tensor_entry& at) {
            return !is_edited(at) ? 0 : is_in_weights(at) ? 1 : 2;
        };
        std::stable_sort(held.begin(), held.end(),
                         [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
        std::optional<tensor_entry> original;
        std::optional<tensor_entry> changed;
        std::optional<tensor_entry> docs;
        for (const auto& here : held) {
            if (is_edited(here) && docs_of(here) != docs_of(source)) {
                if (docs && docs_of(*docs) != docs_of(here)) {
                    refuse(here.part, name, "differs from that of another part");
                }
                docs = here;
            }
            if (is_as_written(here, held.front(), source)) {
                original = original ? original : here;
                continue;
            }
            if (changed && !same_content(*changed, here)) {
                refuse(here.part, name, "differs from that of another part");
            }
            changed = here;
        }
        if (changed && original && !same_content(*original, *changed)) {
            folder_.refuse(changed->part, "changes the initializer '" + std::string(name) +
                                              "', which other parts share; give it another name");
        }
        if (held.empty()) {
            return std::nullopt;
        }
        // Unchanged external data of the source stays there.
        const bool stays = original && header_of(source).external &&
                           !(folder_.weights_edited() && is_in_weights(*original));
        return version{stays ? source : original ? *original : *changed, docs};
    }

    /// Whether the data of a tensor are certainly those that the split gave it. `first`: of all
    /// that have it, the one that tells best where they were put.
    [[nodiscard]] bool is_as_written(const tensor_entry& at, const tensor_entry& first,
                                     const tensor_entry& source) const {
        if (!is_edited(at)) {
            return true;
        }
        if (!has_same_type(at, source)) {
            return false;
        }
        if (!is_in_weights(at)) {
            return has_same_place(at, source);
        }
        const auto before = header_of(source);
        return has_same_place(at, first) &&
               (!is_edited(first) ||
                (in_order_ && before.external &&
                 (before.length == 0 || before.length == header_of(at).length)));
    }

    /// Returns: the fields with the doc_string and metadata.
    [[nodiscard]] std::string docs_of(const tensor_entry& at) const {
        std::string docs;
        for (auto number : {at_tensor::doc_string, at_tensor::metadata_props}) {
            auto fields = fields_of(at);
            for (wire_field field; fields.next(field);) {
                docs.append(field.number == number ? fields.whole(field) : std::string_view());
            }
        }
        return docs;
    }

    [[nodiscard]] bool is_in_weights(const tensor_entry& at) const {
        const auto header = header_of(at);
        return at.part != no_id && header.external && folder_.weights() != nullptr &&
               header.location == folder_.manifest().weights.file;
    }

    [[nodiscard]] bool has_same_type(const tensor_entry& a, const tensor_entry& b) const {
        const auto first = header_of(a);
        const auto second = header_of(b);
        return first.dims == second.dims && first.data_type == second.data_type;
    }

    /// Whether two have the same external data.
    [[nodiscard]] bool has_same_place(const tensor_entry& a, const tensor_entry& b) const {
        const auto first = header_of(a);
        const auto second = header_of(b);
        return first.external && second.external && first.location == second.location &&
               first.offset == second.offset && external_size(first) == external_size(second);
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
            const auto original = folder_.skeleton().tensors.find(name);
            if (original != folder_.skeleton().tensors.end() &&
                has_same_place(at, {no_id, original->second})) {
                return std::nullopt;
            }
            folder_.refuse(at.part, "the data of '" + name + "' are in '" +
                                        std::string(header.location) +
                                        "', which is not in the folder");
        }
        const auto file = in_weights ? split_files::weights : split_files::other(folder_, other);
        const auto size = split_files::at(folder_, file).bytes().size();
        const auto length = external_size(header, size);
        if (header.offset > size || length > size - header.offset) {
            folder_.refuse(at.part, "the data of '" + name + "' extend past the end of " +
                                        (in_weights ? "the file of weights"
                                                    : "'" + std::string(header.location) + "'"));
        }
        return data_range{file, header.offset, length};
    }

    /// Whether two have type, shape and data in common, wherever and however stored. Data that the
    /// source has elsewhere equal their copy in the file of weights.
    [[nodiscard]] bool same_content(const tensor_entry& a, const tensor_entry& b) const {
        tensor_content_reader of_a(*file_of(a).model);
        tensor_content_reader of_b(*file_of(b).model);
        const bool has_copy = a.part == no_id && header_of(a).external && is_in_weights(b) &&
                              !folder_.weights_edited();
        return (has_same_type(a, b) && (has_copy || has_same_place(a, b))) ||
               have_same_content(content_of(a, of_a), content_of(b, of_b));
    }

    [[nodiscard]] tensor_content content_of(const tensor_entry& at,
                                            tensor_content_reader& reader) const {
        auto content = reader.read(file_of(at).model->tensors()[at.tensor]);
        if (const auto data = external_data(at)) {
            const auto bytes = split_files::at(folder_, data->file).bytes();
            content.data = bytes.substr(data->offset, data->length);
            content.readable = true;
        }
        return content;
    }

    void append_fields(const version& chosen, message_tree& out) const {
        const auto& at = chosen.data;
        const auto data = external_data(at);
        out.edit(
            fields_of(at),
            [&](edited_field& field) {
                const bool is_place = field.number == at_tensor::external_data ||
                                      field.number == at_tensor::data_location;
                const bool is_doc = field.number == at_tensor::doc_string ||
                                    field.number == at_tensor::metadata_props;
                if ((data && is_place) || (chosen.docs && is_doc)) {
                    field.erase();
                }
            },
            file_number(at));
        if (data) {
            out.append(at_tensor::raw_data,
                       [&] { out.add_range(data->offset, data->length, data->file); });
        }
        if (chosen.docs) {
            out.add_text(docs_of(*chosen.docs));
        }
    }

    const split_folder& folder_;
    edited_sparse sparse_;
    bool in_order_; // see `is_in_order`
    std::map<std::string, version, std::less<>> tensors_;
    std::vector<std::string> added_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_TENSORS_HPP
