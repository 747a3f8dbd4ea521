// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FOLD_WRITER_HPP
#define STEMMA_FOLD_DETAIL_FOLD_WRITER_HPP

#include <stemma/core/id.hpp>
#include <stemma/fold/detail/edit_bodies.hpp>
#include <stemma/fold/detail/fold_changes.hpp>
#include <stemma/fold/detail/fold_infos.hpp>
#include <stemma/fold/detail/fold_names.hpp>
#include <stemma/fold/detail/fold_nodes.hpp>
#include <stemma/fold/detail/fold_plan.hpp>
#include <stemma/fold/detail/fold_record.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/onnx/carrier.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The first IR version with functions.
inline constexpr std::int64_t first_version_with_functions = 8;

/// Optional data stored with a folded model.
struct fold_notes {
    std::string_view modules{}; ///< a record of the module tree (`stemma.model/1`)
    std::string_view source{};  ///< how the source is made of what was folded: a `byte_patch` in
                                ///< base64
    bool was_tagged = false;    ///< whether that adds tags
};

/// Writes a model in which modules are functions: everything else as bytes of the source, plus a
/// record from which `fold_opener` restores these bytes.
///  `Modules` and tags provide the marks of calls.
template <module_view Modules>
class fold_writer {
public:
    /// Requires: all outlive the writer; the model carries no tags (see `strip_editor`), as a
    /// shared function would have those of the first call. Complexity: O(nodes + names).
    fold_writer(const wire_model& model, const graph_contents& contents, const Modules& modules,
                const tag_table& tags, std::span<const attribution> attributions,
                const fold_plan& plan)
        : model_(model)
        , contents_(contents)
        , plan_(plan)
        , names_(model, contents, modules, plan)
        , nodes_(model, modules, tags, attributions, plan, names_)
        , infos_(model, plan)
        , graphs_(plan.graphs.size()) {
        for (std::size_t i = 0; i < graphs_.size(); ++i) {
            number_.emplace(plan.graphs[i], i);
        }
        for (const auto& import : model.opset_imports()) {
            versions_[std::string(plain_domain(import.domain))] = import.version;
        }
    }

    /// Builds the folded model, once.
    /// Throws: as `fold_changes` does.
    /// Complexity: O(bytes without weights).
    [[nodiscard]] message_tree build(const fold_notes& notes = {}) {
        for (std::size_t i = 0; i < graphs_.size(); ++i) {
            graphs_[i] = {fold_changes(model_, plan_, names_, plan_.graphs[i]).take(), 0};
        }
        bool has_version = false;
        out_.edit(model_.reader(), [&](edited_field& field) {
            if (field.is_bytes(at_model::graph)) {
                field.replace([&] { add_graph(0, field.inner()); });
            } else if (field.is(at_model::ir_version, wire_type::varint) && needs_lift()) {
                out_.append_number(at_model::ir_version, first_version_with_functions);
                field.erase();
                has_version = true;
            }
        });
        if (needs_lift()) {
            record_.lifted = true;
            if (has_version) {
                record_.ir_version = model_.ir_version();
            } else {
                out_.append_number(at_model::ir_version, first_version_with_functions);
            }
        }
        add_domains();
        for (id f = 0; f < plan_.functions.size(); ++f) {
            out_.append(at_model::functions, [&] { add_function(f); });
        }
        take_graphs();
        out_.append_entry(at_model::metadata_props, fold_key, to_json(record_));
        if (!notes.modules.empty()) {
            out_.append_entry(at_model::metadata_props, fold_modules_key, notes.modules);
        }
        if (!notes.source.empty()) {
            out_.append_entry(at_model::metadata_props,
                              notes.was_tagged ? fold_source_tags_key : fold_source_key,
                              notes.source);
        }
        return std::move(out_);
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

    void add_domains() {
        for (const auto& function : plan_.functions) {
            if (versions_.emplace(function.domain, 1).second) {
                out_.append(at_model::opset_import, opset_import_text({function.domain, 1}));
                record_.domains.push_back(function.domain);
            }
            record_.functions.emplace_back(function.domain, function.numbered());
        }
    }

    /// A graph being written.
    struct written_graph {
        folded_graph_record record;
        std::uint32_t part = 0;
    };

    void take_graphs() {
        for (auto& graph : graphs_) {
            if (graph.record.layout.size() == 1) {
                graph.record.layout.clear(); // they start where the first one was
            }
        }
        static_cast<folded_graph_record&>(record_) = std::move(graphs_.front().record);
        for (std::size_t i = 1; i < graphs_.size(); ++i) {
            record_.bodies.push_back(std::move(graphs_[i].record));
        }
    }

    /// Adds a chunk of a graph without its nodes; the remaining ones start where the first one was.
    void add_graph(id root, wire_reader fields) {
        auto& graph = graphs_[number_.at(root)];
        const auto part = graph.part++;
        std::uint32_t others = 0;
        bool in_run = false;
        std::uint32_t placed = 0; // fields of the chunk, except removed ValueInfos
        out_.edit(fields, [&](edited_field& field) {
            if (field.is_bytes(at_graph::value_info) && infos_.is_inside(field)) {
                take_out({part, placed, std::string(field.whole())}, graph.record.infos);
                field.erase();
                return;
            }
            ++placed;
            if (!field.is_bytes(at_graph::node)) {
                ++others;
                in_run = false;
                return;
            }
            auto& layout = graph.record.layout;
            if (layout.empty()) {
                add_items(root);
            }
            if (!std::exchange(in_run, true)) {
                layout.push_back({part, others, 0});
            }
            ++layout.back().nodes;
            field.erase();
        });
    }

    static void take_out(folded_graph_record::info_run info,
                         std::vector<folded_graph_record::info_run>& runs) {
        if (runs.empty() || runs.back().part != info.part || runs.back().fields != info.fields) {
            runs.push_back(std::move(info));
        } else {
            runs.back().bytes.append(info.bytes);
        }
    }

    /// Adds a chunk of a body that changes, in it or below.
    void add_body(id g, const wire_reader& fields) {
        if (plan_.root[g] != no_id) {
            add_graph(plan_.root[g], fields);
            return;
        }
        detail::edit_nodes(
            out_, model_, contents_, g, fields, [&](id node) { return changes(node); },
            [&](id node) { add_changed(node); });
    }

    /// Whether a node of a graph changes.
    [[nodiscard]] bool changes(id node) const {
        return plan_.changes_inside(node) || plan_.noted.contains(node);
    }

    void add_changed(id node) {
        detail::edit_bodies(
            out_, model_, contents_, node,
            [&](id g, const wire_reader& fields) { add_body(g, fields); },
            [](const edited_field&) {});
        if (const auto noted = plan_.noted.find(node); noted != plan_.noted.end()) {
            nodes_.add_module(noted->second, node, out_);
        }
    }

    void add_function(id f) {
        const auto& planned = plan_.functions[f];
        out_.append(at_function::name, planned.numbered());
        for (auto value : plan_.inputs[planned.region]) {
            out_.append(at_function::input, names_.in_body(f, value));
        }
        for (auto value : plan_.outputs[planned.region]) {
            out_.append(at_function::output, names_.in_body(f, value));
        }
        for (id slot = 0; slot < planned.attributes; ++slot) {
            out_.append(at_function::attribute, nodes_.attribute_name(slot));
        }
        add_items(planned.region);
        std::set<std::string> domains;
        add_domains_in(planned.region, domains);
        for (const auto& domain : domains) {
            if (const auto version = versions_.find(domain); version != versions_.end()) {
                out_.append(at_function::opset_import,
                            opset_import_text({domain, version->second}));
            }
        }
        out_.append(at_function::domain, planned.domain);
        for (const auto& [value, type] : infos_.of_function(f)) {
            out_.append(at_function::value_info, [&, v = value, t = type] {
                out_.append(at_info::name, names_.in_body(f, v));
                out_.append(at_info::type, t);
            });
        }
    }

    void add_domains_in(id region, std::set<std::string>& domains) const {
        for (const auto& item : plan_.regions[region].items) {
            if (item.is_region) {
                domains.insert(plan_.functions[plan_.function[item.index]].domain);
            } else {
                add_domains_of(item.index, domains);
            }
        }
    }

    void add_domains_of(id node, std::set<std::string>& domains) const {
        domains.emplace(model_.domain(node));
        for (auto g : contents_.bodies_of(node)) {
            plan_.look_into(
                g, contents_, [&](id region) { add_domains_in(region, domains); },
                [&](id inside) { add_domains_of(inside, domains); });
        }
    }

    /// Adds the items of a region: a graph or a function body.
    void add_items(id region) {
        const bool in_graph = plan_.is_graph(region);
        const auto number =
            in_graph ? std::uint32_t{at_graph::node} : std::uint32_t{at_function::node};
        std::size_t constants = 0; // inlined so far
        for (const auto& item : plan_.regions[region].items) {
            if (item.is_region) {
                out_.append(number, [&] { nodes_.call(region, item.index, constants, out_); });
                constants += plan_.functions[plan_.function[item.index]].slots.size();
            } else if (changes(item.index)) {
                out_.append(number, [&] {
                    add_changed(item.index);
                    if (!in_graph) {
                        nodes_.add_module(region, item.index, out_);
                    }
                });
            } else if (in_graph) {
                const auto message = model_.message(item.index);
                out_.append_message(bytes(), number, message.begin, message.size);
            } else {
                out_.append(number, [&] { nodes_.in_body(region, item.index, constants, out_); });
                constants += is_constant_node(model_, item.index) ? 1U : 0U;
            }
        }
    }

    const wire_model& model_;
    const graph_contents& contents_;
    const fold_plan& plan_;
    fold_names names_;
    fold_nodes<Modules> nodes_;
    fold_infos infos_;
    std::vector<written_graph> graphs_;          // in the order of the plan
    std::unordered_map<id, std::size_t> number_; // by region: of these
    std::map<std::string, std::int64_t> versions_;
    fold_record record_;
    message_tree out_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FOLD_WRITER_HPP
