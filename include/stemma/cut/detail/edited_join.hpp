// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_EDITED_JOIN_HPP
#define STEMMA_CUT_DETAIL_EDITED_JOIN_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/cut/detail/edited_nodes.hpp>
#include <stemma/cut/detail/edited_tensors.hpp>
#include <stemma/cut/detail/edited_types.hpp>
#include <stemma/cut/detail/split_folder.hpp>
#include <stemma/cut/detail/write_joined.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/strip_model.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Joins parts with edits: edited nodes, weights and types replace the original ones; new operator
/// sets, functions and types are added.
class edited_join {
public:
    /// Requires: `folder` outlives the join.
    explicit edited_join(const split_folder& folder)
        : folder_(folder)
        , tensors_(folder)
        , nodes_(folder, tensors_)
        , types_(folder, nodes_, tensors_) {}

    /// Returns: a rope over `split_files`.
    /// Throws: `error` of `refused`, with the place, if the parts no longer fit together.
    /// Complexity: O(n log n) in the contents of the parts, without weights.
    [[nodiscard]] message_tree build() {
        message_tree result;
        const auto bytes = folder_.skeleton().file->bytes();
        const wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                                 folder_.skeleton().file->path());
        bool first = true;
        result.edit(
            fields,
            [&](edited_field& field) {
                if (field.is_bytes(at_model::graph)) {
                    field.replace(
                        [&] { add_graph(field.inner(), std::exchange(first, false), result); });
                }
            },
            split_files::skeleton);
        add_opsets(result);
        add_functions(result);
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_info = detail::onnx_fields::value_info;
    using at_tensor = detail::onnx_fields::tensor;

    [[nodiscard]] const wire_model& model(id part) const { return *folder_.parts()[part].model; }

    /// Adds a chunk of the main graph; the first one takes everything new.
    void add_graph(wire_reader fields, bool first, message_tree& out) {
        std::unordered_set<std::string_view> given; // by edited parts
        for (const auto& at : nodes_.in_order()) {
            if (first) {
                add_message(at_graph::node, model(at.part).message(at.node), at.part, out);
            }
            if (folder_.parts()[at.part].edited) {
                nodes_.for_each_output(at, [&](std::string_view name) { given.insert(name); });
            }
        }
        out.edit(
            fields,
            [&](edited_field& field) {
                if (field.is_bytes(at_graph::initializer)) {
                    const auto name = name_in(field.inner(), at_tensor::name);
                    field.erase();
                    if (tensors_.contains(name)) {
                        tensors_.append(name, out);
                    }
                } else if (field.is_bytes(at_graph::sparse_initializer)) {
                    const auto name = name_of_sparse(field.inner());
                    if (tensors_.sparse().contains(name)) {
                        field.erase();
                        tensors_.sparse().append(name, out);
                    }
                } else if (field.is_bytes(at_graph::input)) {
                    replace_input(field);
                } else if (field.is_bytes(at_graph::output)) {
                    replace_output(field, out);
                } else if (field.is_bytes(at_graph::value_info)) {
                    const auto name = name_in(field.inner(), at_info::name);
                    if (given.contains(name) || !still_there(name)) {
                        field.erase();
                    }
                }
            },
            split_files::skeleton);
        if (first) {
            for (const auto& name : tensors_.added()) {
                tensors_.append(name, out);
                if (folder_.skeleton().model->ir_version() < 4) {
                    add_input(name, out);
                }
            }
            add_types(given, out);
        }
    }

    /// An input with an initializer has the type of that, and goes with it.
    void replace_input(edited_field& field) const {
        const auto name = name_in(field.inner(), at_info::name);
        if (!name.empty() && !nodes_.given_values().contains(name)) {
            field.erase();
        } else if (tensors_.contains(name) && !tensors_.keeps_type(name)) {
            field.edit([&](edited_field& inside) {
                if (inside.is_bytes(at_info::type)) {
                    inside.set(tensor_type(tensors_.header(name)));
                }
            });
        }
    }

    /// An output of the model has the type that the edited part declares.
    void replace_output(edited_field& field, message_tree& out) const {
        std::string_view type;
        auto fields = field.inner();
        for (wire_field inside; fields.next(inside);) {
            if (inside.is_bytes(at_info::type)) {
                type = fields.text(inside);
            }
        }
        const auto changed = types_.find_changed(name_in(field.inner(), at_info::name), type);
        if (changed.info != nullptr) {
            const auto message = changed.info->message;
            field.replace([&] {
                out.add_range(message.begin, message.size, split_files::part(changed.part));
            });
        }
    }

    /// Adds a message of a part's file.
    static void add_message(std::uint32_t field, message_ref message, id part, message_tree& out) {
        out.append(field,
                   [&] { out.add_range(message.begin, message.size, split_files::part(part)); });
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

    [[nodiscard]] static std::string_view name_of_sparse(wire_reader fields) {
        std::string_view name;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(detail::onnx_fields::sparse_tensor::values)) {
                name = name_in(fields.inner(field), at_tensor::name);
            }
        }
        return name;
    }

    /// Whether a value is still there, an initializer with the same type.
    [[nodiscard]] bool still_there(std::string_view name) {
        if (all_made_.empty()) {
            all_made_ = nodes_.given_values();
            for (const auto& at : nodes_.in_order()) {
                nodes_.for_each_output(at,
                                       [&](std::string_view output) { all_made_.insert(output); });
            }
        }
        return all_made_.contains(name) || tensors_.sparse().contains(name) ||
               tensors_.keeps_type(name);
    }

    void add_input(const std::string& name, message_tree& out) const {
        out.append(at_graph::input, [&] {
            out.append(at_info::name, name);
            out.append(at_info::type, tensor_type(tensors_.header(name)));
        });
    }

    /// Adds the types that edited parts declare for their outputs.
    void add_types(const std::unordered_set<std::string_view>& given, message_tree& out) const {
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
                if (info.graph == 0 && info.field != at_graph::input && given.contains(name) &&
                    declared.insert(name).second) {
                    add_message(at_graph::value_info, info.message, p, out);
                }
            }
        }
    }

    /// Returns: by domain the imported version; of several, the last one counts.
    [[nodiscard]] static std::map<std::string_view, std::int64_t>
    versions_in(const wire_model& model) {
        std::map<std::string_view, std::int64_t> versions;
        for (const auto& opset : model.opset_imports()) {
            versions[opset.domain] = opset.version;
        }
        return versions;
    }

    void add_opsets(message_tree& out) const {
        auto versions = versions_in(*folder_.skeleton().model);
        for (id p = 0; p < folder_.parts().size(); ++p) {
            auto own = versions_in(model(p));
            for (auto opset : model(p).opset_imports()) {
                opset.version = own[opset.domain];
                const auto entry = versions.emplace(opset.domain, opset.version);
                if (entry.first->second != opset.version) {
                    folder_.refuse(p, "imports version " + std::to_string(opset.version) + " of '" +
                                          std::string(opset.domain) + "', the source version " +
                                          std::to_string(entry.first->second));
                }
                if (entry.second) {
                    out.append(at_model::opset_import, opset_import_text(opset));
                }
            }
        }
    }

    /// Appends the message that `fields` reads, all fields in the order of their numbers, as tools
    /// write them. Complexity: O(n log n) in fields.
    static void append_in_order(wire_reader fields, names_in message, std::string& out) {
        std::vector<wire_field> ordered;
        for (wire_field field; fields.next(field);) {
            ordered.push_back(field);
        }
        std::stable_sort(ordered.begin(), ordered.end(),
                         [](const auto& a, const auto& b) { return a.number < b.number; });
        for (const auto& field : ordered) {
            const auto holds = field.type == wire_type::bytes
                                   ? names_of_field(message, field.number)
                                   : names_in::nothing;
            if (holds == names_in::nothing || holds == names_in::name) {
                out.append(fields.whole(field));
                continue;
            }
            std::string inside;
            append_in_order(fields.inner(field), holds, inside);
            detail::append_field(field.number, inside, out);
        }
    }

    /// Returns: domain, name and overload of the function that `fields` reads.
    [[nodiscard]] static std::string function_key(const wire_reader& fields) {
        using at = detail::onnx_fields::function;
        std::string key(name_in(fields, at::domain));
        key.append("\n").append(name_in(fields, at::name));
        return key.append("\n").append(name_in(fields, at::overload));
    }

    /// Calls `f(field, key)` for the functions of the model that `fields` reads.
    template <class Function>
    static void for_each_function(wire_reader fields, Function f) {
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::functions)) {
                f(field, function_key(fields.inner(field)));
            }
        }
    }

    using functions_by_key = std::map<std::string, std::string>;

    /// Returns: the functions of a model without what stemma wrote, in the order of their fields'
    /// numbers. Complexity: O(bytes of the model).
    [[nodiscard]] static functions_by_key bare_functions(const wire_model& m) {
        functions_by_key bare;
        const auto bytes = strip_model(m);
        const wire_reader fields(bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()),
                                 m.file());
        for_each_function(fields, [&](const wire_field& field, std::string key) {
            if (const auto [entry, added] = bare.try_emplace(std::move(key)); added) {
                append_in_order(fields.inner(field), names_in::function, entry->second);
            }
        });
        return bare;
    }

    void add_functions(message_tree& out) const {
        struct first_seen {
            const wire_model* model;
            std::string_view bytes;
        };
        std::map<std::string, first_seen> seen;
        std::map<const wire_model*, functions_by_key> bare; // of models whose bytes differ
        const auto bare_of = [&](const wire_model& m, const std::string& key) -> const auto& {
            const auto [entry, added] = bare.try_emplace(&m);
            if (added) {
                entry->second = bare_functions(m);
            }
            return entry->second.at(key);
        };
        const auto visit = [&](id p, const wire_model& m, bool adds) {
            const auto fields = m.reader();
            for_each_function(fields, [&](const wire_field& field, const std::string& key) {
                const auto text = fields.text(field);
                const auto [same, added] = seen.try_emplace(key, first_seen{&m, text});
                if (adds && added) {
                    out.add_range(field.begin, field.end - field.begin, split_files::part(p));
                } else if (adds && same->second.bytes != text &&
                           bare_of(*same->second.model, key) != bare_of(m, key)) {
                    folder_.refuse(p, "changes a function that the source has: '" +
                                          std::string(name_in(fields.inner(field),
                                                              onnx_fields::function::name)) +
                                          "'");
                }
            });
        };
        visit(0, *folder_.skeleton().model, false);
        for (id p = 0; p < folder_.parts().size(); ++p) {
            if (folder_.parts()[p].edited) {
                visit(p, model(p), true);
            }
        }
    }

    const split_folder& folder_;
    edited_tensors tensors_;
    edited_nodes nodes_;
    edited_types types_;
    std::unordered_set<std::string_view> all_made_; // and what is given
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_EDITED_JOIN_HPP
