// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_JOIN_EDITED_HPP
#define STEMMA_ONNX_WIRE_JOIN_EDITED_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/join_model.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/split_folder.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>
#include <stemma/onnx/wire/value_types.hpp>
#include <stemma/onnx/wire/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma {

/// Puts a model together from parts of which some were changed: their nodes take the place of the
/// ones they had, their weights that of theirs; new operator sets, functions and types are added.
class edited_join {
public:
    /// Requires: `folder` outlives the join.
    explicit edited_join(const split_folder& folder) : folder_(folder) {
        for (const auto& part : folder.parts()) {
            contents_.push_back(std::make_unique<graph_contents>(*part.model));
        }
    }

    /// Returns: a rope over `split_files`.
    /// Throws: `error` of `refused` when the parts no longer fit together, saying where.
    /// Complexity: O(n log n) in what the parts hold, weights aside.
    [[nodiscard]] byte_rope build() {
        gather_nodes();
        gather_tensors();
        sort_nodes();
        byte_rope result;
        const auto bytes = folder_.skeleton().file->bytes();
        wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                           folder_.skeleton().file->path());
        bool first = true;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph,
                                 graph(fields.inner(field), std::exchange(first, false)));
            } else {
                result.add_range(field.begin, field.end - field.begin, split_files::skeleton);
            }
        }
        add_opsets(result);
        add_functions(result);
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_tensor = detail::onnx_fields::tensor;

    struct node_entry {
        id part = no_id;
        id node = no_id; // in the model of the part
    };

    /// Where the bytes of an initializer are.
    struct tensor_entry {
        id part = no_id; // `no_id`: the skeleton
        id tensor = no_id;
    };

    [[noreturn]] void refuse(id part, const std::string& reason) const {
        STEMMA_THROW(error(error_code::refused, folder_.parts()[part].file->path(), "", reason));
    }

    [[nodiscard]] const wire_model& model(id part) const { return *folder_.parts()[part].model; }

    [[nodiscard]] const split_folder::model_file& file_of(const tensor_entry& at) const {
        return at.part == no_id ? folder_.skeleton() : folder_.parts()[at.part];
    }

    void gather_nodes() {
        std::vector<bool> done(folder_.parts().size(), false);
        std::vector<id> next(folder_.parts().size(), 0);
        for (id node = 0; node < folder_.node_count(); ++node) {
            const auto p = folder_.home(node);
            if (!folder_.parts()[p].edited) {
                nodes_.push_back({p, node_at(p, folder_.message(node).begin)});
            } else if (!done[p]) {
                done[p] = true;
                add_edited_nodes(p);
            }
        }
    }

    [[nodiscard]] id node_at(id p, std::uint32_t begin) const {
        const auto& nodes = folder_.nodes_of(p);
        const auto found = std::partition_point(nodes.begin(), nodes.end(), [&](id node) {
            return model(p).message(node).begin < begin;
        });
        return *found;
    }

    void add_edited_nodes(id p) {
        const auto& cloned = folder_.manifest().parts[p].cloned_values;
        const std::unordered_set<std::string_view> clones(cloned.begin(), cloned.end());
        for (auto node : folder_.nodes_of(p)) {
            bool is_clone = false;
            for (id i = 0; i < model(p).output_count(node); ++i) {
                is_clone = is_clone ||
                           clones.count(model(p).value_name(model(p).first_output(node) + i)) != 0;
            }
            (is_clone ? clones_ : nodes_).push_back({p, node});
        }
    }

    /// Calls `f(name)` for what a node and its bodies read from the main graph.
    template <class Function>
    void for_each_read(const node_entry& at, Function f) const {
        const auto& m = model(at.part);
        const auto look = [&](id value) {
            if (value != no_id && m.graph_of_value(value) == 0) {
                f(m.value_name(value));
            } else if (value != no_id && m.kind(value) == value_kind::undefined) {
                f(m.value_name(value));
            }
        };
        const auto visit = [&](auto& self, id node) -> void {
            for (auto value : m.inputs(node)) {
                look(value);
            }
            for (auto inside : contents_[at.part]->inner_nodes(node)) {
                self(self, inside);
            }
            for (auto body : contents_[at.part]->bodies_of(node)) {
                for (auto value : m.graph(body).outputs) {
                    look(value);
                }
            }
        };
        visit(visit, at.node);
    }

    template <class Function>
    void for_each_output(const node_entry& at, Function f) const {
        const auto& m = model(at.part);
        for (id i = 0; i < m.output_count(at.node); ++i) {
            const auto name = m.value_name(m.first_output(at.node) + i);
            if (!name.empty()) {
                f(name);
            }
        }
    }

    /// Orders nodes behind what they read, as they were where that does.
    void sort_nodes() {
        std::unordered_map<std::string_view, id> producer;
        for (id i = 0; i < nodes_.size(); ++i) {
            for_each_output(nodes_[i], [&](std::string_view name) {
                const auto made = producer.emplace(name, i);
                if (!made.second) {
                    refuse(nodes_[i].part,
                           "makes '" + std::string(name) + "', which '" +
                               folder_.parts()[nodes_[made.first->second].part].file->path() +
                               "' makes, too");
                }
            });
        }
        check_clones(producer);
        const auto given = given_values();
        std::vector<std::vector<id>> readers(nodes_.size());
        std::vector<id> waiting(nodes_.size(), 0);
        for (id i = 0; i < nodes_.size(); ++i) {
            for_each_read(nodes_[i], [&](std::string_view name) {
                const auto from = producer.find(name);
                if (from != producer.end()) {
                    readers[from->second].push_back(i);
                    ++waiting[i];
                } else if (given.count(name) == 0 && tensors_.count(std::string(name)) == 0) {
                    refuse(nodes_[i].part,
                           "reads '" + std::string(name) + "', which no part makes");
                }
            });
        }
        for (auto value : folder_.skeleton().model->graph(0).outputs) {
            const auto name = value == no_id ? "" : folder_.skeleton().model->value_name(value);
            if (!name.empty() && producer.count(name) == 0 && given.count(name) == 0 &&
                tensors_.count(std::string(name)) == 0) {
                STEMMA_THROW(error(error_code::refused, folder_.path(), "",
                                   "no part makes the model's output '" + std::string(name) + "'"));
            }
        }
        std::priority_queue<id, std::vector<id>, std::greater<>> ready;
        for (id i = 0; i < nodes_.size(); ++i) {
            if (waiting[i] == 0) {
                ready.push(i);
            }
        }
        std::vector<node_entry> sorted;
        while (!ready.empty()) {
            const auto i = ready.top();
            ready.pop();
            sorted.push_back(nodes_[i]);
            for (auto reader : readers[i]) {
                if (--waiting[reader] == 0) {
                    ready.push(reader);
                }
            }
        }
        if (sorted.size() != nodes_.size()) {
            STEMMA_THROW(error(error_code::refused, folder_.path(), "",
                               "parts read from each other in a circle"));
        }
        nodes_ = std::move(sorted);
    }

    /// A copy of another part's constant must still be one.
    void check_clones(const std::unordered_map<std::string_view, id>& producer) const {
        for (const auto& clone : clones_) {
            for_each_output(clone, [&](std::string_view name) {
                const auto from = producer.find(name);
                const auto bytes = [&](const node_entry& at) {
                    const auto message = model(at.part).message(at.node);
                    return model(at.part).bytes().substr(message.begin, message.size);
                };
                if (from == producer.end() || bytes(nodes_[from->second]) != bytes(clone)) {
                    refuse(clone.part,
                           "changes the constant '" + std::string(name) +
                               "', which it shares with other parts; give it another name");
                }
            });
        }
    }

    [[nodiscard]] std::unordered_set<std::string_view> given_values() const {
        std::unordered_set<std::string_view> given;
        const auto& skeleton = *folder_.skeleton().model;
        for (auto value : skeleton.graph(0).inputs) {
            if (value != no_id) {
                given.insert(skeleton.value_name(value));
            }
        }
        for (const auto& tensor : skeleton.tensors()) {
            if (tensor.graph == 0 && tensor.sparse) {
                given.insert(skeleton.text(tensor.name));
            }
        }
        return given;
    }

    /// Decides for every initializer whose bytes count.
    void gather_tensors() {
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
                if (folder_.skeleton().tensors.count(name) != 0) {
                    continue;
                }
                const tensor_entry here{p, tensor};
                const auto known = tensors_.emplace(std::string(name), here);
                if (!known.second && !same_content(known.first->second, here)) {
                    refuse(p, "its initializer '" + std::string(name) +
                                  "' is not the one of another part");
                }
                added_.push_back(std::string(name));
            }
        }
        std::sort(added_.begin(), added_.end());
        added_.erase(std::unique(added_.begin(), added_.end()), added_.end());
    }

    [[nodiscard]] std::optional<tensor_entry> choose(std::string_view name, id in_skeleton,
                                                     const std::vector<id>& held_by) const {
        std::optional<tensor_entry> original;
        std::optional<tensor_entry> changed;
        bool kept = false; // by somebody who was not changed
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
                refuse(p, "its initializer '" + std::string(name) +
                              "' is not the one of another part");
            }
            changed = here;
        }
        if (changed && original && !same_content(*original, *changed)) {
            refuse(changed->part, "changes the initializer '" + std::string(name) +
                                      "', which other parts share; give it another name");
        }
        const auto chosen = original ? original : changed;
        // Data in files beside the source stay where the source has them.
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
        return text_of(tensor(a)) == text_of(tensor(b));
    }

    [[nodiscard]] std::string text_of(const byte_rope& rope) const {
        std::string text;
        rope.for_each(
            [&](id file, std::uint64_t begin, std::uint64_t size) {
                text.append(split_files::at(folder_, file).bytes().substr(begin, size));
            },
            [&](std::string_view more) { text.append(more); });
        return text;
    }

    /// Returns: an initializer with its data inside, unless these are in a file beside the source.
    [[nodiscard]] byte_rope tensor(const tensor_entry& at) const {
        const auto& m = *file_of(at).model;
        const auto& found = m.tensors()[at.tensor];
        const auto file = at.part == no_id ? split_files::skeleton : split_files::part(at.part);
        byte_rope result;
        const bool in_weights = is_in_weights(at);
        auto fields = m.reader(found.message);
        for (wire_field field; fields.next(field);) {
            if (!in_weights || (field.number != at_tensor::external_data &&
                                field.number != at_tensor::data_location)) {
                result.add_range(field.begin, field.end - field.begin, file);
            }
        }
        if (in_weights) {
            const auto header = read_tensor_header(m, found);
            const auto size = folder_.weights()->bytes().size();
            if (header.offset > size || header.length > size - header.offset) {
                refuse(at.part, "the data of '" + std::string(m.text(found.name)) +
                                    "' reach beyond the end of the file of weights");
            }
            std::string start;
            detail::append_tag(at_tensor::raw_data, start);
            detail::append_varint(header.length, start);
            result.add_text(start);
            result.add_range(header.offset, header.length, split_files::weights);
        }
        return result;
    }

    /// Returns: a chunk of the main graph; the first one takes all that is new.
    [[nodiscard]] byte_rope graph(wire_reader fields, bool first) {
        byte_rope result;
        std::unordered_set<std::string_view> made; // by changed parts
        for (const auto& at : nodes_) {
            if (first) {
                const auto message = model(at.part).message(at.node);
                std::string start;
                detail::append_tag(at_graph::node, start);
                detail::append_varint(message.size, start);
                result.add_text(start);
                result.add_range(message.begin, message.size, split_files::part(at.part));
            }
            if (folder_.parts()[at.part].edited) {
                for_each_output(at, [&](std::string_view name) { made.insert(name); });
            }
        }
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::initializer)) {
                const auto known =
                    tensors_.find(std::string(name_in(fields.inner(field), at_tensor::name)));
                if (known != tensors_.end()) {
                    result.add_field(at_graph::initializer, tensor(known->second));
                }
            } else if (field.is_bytes(at_graph::value_info) &&
                       (made.count(name_in(fields.inner(field), 1)) != 0 ||
                        !still_there(name_in(fields.inner(field), 1)))) {
                continue;
            } else {
                result.add_range(field.begin, field.end - field.begin, split_files::skeleton);
            }
        }
        if (first) {
            for (const auto& name : added_) {
                const auto& at = tensors_.at(name);
                result.add_field(at_graph::initializer, tensor(at));
                if (folder_.skeleton().model->ir_version() < 4) {
                    add_input(name, at, result);
                }
            }
            add_types(made, result);
        }
        return result;
    }

    [[nodiscard]] static std::string_view name_in(wire_reader fields, std::uint32_t number) {
        std::string_view name;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(number)) {
                name = fields.text(field);
            }
        }
        return name;
    }

    /// Whether some node still makes a value.
    [[nodiscard]] bool still_there(std::string_view name) {
        if (all_made_.empty()) {
            for (const auto& at : nodes_) {
                for_each_output(at, [&](std::string_view made) { all_made_.insert(made); });
            }
        }
        return all_made_.count(name) != 0;
    }

    void add_input(const std::string& name, const tensor_entry& at, byte_rope& out) const {
        const auto& m = *file_of(at).model;
        std::string info;
        detail::append_field(detail::onnx_fields::value_info::name, name, info);
        detail::append_field(detail::onnx_fields::value_info::type,
                             tensor_type(read_tensor_header(m, m.tensors()[at.tensor])), info);
        out.add_field(at_graph::input, info);
    }

    /// Adds what changed parts say of the types of what they make.
    void add_types(const std::unordered_set<std::string_view>& made, byte_rope& out) const {
        std::unordered_set<std::string_view> declared; // as outputs of the model
        for (const auto& info : folder_.skeleton().model->value_infos()) {
            if (info.graph == 0 && info.field == at_graph::output) {
                declared.insert(folder_.skeleton().model->text(info.name));
            }
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (!folder_.parts()[p].edited) {
                continue;
            }
            for (const auto& info : model(p).value_infos()) {
                const auto name = model(p).text(info.name);
                if (info.graph == 0 && info.field != at_graph::input && made.count(name) != 0 &&
                    declared.insert(name).second) {
                    std::string start;
                    detail::append_tag(at_graph::value_info, start);
                    detail::append_varint(info.message.size, start);
                    out.add_text(start);
                    out.add_range(info.message.begin, info.message.size, split_files::part(p));
                }
            }
        }
    }

    void add_opsets(byte_rope& out) const {
        std::map<std::string_view, std::int64_t> versions;
        for (const auto& opset : folder_.skeleton().model->opset_imports()) {
            versions[opset.domain] = opset.version;
        }
        for (id p = 0; p < folder_.parts().size(); ++p) {
            for (const auto& opset : model(p).opset_imports()) {
                const auto known = versions.emplace(opset.domain, opset.version);
                if (known.first->second != opset.version) {
                    refuse(p, "imports version " + std::to_string(opset.version) + " of '" +
                                  std::string(opset.domain) + "', the source " +
                                  std::to_string(known.first->second));
                }
                if (known.second) {
                    std::string entry;
                    detail::append_field(detail::onnx_fields::opset::domain, opset.domain, entry);
                    detail::append_varint(detail::onnx_fields::opset::version << 3U, entry);
                    detail::append_varint(static_cast<std::uint64_t>(opset.version), entry);
                    out.add_field(at_model::opset_import, entry);
                }
            }
        }
    }

    void add_functions(byte_rope& out) const {
        std::map<std::string, std::string_view> known;
        const auto visit = [&](id p, const wire_model& m, bool adds) {
            wire_reader fields(m.bytes().data(), 0, static_cast<std::uint32_t>(m.bytes().size()),
                               m.file());
            for (wire_field field; fields.next(field);) {
                if (!field.is_bytes(at_model::functions)) {
                    continue;
                }
                using at = detail::onnx_fields::function;
                std::string key(name_in(fields.inner(field), at::domain));
                key.append("\n").append(name_in(fields.inner(field), at::name));
                key.append("\n").append(name_in(fields.inner(field), at::overload));
                const auto made = known.emplace(key, fields.text(field));
                if (adds && made.second) {
                    out.add_range(field.begin, field.end - field.begin, split_files::part(p));
                } else if (adds && made.first->second != fields.text(field)) {
                    refuse(p, "changes a function that the source has: '" +
                                  std::string(name_in(fields.inner(field), at::name)) + "'");
                }
            }
        };
        visit(0, *folder_.skeleton().model, false);
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (folder_.parts()[p].edited) {
                visit(p, model(p), true);
            }
        }
    }

    const split_folder& folder_;
    std::vector<std::unique_ptr<graph_contents>> contents_; // by part
    std::vector<node_entry> nodes_;
    std::vector<node_entry> clones_; // in changed parts
    std::map<std::string, tensor_entry> tensors_;
    std::vector<std::string> added_; // initializers that the source did not have
    std::unordered_set<std::string_view> all_made_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_JOIN_EDITED_HPP
