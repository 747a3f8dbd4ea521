// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_OPENED_CALLS_HPP
#define STEMMA_FOLD_DETAIL_OPENED_CALLS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/fold/detail/folded_functions.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/values_read.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

inline void check_fold(bool fits, const wire_model& model) {
    if (!fits) {
        STEMMA_THROW(error(error_code::contradiction, model.file(), "",
                           "changed since it was folded, so the original cannot be restored"));
    }
}

/// The attributes passed by a call.
class call_attributes {
public:
    /// Reads those of a node. References to attributes of the enclosing function are resolved in
    /// `around`. Returns: whether all of these exist.
    /// Complexity: O(fields).
    bool read(const wire_model& model, id call, const call_attributes* around) {
        auto fields = model.reader(model.message(call));
        for (wire_field field; fields.next(field);) {
            if (!field.is_bytes(onnx_fields::node::attribute)) {
                continue;
            }
            const auto names = read_attribute_names(fields.inner(field));
            if (around == nullptr || names.reference.empty()) {
                by_name_.emplace(names.name, field);
                continue;
            }
            const auto outer = around->by_name_.find(names.reference);
            if (outer == around->by_name_.end()) {
                return false;
            }
            by_name_.emplace(names.name, outer->second);
        }
        return true;
    }

    /// Replaces a reference `field` to an attribute of the call by its value. Returns: whether
    /// `field` is one. Requires: `model` is the one that was read. Complexity: O(fields).
    bool put(const wire_model& model, edited_field& field, message_tree& node) const {
        if (by_name_.empty() || !field.is_bytes(onnx_fields::node::attribute)) {
            return false;
        }
        const auto names = read_attribute_names(field.inner());
        const auto argument = by_name_.find(names.reference);
        if (names.reference.empty() || argument == by_name_.end()) {
            return false;
        }
        append_renamed_attribute(node, model.reader().inner(argument->second), names.name);
        field.erase();
        return true;
    }

private:
    std::map<std::string_view, wire_field> by_name_;
};

/// The remaining budget for inlining: bounds hostile files.
struct opening_budget {
    std::uint64_t bytes = std::uint64_t{1} << 31U; ///< of created nodes and inlined calls
    std::size_t depth = 1000;                      ///< nested calls; folding nests less deeply
    std::size_t bodies = 33;                       ///< nested bodies, as in a `wire_model`
};

/// The nodes of a graph before folding, in inlining order.
class opened_calls {
public:
    /// Returns the original message of a changed node (see `folded_functions`), except for names
    /// captured by its bodies.
    using body_opener = std::function<const message_tree&(id node)>;

    /// `graph` is the main graph or a body with its `record`.
    /// Requires: all outlive it; the model carries no tags (see `strip_editor`).
    /// Throws: `error` of `error_code::contradiction` if the record does not match the model; of
    /// `too_large` if the nodes alone would reach 2 GiB.
    /// Complexity: O(bytes of created nodes and inlined calls).
    opened_calls(const wire_model& model, const graph_contents& contents,
                 const folded_functions& functions, const folded_graph_record& record, id graph,
                 opening_budget& budget, const body_opener& bodies)
        : model_(model)
        , contents_(contents)
        , functions_(functions)
        , record_(record)
        , budget_(budget)
        , bodies_(bodies) {
        for (auto node : contents_.own_nodes(graph)) {
            if (functions_.is_call(node)) {
                open_call(node, nullptr);
            } else if (functions_.changed(node)) {
                make(node, [&] { result_.append(at_graph::node, bodies_(node)); });
            } else {
                make(node, [] {});
            }
        }
        check(opened_.size() == record_.nodes && next_change_ == record_.changes.size());
    }

    /// Returns: the original number of nodes.
    [[nodiscard]] std::size_t size() const noexcept { return opened_.size(); }

    /// Appends original node `i` to a graph.
    void append(std::size_t i, message_tree& graph) const {
        const auto& node = opened_[i];
        if (node.pieces > 0) {
            graph.append(result_, node.first, node.pieces);
        } else {
            const auto message = model_.message(node.number);
            graph.append_message(model_.bytes(), at_graph::node, message.begin, message.size);
        }
    }

private:
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;

    /// A function at one call.
    struct frame {
        id function = no_id;
        std::string scope;
        std::vector<std::string> names; // by local number of a value; "" if not yet known
        detail::call_attributes attributes{};
    };

    /// A node of the original model.
    struct opened_node {
        std::size_t first = 0; // piece of `result_`
        id pieces = 0;         // there; none if the node is as in the file
        id number = 0;         // in the file
    };

    void check(bool fits) const { detail::check_fold(fits, model_); }

    /// Adds a node; `append()` appends it to `result_` unless it is as in the file.
    template <class Function>
    void make(id node, Function append) {
        const auto first = result_.seal();
        const auto size = result_.size();
        append();
        const auto pieces = result_.seal() - first;
        check(opened_.size() < record_.nodes);
        spend(sizeof(opened_node) + // nodes may be empty
              (pieces > 0 ? result_.size() - size : model_.message(node).size));
        opened_.push_back({first, static_cast<id>(pieces), node});
    }

    void spend(std::uint64_t bytes) {
        if (bytes >= budget_.bytes) {
            STEMMA_THROW(error(error_code::too_large, model_.file(), "",
                               "the result would reach protobuf's limit of 2 GiB"));
        }
        budget_.bytes -= bytes;
    }

    [[nodiscard]] std::string name_of(id value, const frame* around) const {
        return std::string(around == nullptr || functions_.local(value) == no_id
                               ? model_.value_name(value)
                               : std::string_view(around->names[functions_.local(value)]));
    }

    /// Inlines a call in the graph, or in a function being inlined.
    void open_call(id call, frame* around) {
        const auto f = model_.callee(call);
        check(budget_.depth > 0 && open_.insert(f).second);
        spend(model_.message(call).size);
        --budget_.depth;
        const auto opened_before = opened_.size();
        frame inside;
        inside.function = f;
        inside.names.resize(functions_.value_count(f));
        inside.scope = around == nullptr ? std::string() : around->scope;
        model_.for_each_metadata(call, [&](std::string_view key, std::string_view value) {
            if (key == fold_scope_key) {
                inside.scope.append(value);
            }
        });
        const auto* outer = around == nullptr ? nullptr : &around->attributes;
        check(inside.attributes.read(model_, call, outer));
        const auto& graph = model_.graph(model_.functions()[f].graph);
        const auto inputs = model_.inputs(call);
        check(inputs.size() == graph.inputs.size() &&
              model_.output_count(call) == graph.outputs.size());
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            check(inputs[i] != no_id && graph.inputs[i] != no_id);
            inside.names[functions_.local(graph.inputs[i])] = name_of(inputs[i], around);
            check(!inside.names[functions_.local(graph.inputs[i])].empty());
        }
        for (id i = 0; i < graph.outputs.size(); ++i) {
            check(graph.outputs[i] != no_id && functions_.local(graph.outputs[i]) != no_id);
            auto& name = inside.names[functions_.local(graph.outputs[i])];
            check(name.empty());
            name = name_of(model_.first_output(call) + i, around);
        }
        for (auto node : contents_.own_nodes(model_.functions()[f].graph)) {
            if (functions_.is_call(node)) {
                open_call(node, &inside);
            } else {
                make(node, [&] { append_node(node, inside); });
            }
        }
        for (id i = 0; around != nullptr && i < graph.outputs.size(); ++i) {
            around->names[functions_.local(model_.first_output(call) + i)] =
                inside.names[functions_.local(graph.outputs[i])];
        }
        check(opened_.size() > opened_before); // folding makes no empty functions
        ++budget_.depth;
        open_.erase(f);
    }

    /// Appends the original node for one in a function body to `result_`, if it differs.
    void append_node(id node, frame& around) {
        const auto captured = captured_names(node, around);
        const auto inputs = model_.inputs(node);
        std::size_t input = 0;
        id output = 0;
        std::uint32_t slot = 0;
        const auto restore = [&](edited_field& field) {
            switch (text_kind(field)) {
            case node_text::none:
                if (!around.attributes.put(model_, field, result_) && !captured.empty()) {
                    detail::rename_values(field, detail::names_in::node, captured);
                }
                break;
            case node_text::input: {
                const auto value = inputs[input++];
                const auto name = value == no_id ? std::string() : name_of(value, &around);
                check(value == no_id || !name.empty());
                field.set(name);
                break;
            }
            case node_text::output: {
                auto& name = around.names[functions_.local(model_.first_output(node) + output++)];
                if (name.empty()) {
                    name = restored(slot, field.text(), around.scope);
                }
                field.set(name);
                ++slot;
                break;
            }
            case node_text::name:
                field.set(restored(slot++, field.text(), around.scope));
                break;
            case node_text::note:
                restore_note(field, slot);
                break;
            }
        };
        if (!functions_.changed_inside(node)) {
            result_.append_edited(at_graph::node, model_.reader(model_.message(node)), restore);
            return;
        }
        const auto& bodies = bodies_(node);
        const auto text = bodies.text(model_.bytes());
        const wire_reader fields(text.data(), 0, static_cast<std::uint32_t>(text.size()),
                                 model_.file());
        if (!result_.append_edited(at_graph::node, fields, restore, message_tree::in_memory)) {
            result_.append(at_graph::node, bodies);
        }
    }

    void restore_note(edited_field& field, std::uint32_t& slot) {
        const bool is_entry = field.is_bytes(at_node::metadata_props);
        if (is_entry && is_fold_entry(wire_model::read_entry(field.around(), field).first)) {
            field.erase();
            return;
        }
        const auto text = text_of(field.around(), field);
        const auto actual = restored(slot++, text, {});
        if (!is_entry) {
            field.set(actual);
        } else if (actual != text) {
            field.edit([&](edited_field& part) {
                if (part.is_bytes(detail::onnx_fields::entry::value)) {
                    part.set(actual);
                }
            });
        }
    }

    /// Returns: an original text of the node being restored.
    [[nodiscard]] std::string restored(std::uint32_t slot, std::string_view text,
                                       std::string_view scope) {
        std::string expected(text);
        if (!expected.empty()) {
            expected.insert(0, scope);
        }
        if (next_change_ < record_.changes.size()) {
            const auto& change = record_.changes[next_change_];
            if (change.node == opened_.size() && change.slot == slot) {
                ++next_change_;
                auto changed = apply_change(change, expected);
                check(changed.has_value());
                return std::move(*changed);
            }
        }
        return expected;
    }

    /// Returns: new names for values captured by the bodies of a node.
    [[nodiscard]] detail::new_names captured_names(id node, const frame& around) const {
        detail::new_names names;
        if (contents_.bodies_of(node).empty()) {
            return names;
        }
        const auto read = values_read(model_, contents_, node);
        for (auto i = model_.inputs(node).size(); i < read.size(); ++i) {
            auto actual = name_of(read[i], &around);
            check(!actual.empty());
            if (actual != model_.value_name(read[i])) {
                names.add(model_.value_name(read[i]), std::move(actual));
            }
        }
        return names;
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const folded_functions& functions_;
    const folded_graph_record& record_;
    opening_budget& budget_;
    const body_opener& bodies_;
    std::unordered_set<id> open_; // functions with a call being inlined
    std::vector<opened_node> opened_;
    message_tree result_;
    std::size_t next_change_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_OPENED_CALLS_HPP
