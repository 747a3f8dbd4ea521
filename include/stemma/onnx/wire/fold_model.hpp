// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_FOLD_MODEL_HPP
#define STEMMA_ONNX_WIRE_FOLD_MODEL_HPP

#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/fold_constants.hpp>
#include <stemma/onnx/fold_plan.hpp>
#include <stemma/onnx/fold_record.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/plain_domain.hpp>
#include <stemma/onnx/region_classes.hpp>
#include <stemma/onnx/wire/byte_rope.hpp>
#include <stemma/onnx/wire/fold_attributes.hpp>
#include <stemma/onnx/wire/fold_changes.hpp>
#include <stemma/onnx/wire/fold_infos.hpp>
#include <stemma/onnx/wire/fold_names.hpp>
#include <stemma/onnx/wire/message_edits.hpp>
#include <stemma/onnx/wire/node_shapes.hpp>
#include <stemma/onnx/wire/opset_texts.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/carrier.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// The first IR version whose models may have functions.
inline constexpr std::int64_t first_version_with_functions = 8;

/// What goes along with a folded model, each part if it is there.
struct fold_notes {
    std::string_view modules{};     ///< a record of the module tree (`stemma.model/1`)
    std::string_view source_tags{}; ///< how the tagged source is made of the one without tags: a
                                    ///< `byte_patch` in base64
};

/// Writes a model in which modules are functions: everything outside of them as bytes of the
/// source, and a record from which `fold_opener` makes these bytes again.
///
/// `Modules` and tags say what calls are marked with.
template <module_view Modules>
class fold_writer {
public:
    /// Requires: all outlive the writer; the model carries no tags (see `strip_editor`), as they
    /// would be those of the first call. Complexity: O(nodes + names).
    fold_writer(const wire_model& model, const graph_contents& contents, const Modules& modules,
                const tag_table& tags, std::span<const attribution> attributions,
                const fold_plan& plan)
        : model_(model)
        , contents_(contents)
        , modules_(modules)
        , tags_(tags)
        , attributions_(attributions)
        , plan_(plan)
        , names_(model, contents, modules, plan)
        , attributes_(model, plan)
        , nodes_(contents.own_nodes(0)) {
        for (const auto& import : model.opset_imports()) {
            versions_[std::string(plain_domain(import.domain))] = import.version;
        }
    }

    /// Makes the bytes of the folded model.
    /// Throws: as `fold_changes` does.
    /// Complexity: O(bytes that are not weights).
    [[nodiscard]] byte_rope build(const fold_notes& notes = {}) {
        record_ = fold_changes(model_, plan_, names_, nodes_).take();
        const fold_infos infos(model_, plan_, nodes_);
        infos_ = &infos;
        byte_rope result;
        auto fields = model_.reader();
        bool has_version = false;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_model::graph)) {
                result.add_field(at_model::graph, graph_part(fields.inner(field)));
                ++part_;
            } else if (field.is(at_model::ir_version, wire_type::varint) && needs_lift()) {
                result.add_text(version_field());
                has_version = true;
            } else {
                result.add_range(field.begin, field.end - field.begin);
            }
        }
        if (needs_lift()) {
            record_.lifted = true;
            if (has_version) {
                record_.ir_version = model_.ir_version();
            } else {
                result.add_text(version_field());
            }
        }
        add_domains(result);
        for (id f = 0; f < plan_.functions.size(); ++f) {
            result.add_field(at_model::functions, function(f));
        }
        if (record_.layout.size() == 1) {
            record_.layout.clear(); // they stand where the first one stood
        }
        result.add_entry(at_model::metadata_props, fold_key, to_json(record_));
        if (!notes.modules.empty()) {
            result.add_entry(at_model::metadata_props, fold_modules_key, notes.modules);
        }
        if (!notes.source_tags.empty()) {
            result.add_entry(at_model::metadata_props, fold_source_tags_key, notes.source_tags);
        }
        return result;
    }

private:
    using at_model = detail::onnx_fields::model;
    using at_function = detail::onnx_fields::function;
    using at_graph = detail::onnx_fields::graph;
    using at_node = detail::onnx_fields::node;
    using at_info = detail::onnx_fields::value_info;

    [[nodiscard]] std::string_view bytes() const noexcept { return model_.bytes(); }

    [[nodiscard]] bool needs_lift() const {
        return model_.ir_version() < first_version_with_functions;
    }

    [[nodiscard]] static std::string version_field() {
        std::string field;
        detail::append_varint(at_model::ir_version << 3U, field);
        detail::append_varint(static_cast<std::uint64_t>(first_version_with_functions), field);
        return field;
    }

    void add_domains(byte_rope& out) {
        for (const auto& function : plan_.functions) {
            if (versions_.emplace(function.domain, 1).second) {
                out.add_field(at_model::opset_import, opset_import_text({function.domain, 1}));
                record_.domains.push_back(function.domain);
            }
            record_.functions.emplace_back(function.domain, function.numbered());
        }
    }

    /// A part of the main graph without its nodes; what is left of them stands where the first one
    /// was.
    [[nodiscard]] byte_rope graph_part(wire_reader fields) {
        byte_rope part;
        std::uint32_t others = 0;
        bool in_run = false;
        std::uint32_t placed = 0; // fields of the part, but for ValueInfos that are taken out
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_graph::value_info) && infos_->is_inside(fields.inner(field))) {
                take_out(placed, fields.whole(field));
                continue;
            }
            ++placed;
            if (!field.is_bytes(at_graph::node)) {
                part.add_range(field.begin, field.end - field.begin);
                ++others;
                in_run = false;
                continue;
            }
            if (record_.layout.empty()) {
                add_items(0, part);
            }
            if (!std::exchange(in_run, true)) {
                record_.layout.push_back({part_, others, 0});
            }
            ++record_.layout.back().nodes;
        }
        return part;
    }

    void take_out(std::uint32_t placed, std::string_view info) {
        auto& runs = record_.infos;
        if (runs.empty() || runs.back().part != part_ || runs.back().fields != placed) {
            runs.push_back({part_, placed, {}});
        }
        runs.back().bytes.append(info);
    }

    [[nodiscard]] byte_rope function(id f) {
        const auto& planned = plan_.functions[f];
        byte_rope out;
        out.add_field(at_function::name, planned.numbered());
        for (auto value : plan_.inputs[planned.region]) {
            out.add_field(at_function::input, names_.in_body(f, value));
        }
        for (auto value : plan_.outputs[planned.region]) {
            out.add_field(at_function::output, names_.in_body(f, value));
        }
        for (id slot = 0; slot < planned.attributes; ++slot) {
            out.add_field(at_function::attribute, fold_attributes::name_of(slot));
        }
        add_items(planned.region, out);
        std::set<std::string> domains;
        for (const auto& item : plan_.regions[planned.region].items) {
            if (item.is_region) {
                domains.insert(plan_.functions[plan_.function[item.index]].domain);
            } else {
                add_domains_of(nodes_[item.index], domains);
            }
        }
        for (const auto& domain : domains) {
            if (const auto known = versions_.find(domain); known != versions_.end()) {
                out.add_field(at_function::opset_import,
                              opset_import_text({domain, known->second}));
            }
        }
        out.add_field(at_function::domain, planned.domain);
        for (const auto& [value, type] : infos_->of_function(f)) {
            std::string info;
            detail::append_field(at_info::name, names_.in_body(f, value), info);
            detail::append_field(at_info::type, type, info);
            out.add_field(at_function::value_info, info);
        }
        return out;
    }

    void add_domains_of(id node, std::set<std::string>& domains) const {
        domains.emplace(plain_domain(model_.domain(node)));
        for (auto inside : contents_.inner_nodes(node)) {
            add_domains_of(inside, domains);
        }
    }

    /// Writes the items of a region: those of the main graph (0), or of the body of a function.
    void add_items(id region, byte_rope& out) const {
        constexpr std::uint32_t in_graph = at_graph::node;
        constexpr std::uint32_t in_function = at_function::node;
        std::size_t constants = 0; // opened so far
        for (const auto& item : plan_.regions[region].items) {
            if (item.is_region) {
                out.add_field(region == 0 ? in_graph : in_function,
                              call(region, item.index, constants));
                constants += plan_.functions[plan_.function[item.index]].slots.size();
            } else if (region == 0) {
                const auto message = model_.message(nodes_[item.index]);
                out.add_message(bytes(), in_graph, message.begin, message.size);
            } else {
                const auto node = nodes_[item.index];
                const bool counts = is_constant_node(model_, node);
                out.add_field(
                    in_function,
                    body_node(region, node, counts ? attributes_.slot(region, constants) : no_id));
                constants += counts ? 1U : 0U;
            }
        }
    }

    [[nodiscard]] byte_rope body_node(id region, id node, id slot) const {
        const auto f = plan_.function[region];
        byte_rope out;
        if (names_.keeps(f) && slot == no_id) {
            const auto message = model_.message(node);
            out.add_range(message.begin, message.size);
        } else {
            rename(f, node, slot, out);
        }
        const auto around = plan_.regions[region].module;
        const auto own = attributions_[node].module;
        if (own != around && modules_.index().is_ancestor(around, own)) {
            out.add_entry(at_node::metadata_props, fold_module_key,
                          relative_path(modules_, around, own));
        }
        return out;
    }

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

    /// The call of a region, in the main graph or in the body around.
    [[nodiscard]] byte_rope call(id around, id region, std::size_t constants) const {
        const auto& inside = plan_.regions[region];
        const auto& function = plan_.functions[plan_.function[region]];
        const auto name_of = [&](id value) {
            return around == 0 ? model_.value_name(value)
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
        if (around != 0) {
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

    const wire_model& model_;
    const graph_contents& contents_;
    const Modules& modules_;
    const tag_table& tags_;
    std::span<const attribution> attributions_;
    const fold_plan& plan_;
    fold_names names_;
    fold_attributes attributes_;
    std::span<const id> nodes_; // by position in the main graph
    std::map<std::string, std::int64_t> versions_;
    fold_record record_;
    const fold_infos* infos_ = nullptr; // while the model is made
    std::uint32_t part_ = 0;            // of the graph that is written
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FOLD_MODEL_HPP
