// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_NODES_HPP
#define STEMMA_FOLD_DETAIL_FOLD_NODES_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_names.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/region_classes.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Writes the nodes of a folded model: calls, and nodes in functions.
template <module_view Modules>
class fold_nodes {
public:
    /// Requires: all outlive it. Complexity: O(nodes + length of names).
    fold_nodes(const wire_model& model, const Modules& modules, const tag_table& tags,
               std::span<const attribution> attributions, const fold_plan& plan,
               const fold_names& names)
        : model_(model)
        , modules_(modules)
        , tags_(tags)
        , attributions_(attributions)
        , plan_(plan)
        , names_(names) {
        rename_calls();
    }

    /// Returns: the name of a function's attribute for a varying Constant.
    [[nodiscard]] static std::string attribute_name(id slot) {
        return "constant_" + std::to_string(slot);
    }

    /// Appends the call of a region to a node; `before` Constants are inlined before it in the
    /// enclosing graph or body.
    /// Complexity: O(inputs + outputs + constants).
    void call(id around, id region, std::size_t constants, message_tree& out) const {
        const auto& inside = plan_.regions[region];
        const auto& function = plan_.functions[plan_.function[region]];
        const auto name_of = [&](id value) {
            return plan_.is_graph(around) ? model_.value_name(value)
                                          : names_.in_body(plan_.function[around], value);
        };
        for (auto value : plan_.inputs[region]) {
            out.append(at_node::input, name_of(value));
        }
        for (auto value : plan_.outputs[region]) {
            out.append(at_node::output, name_of(value));
        }
        const auto name = call_name(region);
        const auto renamed = renamed_.find(name);
        out.append(at_node::name, renamed == renamed_.end() ? name : renamed->second);
        out.append(at_node::op_type, function.numbered());
        append_attributes(around, region, constants, out);
        out.append(at_node::domain, function.domain);
        out.append_entry(at_node::metadata_props, fold_module_key, plan_.paths[region]);
        auto tag = tags_.text(inside.module);
        if (plan_.regions[around].module != 0) {
            const auto above = tags_.text(plan_.regions[around].module);
            tag.erase(0, tag.starts_with(above) ? above.size() : 0);
        }
        if (!tag.empty()) {
            out.append_entry(at_node::metadata_props, fold_tag_key, tag);
        }
        out.append_entry(at_node::metadata_props, fold_call_key, std::to_string(inside.call));
        if (inside.runs > 1) {
            out.append_entry(at_node::metadata_props, fold_run_key, std::to_string(inside.run));
        }
        if (!names_.call_scope(region).empty()) {
            out.append_entry(at_node::metadata_props, fold_scope_key, names_.call_scope(region));
        }
    }

    /// Appends the fields of a node in the function of a region; `before` Constants are inlined
    /// before it. Requires: no body of the node has calls. Complexity: O(fields).
    void in_body(id region, id node, std::size_t constants, message_tree& out) const {
        const auto f = plan_.function[region];
        const auto own = is_constant_node(model_, node) ? slot(region, constants) : no_id;
        if (names_.keeps(f) && own == no_id) {
            const auto message = model_.message(node);
            out.add_range(message.begin, message.size);
        } else {
            rename(f, node, own, out);
        }
        add_module(region, node, out);
    }

    /// Appends a node's module, if it differs from that of its region.
    void add_module(id region, id node, message_tree& out) const {
        const auto around = plan_.regions[region].module;
        const auto own = attributions_[node].module;
        if (own != around && modules_.index().is_ancestor(around, own)) {
            out.append_entry(at_node::metadata_props, fold_module_key,
                             relative_path(modules_, around, own));
        }
    }

private:
    using at_node = detail::onnx_fields::node;

    /// Returns: the path of a region's module, with the number of the call and of the run if there
    /// are several.
    [[nodiscard]] std::string call_name(id region) const {
        const auto& inside = plan_.regions[region];
        auto name = plan_.paths[region];
        if (inside.call > 0) {
            name += "#" + std::to_string(inside.call);
        }
        if (inside.runs > 1) {
            name += "@" + std::to_string(inside.run);
        }
        return name;
    }

    /// Finds other names for calls that are named like a node: runtimes reject two nodes with one
    /// name in a graph.
    void rename_calls() {
        std::vector<std::string> calls;
        for (id r = 0; r < plan_.regions.size(); ++r) {
            if (!plan_.is_graph(r)) {
                calls.push_back(call_name(r));
            }
        }
        std::unordered_set<std::string_view> taken(calls.begin(), calls.end());
        for (id node = 0; node < model_.node_count(); ++node) {
            if (taken.contains(model_.name(node))) {
                renamed_.emplace(model_.name(node), "");
            }
        }
        for (id node = 0; node < model_.node_count() && !renamed_.empty(); ++node) {
            taken.insert(model_.name(node));
        }
        for (auto& [name, other] : renamed_) {
            other = name;
            do {
                other += '_';
            } while (taken.contains(other));
            taken.insert(other);
        }
    }

    /// Returns: the attribute of a region's function for a Constant given in inlining order;
    /// `no_id` if it does not vary.
    [[nodiscard]] id slot(id region, std::size_t constant) const {
        if (plan_.is_graph(region)) {
            return no_id;
        }
        const auto& slots = plan_.functions[plan_.function[region]].slots;
        return constant < slots.size() ? slots[constant] : no_id;
    }

    /// Appends the attributes of the call of a region: values of its Constants, or references to
    /// attributes of the enclosing function, in which `before` Constants are inlined before the
    /// call.
    void append_attributes(id around, id region, std::size_t before, message_tree& out) const {
        const auto& slots = plan_.functions[plan_.function[region]].slots;
        for (std::size_t i = 0; i < slots.size(); ++i) {
            if (slots[i] == no_id) {
                continue;
            }
            const auto outer = slot(around, before + i);
            const auto name = attribute_name(slots[i]);
            auto fields = model_.reader(model_.message(plan_.constants[region][i]));
            for (wire_field field; fields.next(field);) {
                if (!field.is_bytes(at_node::attribute)) {
                    continue;
                }
                if (outer == no_id) {
                    detail::append_renamed_attribute(out, fields.inner(field), name);
                } else {
                    detail::append_attribute_reference(out, fields.inner(field), name,
                                                       attribute_name(outer));
                }
            }
        }
    }

    void rename(id f, id node, id own_slot, message_tree& out) const {
        const auto inputs = model_.inputs(node);
        std::size_t input = 0;
        id output = 0;
        out.edit(model_.reader(model_.message(node)), [&](edited_field& field) {
            switch (text_kind(field)) {
            case node_text::input: {
                const auto value = inputs[input++];
                field.set(value == no_id ? std::string_view() : names_.in_body(f, value));
                break;
            }
            case node_text::output:
                field.set(names_.in_body(f, model_.first_output(node) + output++));
                break;
            case node_text::name:
                field.set(names_.in_body(f, field.text()));
                break;
            default:
                if (own_slot != no_id && field.is_bytes(at_node::attribute)) {
                    const auto name = detail::read_attribute_names(field.inner()).name;
                    detail::append_attribute_reference(out, field.inner(), name,
                                                       attribute_name(own_slot));
                    field.erase();
                }
                break;
            }
        });
    }

    const wire_model& model_;
    const Modules& modules_;
    const tag_table& tags_;
    std::span<const attribution> attributions_;
    const fold_plan& plan_;
    const fold_names& names_;
    std::map<std::string, std::string> renamed_; // by call name
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_NODES_HPP
