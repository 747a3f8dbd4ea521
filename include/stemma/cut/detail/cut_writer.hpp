// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CUT_DETAIL_CUT_WRITER_HPP
#define STEMMA_CUT_DETAIL_CUT_WRITER_HPP

#include <stemma/core/id.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/cut_plan.hpp>
#include <stemma/cut/detail/part_records.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/for_each_tensor.hpp>
#include <stemma/onnx/detail/graph_extras.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/structure_digest.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/record/detail/recorded_tags.hpp>
#include <stemma/record/detail/tag_model.hpp>
#include <stemma/types/value_types.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The metadata key of a part's origin.
inline constexpr std::string_view cut_key = "pkg.stemma.cut";

/// Writes parts of a model as models: nodes, weights and everything else as bytes of the source, in
/// the same order; only inputs and outputs are new. Copies share lookup tables; each thread can
/// build with its own copy.
template <cut_policy Policy = standard_cut>
class cut_writer {
public:
    /// Requires: all outlive the writer. Complexity: O(nodes + values + graphs).
    cut_writer(const wire_model& model, const graph_contents& contents, const value_types& types,
               Policy policy = {})
        : model_(model)
        , contents_(contents)
        , types_(types)
        , policy_(std::move(policy))
        , tables_(std::make_shared<const tables>(model)) {
        if (auto record = find_readable_record(model, model_key)) {
            records_ = std::make_shared<const part_records>(model, *std::move(record));
            digester_.emplace(model);
        }
    }

    /// Assigns the weights of a part to places in a store, so that parts can be built afterwards in
    /// any order. Complexity: O(fields of initializers), and of nodes with external data.
    void place_weights(const cut_plan& plan, weight_store& store) const {
        const auto& extras = tables_->extras[plan.graph];
        for (auto value : with_annotated(plan.initializers, annotations_of(plan, extras), extras)) {
            const auto number = tables_->tensor_of[value];
            const auto& tensor = model_.tensors()[number];
            if (!tensor.sparse) {
                place_in_store(model_, number, store);
            } else if (store.takes_files()) {
                store.add_files_of(model_.reader_of(model_.containers()[tensor.message.container]),
                                   tensors_in::sparse_tensor);
            }
        }
        if (!store.takes_files()) {
            return;
        }
        for (auto node : plan.nodes) {
            store.add_files_of(model_.reader(model_.message(node)), tensors_in::node);
        }
        for (const auto& container : model_.containers()) {
            const auto f = tables_->function_at.find(container.begin);
            if (f != tables_->function_at.end() &&
                std::binary_search(plan.functions.begin(), plan.functions.end(), f->second)) {
                store.add_files_of(model_.reader_of(container), tensors_in::function);
            }
        }
    }

    /// Builds a part.
    ///  `origin` is the value of the metadata entry `key`. Weights of at least a kibibyte go to
    /// `store`, if given; else they stay in the model or in external files. Requires: no refusal in
    /// the plan, and every boundary value has a type. Complexity: O(bytes without weights).
    [[nodiscard]] message_tree build(const cut_plan& plan, std::string_view origin,
                                     weight_store* store = nullptr,
                                     std::string_view key = cut_key) {
        rename(plan);
        message_tree result;
        bool graph_written = false;
        result.edit(model_.reader(), [&](edited_field& field) {
            if (!field.is_bytes(at_model::graph)) {
                erase_foreign(plan, field);
            } else if (std::exchange(graph_written, true)) {
                field.erase();
            } else {
                field.replace([&] { build_graph(plan, store, result); });
            }
        });
        add_function_opsets(plan, result);
        result.append_entry(at_model::metadata_props, key, origin);
        if (records_) {
            append_record(plan, result);
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_function = detail::onnx_fields::function;
    using at_graph = detail::onnx_fields::graph;
    using at_info = detail::onnx_fields::value_info;

    /// Lookup tables of the model.
    struct tables {
        explicit tables(const wire_model& model)
            : tensor_of(model.value_count(), no_id), extras(read_graph_extras(model)) {
            const auto tensors = model.tensors();
            for (id i = 0; i < tensors.size(); ++i) {
                tensor_of[tensors[i].value] = i;
            }
            for (const auto& container : model.containers()) {
                const auto& graph = model.graph(container.graph);
                if (container.parent == no_id && container.owner == no_id) {
                    roots.emplace(container.begin, container.graph);
                    if (graph.kind == graph_kind::function) {
                        function_at.emplace(container.begin, graph.function);
                    }
                }
            }
        }

        std::vector<id> tensor_of; // by value
        std::vector<graph_extras> extras;
        std::map<std::uint32_t, id> roots;                 // graphs in the model, by position
        std::unordered_map<std::uint32_t, id> function_at; // by position
    };

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    [[nodiscard]] bool is_in_function(const cut_plan& plan) const {
        return model_.graph(contents_.root(plan.graph)).kind == graph_kind::function;
    }

    /// Omits fields that do not belong to a part.
    void erase_foreign(const cut_plan& plan, edited_field& field) const {
        bool goes_along = !field.is_bytes(at_model::training_info);
        if (field.is_bytes(at_model::functions)) {
            const auto f = tables_->function_at.find(field.content);
            goes_along =
                f != tables_->function_at.end() &&
                std::binary_search(plan.functions.begin(), plan.functions.end(), f->second);
        } else if (field.is_bytes(at_model::metadata_props)) {
            const auto entry = wire_model::read_entry(field.around(), field);
            goes_along = !entry.first.starts_with(key_prefix);
        }
        if (!goes_along) {
            field.erase();
        }
    }

    /// In a function, operators have the versions it imports. For duplicate imports of a domain the
    /// last one counts.
    void add_function_opsets(const cut_plan& plan, message_tree& out) const {
        if (!is_in_function(plan)) {
            return;
        }
        for (const auto& container : model_.containers()) {
            if (container.graph != contents_.root(plan.graph) || container.parent != no_id ||
                container.owner != no_id) {
                continue;
            }
            auto fields = model_.reader_of(container);
            for (wire_field field; fields.next(field);) {
                if (field.is_bytes(at_function::opset_import)) {
                    out.append(at_model::opset_import, fields.text(field));
                }
            }
        }
    }

    /// Appends the record of a tagged model for the nodes of a part, in reading order, and its
    /// table of tags, if the model has one.
    void append_record(const cut_plan& plan, message_tree& out) {
        std::vector<id> nodes;
        const auto append = [&](auto& self, id node) -> void {
            for (auto inside : contents_.inner_nodes(node)) {
                self(self, inside);
            }
            nodes.push_back(node);
        };
        bool graph_done = false;
        for (const auto& [begin, g] : tables_->roots) {
            if (model_.graph(g).kind == graph_kind::main) {
                if (!std::exchange(graph_done, true)) {
                    for (auto node : plan.nodes) {
                        append(append, node);
                    }
                }
            } else if (std::binary_search(plan.functions.begin(), plan.functions.end(),
                                          model_.graph(g).function)) {
                const auto inside = contents_.nodes(g);
                nodes.insert(nodes.end(), inside.begin(), inside.end());
            }
        }
        auto [record, table] = records_->of(nodes, plan.initializers);
        record.digest = (*digester_)(nodes);
        out.append_entry(at_model::metadata_props, model_key, to_json(record, record.modules));
        if (table) {
            out.append_entry(at_model::metadata_props, tag_table_key, to_json(*table));
        }
    }

    void rename(const cut_plan& plan) {
        renaming_ = {};
        for (const auto* values : {&plan.inputs, &plan.outputs}) {
            for (auto value : *values) {
                const auto name = model_.value_name(value);
                auto other = policy_.boundary_name(name);
                if (other != name) {
                    renaming_.add(name, std::move(other));
                }
            }
        }
    }

    void build_graph(const cut_plan& plan, weight_store* store, message_tree& graph) {
        for (auto node : plan.nodes) {
            add_message(at_graph::node, model_.message(node), graph);
        }
        const auto& extras = tables_->extras[plan.graph];
        for (const auto& [begin, end] : extras.fields) {
            graph.add_range(begin, end - begin);
        }
        if (is_in_function(plan) && extras.fields.empty()) {
            const auto& function = model_.graph(contents_.root(plan.graph)).function;
            graph.append(at_graph::name, model_.text(model_.functions()[function].name));
        }
        const auto notes = annotations_of(plan, extras);
        const auto initializers = with_annotated(plan.initializers, notes, extras);
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
        for (const auto* note : notes) {
            add_message(at_graph::quantization_annotation, note->message, graph);
        }
    }

    /// Appends a message to a graph, with renaming.
    void add_message(std::uint32_t field, message_ref message, message_tree& graph) const {
        if (renaming_.empty()) {
            graph.append_message(bytes(), field, message.begin, message.size);
            return;
        }
        graph.append(field, [&] {
            const auto kind = detail::names_of_field(detail::names_in::graph, field);
            detail::append_renamed(graph, model_.reader(message), kind, renaming_);
        });
    }

    void add_boundary(id value, std::uint32_t field, message_tree& graph) {
        if (const auto declared = types_.declaration(value)) {
            add_message(field, *declared, graph);
            return;
        }
        std::string info;
        detail::append_field(at_info::name, renaming_(model_.value_name(value)), info);
        if (const auto type = types_.type_of(value)) {
            detail::append_field(at_info::type, *type, info);
        }
        graph.append(field, info);
    }

    void add_initializer_input(id value, message_tree& graph) {
        std::string info;
        detail::append_field(at_info::name, model_.value_name(value), info);
        const auto header = read_value_header(model_, model_.tensors()[tables_->tensor_of[value]]);
        detail::append_field(at_info::type, tensor_type(header), info);
        graph.append(at_graph::input, info);
    }

    void add_value_infos(const cut_plan& plan, message_tree& graph) const {
        const std::unordered_set<id> outputs(plan.outputs.begin(), plan.outputs.end());
        for_each_output(plan, [&](id value) {
            const auto declared = types_.declaration(value);
            if (declared && !outputs.contains(value)) {
                graph.append_message(bytes(), at_graph::value_info, declared->begin,
                                     declared->size);
            }
        });
    }

    template <class Function>
    void for_each_output(const cut_plan& plan, Function f) const {
        for (auto node : plan.nodes) {
            for (auto value : model_.outputs(node)) {
                f(value);
            }
        }
    }

    [[nodiscard]] std::vector<const tensor_annotation*>
    annotations_of(const cut_plan& plan, const graph_extras& extras) const {
        std::vector<const tensor_annotation*> result;
        if (extras.annotations.empty()) {
            return result;
        }
        const auto look = [&](id value) {
            const auto note = extras.annotations.find(model_.value_name(value));
            if (note != extras.annotations.end()) {
                result.push_back(&note->second);
            }
        };
        std::for_each(plan.inputs.begin(), plan.inputs.end(), look);
        std::for_each(plan.initializers.begin(), plan.initializers.end(), look);
        for_each_output(plan, look);
        return result;
    }

    /// Returns: these initializers, and those mentioned only in an annotation.
    [[nodiscard]] static std::vector<id>
    with_annotated(std::vector<id> initializers, std::span<const tensor_annotation* const> notes,
                   const graph_extras& extras) {
        std::unordered_set<id> listed(initializers.begin(), initializers.end());
        for (const auto* note : notes) {
            for (auto name : note->parameters) {
                const auto value = extras.initializers.find(name);
                if (value != extras.initializers.end() && listed.insert(value->second).second) {
                    initializers.push_back(value->second);
                }
            }
        }
        return initializers;
    }

    void add_initializer(id value, weight_store* store, message_tree& graph) {
        const auto number = tables_->tensor_of[value];
        const auto& tensor = model_.tensors()[number];
        if (tensor.sparse) {
            const auto& outer = model_.containers()[tensor.message.container];
            graph.append_message(bytes(), at_graph::sparse_initializer, outer.begin, outer.size);
            return;
        }
        if (store == nullptr ||
            !append_stored(model_, number, renaming_(model_.value_name(value)), *store, graph)) {
            add_message(at_graph::initializer, tensor.message, graph);
        }
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const value_types& types_;
    Policy policy_;
    std::shared_ptr<const tables> tables_;
    std::shared_ptr<const part_records> records_;
    std::optional<structure_digester> digester_;
    detail::new_names renaming_; // of values at the boundary
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CUT_DETAIL_CUT_WRITER_HPP
