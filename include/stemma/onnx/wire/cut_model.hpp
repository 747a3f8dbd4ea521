// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_CUT_MODEL_HPP
#define STEMMA_ONNX_WIRE_CUT_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/cut_plan.hpp>
#include <stemma/onnx/model_record.hpp>
#include <stemma/onnx/structure_digest.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/tag_edits.hpp>
#include <stemma/onnx/wire/tag_model.hpp>
#include <stemma/onnx/wire/tensor_header.hpp>
#include <stemma/onnx/wire/value_types.hpp>
#include <stemma/onnx/wire/weight_store.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/cut.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma {

/// What the model's metadata of a part say of where it was cut out.
inline constexpr std::string_view cut_key = "pkg.stemma.cut";

/// Finds a value at the boundary of a plan whose type or rank is not known.
[[nodiscard]] inline std::optional<id> find_untyped(const cut_plan& plan, value_types& types) {
    for (const auto* values : {&plan.inputs, &plan.outputs}) {
        for (auto value : *values) {
            if (!types.type_of(value)) {
                return value;
            }
        }
    }
    return std::nullopt;
}

/// Writes parts of one model as models of their own: nodes, weights and everything else as bytes of
/// the source, in the same order; new are the inputs and outputs.
template <cut_policy Policy = standard_cut>
class cut_writer {
public:
    /// Requires: all outlive the writer.
    cut_writer(const wire_model& model, value_types& types, Policy policy = {})
        : model_(model), types_(types), policy_(std::move(policy)) {
        note_tensors();
        note_graphs();
        if (const auto text = find_model_metadata(model, model_key)) {
            record_ = read_model_record(*text, model.file());
        }
    }

    /// Makes the bytes of a part.
    ///
    /// `origin` is what `cut_key` says. Weights of at least a kibibyte go to `store`, if there is
    /// one; else they stay in the model, or in the files where they are. Requires: no refusal in
    /// the plan, and every value at the boundary has a type. Complexity: O(bytes that are not
    /// weights).
    [[nodiscard]] byte_rope build(const cut_plan& plan, std::string_view origin,
                                  weight_store* store = nullptr) {
        names_ = renamed(plan);
        const auto graph = build_graph(plan, store);
        byte_rope result;
        wire_reader fields(bytes().data(), 0, static_cast<std::uint32_t>(bytes().size()),
                           model_.file());
        bool graph_written = false;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                if (!graph_written) {
                    result.add_field(at_model::graph, graph);
                    graph_written = true;
                }
            } else if (field.is_bytes(at_model::functions)) {
                const auto f = function_at(field.content);
                if (std::binary_search(plan.functions.begin(), plan.functions.end(), f)) {
                    result.add_range(field.begin, field.end - field.begin);
                }
            } else if (field.is_bytes(at_model::metadata_props)) {
                if (!wire_model::read_entry(fields, field).first.starts_with(key_prefix)) {
                    result.add_range(field.begin, field.end - field.begin);
                }
            } else if (!field.is_bytes(at_model::training_info)) {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        add_model_entry(cut_key, origin, result);
        if (record_) {
            add_model_entry(model_key, record_of(plan), result);
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_graph = detail::onnx_fields::graph;
    using at_tensor = detail::onnx_fields::tensor;
    using at_info = detail::onnx_fields::value_info;

    static constexpr std::uint32_t store_from = 1024; // bytes

    struct annotation {
        message_ref message;
        std::string_view tensor;
        std::vector<std::string_view> parameters;
    };

    struct graph_extras {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> fields; // name, doc_string, metadata
        std::vector<annotation> annotations;
    };

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    void note_tensors() {
        tensor_of_.assign(model_.value_count(), no_id);
        const auto tensors = model_.tensors();
        for (id i = 0; i < tensors.size(); ++i) {
            tensor_of_[tensors[i].value] = i;
        }
    }

    void note_graphs() {
        extras_.resize(model_.graph_count());
        for (const auto& container : model_.containers()) {
            if (model_.graph(container.graph).kind == graph_kind::function ||
                !is_graph_message(container)) {
                continue;
            }
            auto& extras = extras_[container.graph];
            auto fields = model_.reader({container.begin, container.size, no_id});
            for (wire_field field; fields.next(field);) {
                if (field.is_bytes(at_graph::name) || field.is_bytes(10) ||
                    field.is_bytes(at_graph::metadata_props)) {
                    extras.fields.emplace_back(field.begin, field.end);
                } else if (field.is_bytes(at_graph::quantization_annotation)) {
                    extras.annotations.push_back(read_annotation(fields, field));
                }
            }
        }
    }

    // Attributes and sparse tensors are containers too; a graph is one that an attribute or the
    // model holds directly.
    [[nodiscard]] bool is_graph_message(const wire_model::container_record& container) const {
        if (container.owner != no_id) {
            return false;
        }
        if (container.parent == no_id) {
            return true;
        }
        return model_.containers()[container.parent].owner != no_id;
    }

    [[nodiscard]] static annotation read_annotation(const wire_reader& around,
                                                    const wire_field& field) {
        annotation found;
        found.message = {field.content, field.size(), no_id};
        auto parts = around.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(1)) {
                found.tensor = parts.text(part);
            } else if (part.is_bytes(2)) {
                found.parameters.push_back(wire_model::read_entry(parts, part).second);
            }
        }
        return found;
    }

    [[nodiscard]] id function_at(std::uint32_t content) const {
        for (id f = 0; f < model_.functions().size(); ++f) {
            for (const auto& container : model_.containers()) {
                if (container.graph == model_.functions()[f].graph && container.begin == content) {
                    return f;
                }
            }
        }
        return no_id;
    }

    static void add_model_entry(std::string_view key, std::string_view value, byte_rope& out) {
        std::string entry;
        wire_carrier_sink::append_entry(at_model::metadata_props, key, value, entry);
        out.add_text(entry);
    }

    /// The record of a tagged model, for the nodes of a part.
    [[nodiscard]] std::string record_of(const cut_plan& plan) {
        std::vector<id> nodes;
        std::vector<bool> taken(model_.node_count(), false);
        for (auto node : plan.nodes) {
            taken[node] = true;
        }
        for (id node = model_.node_count(); node-- > 0;) {
            const auto owner = model_.owner(node);
            taken[node] = taken[node] || (owner != no_id && taken[owner]);
            for (auto f : plan.functions) {
                auto g = model_.graph_of(node);
                taken[node] = taken[node] || model_.functions()[f].graph == g;
            }
        }
        for (auto node : plan.nodes) {
            append_with_bodies(node, nodes);
        }
        for (id node = 0; node < model_.node_count(); ++node) {
            auto g = model_.graph_of(node);
            if (taken[node] && model_.graph(g).kind == graph_kind::function) {
                append_with_bodies(node, nodes);
            }
        }
        record_->nodes = nodes.size();
        record_->digest = structure_digest(model_, nodes);
        return to_json(*record_);
    }

    void append_with_bodies(id node, std::vector<id>& nodes) const {
        // Nodes of bodies stand directly before their owner.
        auto first = node;
        while (first > 0 && is_in_body_of(first - 1, node)) {
            --first;
        }
        for (; first <= node; ++first) {
            nodes.push_back(first);
        }
    }

    [[nodiscard]] bool is_in_body_of(id inner, id node) const {
        auto owner = model_.owner(inner);
        while (owner != no_id && owner != node) {
            owner = model_.owner(owner);
        }
        return owner == node;
    }

    [[nodiscard]] std::map<std::string, std::string, std::less<>>
    renamed(const cut_plan& plan) const {
        std::map<std::string, std::string, std::less<>> names;
        for (const auto* values : {&plan.inputs, &plan.outputs}) {
            for (auto value : *values) {
                const auto name = model_.value_name(value);
                auto other = policy_.boundary_name(name);
                if (other != name) {
                    names.emplace(name, std::move(other));
                }
            }
        }
        return names;
    }

    [[nodiscard]] std::string_view name_of(id value) const {
        const auto name = model_.value_name(value);
        const auto found = names_.find(name);
        return found == names_.end() ? name : std::string_view(found->second);
    }

    [[nodiscard]] byte_rope build_graph(const cut_plan& plan, weight_store* store) {
        byte_rope graph;
        for (auto node : plan.nodes) {
            const auto message = model_.message(node);
            if (names_.empty()) {
                graph.add_message(bytes(), at_graph::node, message.begin, message.size);
            } else {
                graph.add_field(at_graph::node, with_new_names(message));
            }
        }
        const auto& extras = extras_[plan.graph];
        for (const auto& [begin, end] : extras.fields) {
            graph.add_range(begin, end - begin);
        }
        const auto annotations = annotations_of(plan);
        auto initializers = plan.initializers;
        add_annotated(annotations, plan, initializers);
        for (auto value : initializers) {
            add_initializer(value, store, graph);
        }
        for (auto value : plan.inputs) {
            add_boundary(value, at_graph::input, graph);
        }
        if (model_.ir_version() < 4) {
            for (auto value : initializers) {
                add_initializer_input(value, graph);
            }
        }
        for (auto value : plan.outputs) {
            add_boundary(value, at_graph::output, graph);
        }
        add_value_infos(plan, graph);
        for (const auto* note : annotations) {
            graph.add_message(bytes(), at_graph::quantization_annotation, note->message.begin,
                              note->message.size);
        }
        return graph;
    }

    void add_boundary(id value, std::uint32_t field, byte_rope& graph) {
        const auto declared = types_.declaration(value);
        if (declared && names_.empty()) {
            graph.add_message(bytes(), field, declared->begin, declared->size);
            return;
        }
        std::string info;
        detail::append_field(at_info::name, name_of(value), info);
        if (const auto type = types_.type_of(value)) {
            detail::append_field(at_info::type, *type, info);
        }
        graph.add_field(field, info);
    }

    void add_initializer_input(id value, byte_rope& graph) {
        std::string info;
        detail::append_field(at_info::name, model_.value_name(value), info);
        const auto header = read_tensor_header(model_, model_.tensors()[tensor_of_[value]]);
        detail::append_field(at_info::type, tensor_type(header), info);
        graph.add_field(at_graph::input, info);
    }

    void add_value_infos(const cut_plan& plan, byte_rope& graph) const {
        for (auto node : plan.nodes) {
            for (id i = 0; i < model_.output_count(node); ++i) {
                const auto value = model_.first_output(node) + i;
                const auto declared = types_.declaration(value);
                if (declared && std::find(plan.outputs.begin(), plan.outputs.end(), value) ==
                                    plan.outputs.end()) {
                    graph.add_message(bytes(), at_graph::value_info, declared->begin,
                                      declared->size);
                }
            }
        }
    }

    [[nodiscard]] std::vector<const annotation*> annotations_of(const cut_plan& plan) const {
        std::vector<const annotation*> found;
        for (const auto& note : extras_[plan.graph].annotations) {
            const auto is_named = [&](id value) { return model_.value_name(value) == note.tensor; };
            bool here = std::any_of(plan.inputs.begin(), plan.inputs.end(), is_named) ||
                        std::any_of(plan.initializers.begin(), plan.initializers.end(), is_named);
            for (auto node : plan.nodes) {
                for (id i = 0; i < model_.output_count(node) && !here; ++i) {
                    here = is_named(model_.first_output(node) + i);
                }
            }
            if (here && names_.empty()) {
                found.push_back(&note);
            }
        }
        return found;
    }

    /// Adds the initializers that only an annotation speaks of.
    void add_annotated(const std::vector<const annotation*>& annotations, const cut_plan& plan,
                       std::vector<id>& initializers) const {
        for (const auto* note : annotations) {
            for (auto name : note->parameters) {
                for (auto value : model_.graph(plan.graph).initializers) {
                    if (model_.value_name(value) == name &&
                        std::find(initializers.begin(), initializers.end(), value) ==
                            initializers.end()) {
                        initializers.push_back(value);
                    }
                }
            }
        }
    }

    void add_initializer(id value, weight_store* store, byte_rope& graph) {
        const auto number = tensor_of_[value];
        const auto& tensor = model_.tensors()[number];
        if (tensor.sparse) {
            const auto& outer = model_.containers()[tensor.message.container];
            graph.add_message(bytes(), at_graph::sparse_initializer, outer.begin, outer.size);
            return;
        }
        if (store != nullptr) {
            if (const auto stored = stored_tensor(number, *store)) {
                graph.add_field(at_graph::initializer, *stored);
                return;
            }
        }
        graph.add_message(bytes(), at_graph::initializer, tensor.message.begin,
                          tensor.message.size);
    }

    /// Returns: the tensor with its data in the store, unless they are small, or not raw.
    [[nodiscard]] std::optional<byte_rope> stored_tensor(id number, weight_store& store) const {
        const auto& tensor = model_.tensors()[number];
        const auto header = read_tensor_header(model_, tensor);
        byte_rope kept;
        std::optional<weight_store::place> place;
        if (header.external) {
            place = store.add_external(number, header);
        }
        auto fields = model_.reader(tensor.message);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_tensor::raw_data)) {
                if (field.size() < store_from) {
                    return std::nullopt;
                }
                place = store.add_inline(number, field.content, field.size());
            } else if (field.number != at_tensor::external_data &&
                       field.number != at_tensor::data_location) {
                kept.add_range(field.begin, field.end - field.begin);
            }
        }
        if (!place) {
            return std::nullopt;
        }
        std::string entries;
        const auto add = [&](std::string_view key, std::string_view value) {
            wire_carrier_sink::append_entry(at_tensor::external_data, key, value, entries);
        };
        add("location", store.location());
        add("offset", std::to_string(place->offset));
        add("length", std::to_string(place->length));
        detail::append_varint(at_tensor::data_location << 3U, entries);
        detail::append_varint(1, entries); // EXTERNAL
        kept.add_text(entries);
        return kept;
    }

    /// Returns: a node, or a graph in one of its attributes, with other names for some values.
    [[nodiscard]] std::string with_new_names(message_ref node) const {
        using at_node = detail::onnx_fields::node;
        using at_attribute = detail::onnx_fields::attribute;
        std::string out;
        auto fields = model_.reader(node);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_node::input) || field.is_bytes(at_node::output)) {
                detail::append_field(field.number, new_name(fields.text(field)), out);
            } else if (field.is_bytes(at_node::attribute)) {
                std::string attribute;
                auto parts = fields.inner(field);
                for (wire_field part; parts.next(part);) {
                    if (part.is_bytes(at_attribute::g) || part.is_bytes(at_attribute::graphs)) {
                        detail::append_field(part.number, graph_with_new_names(parts, part),
                                             attribute);
                    } else {
                        attribute.append(bytes().substr(part.begin, part.end - part.begin));
                    }
                }
                detail::append_field(field.number, attribute, out);
            } else {
                out.append(bytes().substr(field.begin, field.end - field.begin));
            }
        }
        return out;
    }

    [[nodiscard]] std::string graph_with_new_names(const wire_reader& around,
                                                   const wire_field& where) const {
        std::string out;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                detail::append_field(field.number,
                                     with_new_names({field.content, field.size(), no_id}), out);
            } else if (field.is_bytes(at_graph::output)) {
                std::string info;
                auto parts = fields.inner(field);
                for (wire_field part; parts.next(part);) {
                    if (part.is_bytes(at_info::name)) {
                        detail::append_field(at_info::name, new_name(parts.text(part)), info);
                    } else {
                        info.append(bytes().substr(part.begin, part.end - part.begin));
                    }
                }
                detail::append_field(field.number, info, out);
            } else {
                out.append(bytes().substr(field.begin, field.end - field.begin));
            }
        }
        return out;
    }

    [[nodiscard]] std::string_view new_name(std::string_view name) const {
        const auto found = names_.find(name);
        return found == names_.end() ? name : std::string_view(found->second);
    }

    const wire_model& model_;
    value_types& types_;
    Policy policy_;
    std::vector<id> tensor_of_; // by value
    std::vector<graph_extras> extras_;
    std::optional<model_record> record_;
    std::map<std::string, std::string, std::less<>> names_; // of boundary values, where they change
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_CUT_MODEL_HPP
