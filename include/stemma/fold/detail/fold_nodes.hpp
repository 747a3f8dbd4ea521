// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_NODES_HPP
#define STEMMA_FOLD_DETAIL_FOLD_NODES_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/fold_attributes.hpp>
#include <stemma/fold/detail/fold_constants.hpp>
#include <stemma/fold/detail/fold_names.hpp>
#include <stemma/fold/detail/region_classes.hpp>
#include <stemma/fold/fold_plan.hpp>
#include <stemma/fold/node_shapes.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/byte_rope.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace stemma {

/// Writes the nodes of a folded model: calls, and nodes as they stand in functions.
template <module_view Modules>
class fold_nodes {
public:
    /// Requires: all outlive it.
    fold_nodes(const wire_model& model, const Modules& modules, const tag_table& tags,
               std::span<const attribution> attributions, const fold_plan& plan,
               const fold_names& names)
        : model_(model)
        , modules_(modules)
        , tags_(tags)
        , attributions_(attributions)
        , plan_(plan)
        , names_(names)
        , attributes_(model, plan) {}

    /// Returns: the call of a region, in a graph or in the body around, in which so many Constants
    /// are opened in front of it.
    /// Complexity: O(inputs + outputs + constants).
    [[nodiscard]] byte_rope call(id around, id region, std::size_t constants) const {
        const auto& inside = plan_.regions[region];
        const auto& function = plan_.functions[plan_.function[region]];
        const auto name_of = [&](id value) {
            return plan_.is_graph(around) ? model_.value_name(value)
                                          : names_.in_body(plan_.function[around], value);
        };
        byte_rope out;
        for (auto value : plan_.inputs[region]) {
            out.add_field(at_node::input, name_of(value));
        }
        for (auto value : plan_.outputs[region]) {
            out.add_field(at_node::output, name_of(value));
        }
        auto name = plan_.paths[region];
        if (inside.call > 0) {
            name += "#" + std::to_string(inside.call);
        }
        if (inside.runs > 1) {
            name += "@" + std::to_string(inside.run);
        }
        out.add_field(at_node::name, name);
        out.add_field(at_node::op_type, function.numbered());
        attributes_.append(around, region, constants, out);
        out.add_field(at_node::domain, function.domain);
        out.add_entry(at_node::metadata_props, fold_module_key, plan_.paths[region]);
        auto tag = tags_.text(inside.module);
        if (plan_.regions[around].module != 0) {
            const auto above = tags_.text(plan_.regions[around].module);
            tag.erase(0, tag.starts_with(above) ? above.size() : 0);
        }
        if (!tag.empty()) {
            out.add_entry(at_node::metadata_props, fold_tag_key, tag);
        }
        out.add_entry(at_node::metadata_props, fold_call_key, std::to_string(inside.call));
        if (inside.runs > 1) {
            out.add_entry(at_node::metadata_props, fold_run_key, std::to_string(inside.run));
        }
        if (!names_.call_scope(region).empty()) {
            out.add_entry(at_node::metadata_props, fold_scope_key, names_.call_scope(region));
        }
        return out;
    }

    /// Returns: a node in the function of a region, in which so many Constants are opened in front
    /// of it. Requires: no body of the node has calls.
    [[nodiscard]] byte_rope in_body(id region, id node, std::size_t constants) const {
        const auto f = plan_.function[region];
        const auto slot =
            is_constant_node(model_, node) ? attributes_.slot(region, constants) : no_id;
        byte_rope out;
        if (names_.keeps(f) && slot == no_id) {
            const auto message = model_.message(node);
            out.add_range(message.begin, message.size);
        } else {
            rename(f, node, slot, out);
        }
        add_module(region, node, out);
        return out;
    }

    /// Appends to a node which module it is of, where that is another one than that of its region.
    void add_module(id region, id node, byte_rope& out) const {
        const auto around = plan_.regions[region].module;
        const auto own = attributions_[node].module;
        if (own != around && modules_.index().is_ancestor(around, own)) {
            out.add_entry(at_node::metadata_props, fold_module_key,
                          relative_path(modules_, around, own));
        }
    }

private:
    using at_node = detail::onnx_fields::node;

    void rename(id f, id node, id slot, byte_rope& out) const {
        auto fields = model_.reader(model_.message(node));
        const auto inputs = model_.inputs(node);
        std::size_t input = 0;
        id output = 0;
        for (wire_field field; fields.next(field);) {
            switch (text_kind(field)) {
            case node_text::input: {
                const auto value = inputs[input++];
                out.add_field(at_node::input,
                              value == no_id ? std::string_view() : names_.in_body(f, value));
                break;
            }
            case node_text::output:
                out.add_field(at_node::output,
                              names_.in_body(f, model_.first_output(node) + output++));
                break;
            case node_text::name:
                out.add_field(at_node::name, names_.in_body(f, fields.text(field)));
                break;
            default:
                if (slot != no_id && field.is_bytes(at_node::attribute)) {
                    out.add_field(at_node::attribute,
                                  fold_attributes::refer(fields.inner(field), slot));
                    break;
                }
                out.add_range(field.begin, field.end - field.begin);
                break;
            }
        }
    }

    const wire_model& model_;
    const Modules& modules_;
    const tag_table& tags_;
    std::span<const attribution> attributions_;
    const fold_plan& plan_;
    const fold_names& names_;
    fold_attributes attributes_;
};

} // namespace stemma

#endif // STEMMA_FOLD_DETAIL_FOLD_NODES_HPP
