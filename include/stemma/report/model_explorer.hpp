// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_MODEL_EXPLORER_HPP
#define STEMMA_REPORT_MODEL_EXPLORER_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/module_statistics.hpp>
#include <stemma/report/explorer_overlay.hpp>
#include <stemma/tagging/tag_operators.hpp>
#include <stemma/types/described_attribute.hpp>
#include <stemma/types/value_description.hpp>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Returns: the namespace of a module in Model Explorer, `encoder/layer/0`; "" for the root.
/// Complexity: O(depth + length).
[[nodiscard]] inline std::string explorer_namespace(const module_tree& modules, id m) {
    std::vector<id> way;
    for (; m != 0; m = modules.index().parent(m)) {
        way.push_back(m);
    }
    std::string text;
    for (; !way.empty(); way.pop_back()) {
        text.append(text.empty() ? "" : "/");
        for (char c : modules.name(way.back())) {
            if (c == '/') {
                text.append("\\/");
            } else {
                text.push_back(c == ';' ? ',' : c);
            }
        }
    }
    return text;
}

/// Writes the graphs of a model for Model Explorer, with outer values as separate nodes.
template <text_sink Sink, value_describer Describe>
class explorer_writer {
public:
    explorer_writer(Sink& sink, const wire_model& model, const module_tree& modules,
                    const tagging& tagged, const module_statistics& counts,
                    const Describe& describe)
        : json_(sink)
        , model_(model)
        , modules_(modules)
        , tags_(tagged)
        , counts_(counts)
        , describe_(describe)
        , contents_(model)
        , nodes_(model.graph_count())
        , seen_in_(modules.size(), no_id) {
        for (id node = 0; node < model.node_count(); ++node) {
            nodes_[model.graph_of(node)].push_back(node);
        }
    }

    void write(std::string_view label) {
        json_.begin_object();
        json_.member("label", label);
        json_.key("graphs");
        json_.begin_array();
        for (id g = 0; g < model_.graph_count(); ++g) {
            write_graph(g);
        }
        json_.end_array();
        json_.end_object();
        json_.finish();
    }

private:
    /// An entry of a list of attributes.
    void attribute(std::string_view key, std::string_view value) {
        if (!value.empty()) {
            json_.begin_object(true);
            json_.member("key", key);
            json_.member("value", value);
            json_.end_object();
        }
    }

    void write_graph(id g) {
        json_.begin_object();
        json_.member("id", explorer_graph_id(model_, g));
        json_.key("nodes");
        json_.begin_array();
        outer_.clear();
        for (auto value : model_.graph(g).inputs) {
            if (value != no_id && !model_.is_initializer(value)) {
                write_outer(value, "Input");
            }
        }
        for (auto node : nodes_[g]) {
            for_each_read(node, [&](id value) {
                if (is_outer(value, g)) {
                    write_outer(value, "Captured");
                }
            });
        }
        for (auto node : nodes_[g]) {
            write_node(g, node);
        }
        write_outputs(g);
        json_.end_array();
        write_groups(g);
        json_.end_object();
    }

    /// Whether a value enters graph `g` from outside.
    [[nodiscard]] bool is_outer(id value, id g) const {
        const auto producer = model_.producer(value);
        return !model_.is_initializer(value) &&
               (producer == no_id || model_.graph_of(producer) != g);
    }

    /// Calls `f(value)` for the inputs of a node and captures of its bodies.
    template <class Function>
    void for_each_read(id node, Function f) const {
        for (auto value : model_.inputs(node)) {
            if (value != no_id) {
                f(value);
            }
        }
        for_each_captured(node, f);
    }

    template <class Function>
    void for_each_captured(id node, Function f) const {
        std::set<id> seen;
        for (auto body : contents_.bodies_of(node)) {
            const auto take = [&](id value) {
                if (value != no_id && !model_.is_initializer(value) &&
                    !model_.is_inside(value, node) && seen.insert(value).second) {
                    f(value);
                }
            };
            for (auto inside : contents_.nodes(body)) {
                for (auto value : model_.inputs(inside)) {
                    take(value);
                }
            }
            for (auto value : model_.graph(body).outputs) {
                take(value);
            }
        }
    }

    [[nodiscard]] static std::string outer_id(id value) { return "in" + std::to_string(value); }
    [[nodiscard]] std::string node_id(id node) const {
        return std::to_string(model_.position(node));
    }

    void write_outer(id value, std::string_view label) {
        if (!outer_.insert(value).second) {
            return;
        }
        json_.begin_object();
        json_.member("id", outer_id(value));
        json_.member("label", label);
        json_.member("namespace", "");
        json_.key("attrs");
        json_.begin_array(true);
        attribute("name", model_.value_name(value));
        json_.end_array();
        json_.key("outputsMetadata");
        json_.begin_array(true);
        write_port("0", value);
        json_.end_array();
        json_.end_object();
    }

    void write_port(const std::string& slot, id value) {
        const value_description about = describe_(value);
        json_.begin_object(true);
        json_.member("id", slot);
        json_.key("attrs");
        json_.begin_array(true);
        attribute("__tensor_tag", model_.value_name(value));
        attribute("tensor_shape", about.type_and_shape());
        json_.end_array();
        json_.end_object();
    }

    void write_node(id g, id node) {
        const auto& attributed = tags_.attributions[node];
        json_.begin_object();
        json_.member("id", node_id(node));
        json_.member("label", model_.op_type(node));
        json_.member("namespace", explorer_namespace(modules_, attributed.module));
        json_.key("attrs");
        json_.begin_array(true);
        attribute("name", model_.name(node));
        attribute("domain", model_.domain(node));
        for (const auto& one : describe_attributes(model_, node)) {
            attribute(one.name, value_text(one));
        }
        attribute("tag", tags_.tags.text(attributed.module));
        if (tags_.pool.size_of(tags_.tag_sets[node]) > 1) {
            std::string tags;
            tags_.pool.for_each(tags_.tag_sets[node], [&](id m) {
                tags.append(tags.empty() ? "" : ", ").append(tags_.tags.text(m));
            });
            attribute("tags", tags);
        }
        attribute("module", modules_.path(attributed.module));
        attribute("provenance", tags_.provenances[attributed.source]);
        attribute("confidence", std::to_string(attributed.confidence).substr(0, 4));
        attribute("weights", weights_of(node));
        json_.end_array();
        write_inputs(g, node);
        json_.key("outputsMetadata");
        json_.begin_array(true);
        for (id i = 0; i < model_.output_count(node); ++i) {
            write_port(std::to_string(i), model_.first_output(node) + i);
        }
        json_.end_array();
        if (!contents_.bodies_of(node).empty() || model_.callee(node) != no_id) {
            json_.key("subgraphIds");
            json_.begin_array(true);
            for (auto body : contents_.bodies_of(node)) {
                json_.value(explorer_graph_id(model_, body));
            }
            if (const auto f = model_.callee(node); f != no_id) {
                json_.value(explorer_graph_id(model_, model_.functions()[f].graph));
            }
            json_.end_array();
        }
        json_.end_object();
    }

    [[nodiscard]] std::string weights_of(id node) const {
        std::string weights;
        for (auto value : model_.inputs(node)) {
            if (value != no_id && model_.is_initializer(value)) {
                const value_description about = describe_(value);
                weights.append(weights.empty() ? "" : ", ")
                    .append(model_.value_name(value))
                    .append(" ")
                    .append(about.type_and_shape());
            }
        }
        return weights;
    }

    void write_inputs(id g, id node) {
        const auto write_edge = [&](id value, const std::string& slot) {
            const auto producer = model_.producer(value);
            const bool here = producer != no_id && model_.graph_of(producer) == g;
            json_.begin_object(true);
            json_.member("sourceNodeId", here ? node_id(producer) : outer_id(value));
            json_.member("sourceNodeOutputId",
                         here ? std::to_string(value - model_.first_output(producer))
                              : std::string("0"));
            json_.member("targetNodeInputId", slot);
            json_.end_object();
        };
        const auto inputs = model_.inputs(node);
        std::vector<std::pair<id, std::size_t>> reads; // value, slot
        for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
            if (inputs[slot] != no_id) {
                reads.emplace_back(inputs[slot], slot);
            }
        }
        auto next = inputs.size();
        for_each_captured(node, [&](id value) { reads.emplace_back(value, next++); });
        json_.flat_list("incomingEdges", reads, [&](const auto& pair) {
            const auto& [value, slot] = pair;
            if (!model_.is_initializer(value)) {
                write_edge(value, std::to_string(slot));
            }
        });
        json_.flat_list("inputsMetadata", reads, [&](const auto& pair) {
            const auto& [value, slot] = pair;
            write_port(std::to_string(slot), value);
        });
    }

    /// The outputs of a graph as nodes, if produced by its own nodes.
    void write_outputs(id g) {
        std::size_t number = 0;
        for (auto value : model_.graph(g).outputs) {
            const auto producer = value == no_id ? no_id : model_.producer(value);
            if (producer == no_id || model_.graph_of(producer) != g) {
                continue;
            }
            json_.begin_object();
            json_.member("id", "out" + std::to_string(number++));
            json_.member("label", "Output");
            json_.member("namespace", "");
            json_.key("attrs");
            json_.begin_array(true);
            attribute("name", model_.value_name(value));
            json_.end_array();
            json_.key("incomingEdges");
            json_.begin_array(true);
            json_.begin_object(true);
            json_.member("sourceNodeId", node_id(producer));
            json_.member("sourceNodeOutputId",
                         std::to_string(value - model_.first_output(producer)));
            json_.member("targetNodeInputId", "0");
            json_.end_object();
            json_.end_array();
            json_.end_object();
        }
    }

    /// Attributes of the modules with nodes in a graph.
    void write_groups(id g) {
        std::vector<id> present;
        for (auto node : nodes_[g]) {
            for (auto m = tags_.attributions[node].module; seen_in_[m] != g;
                 m = m == 0 ? 0 : modules_.index().parent(m)) {
                seen_in_[m] = g;
                present.push_back(m);
            }
        }
        range::sort(present);
        const auto member = [&](std::string_view key, const std::string& value) {
            if (!value.empty()) {
                json_.member(key, value);
            }
        };
        json_.key("groupNodeAttributes");
        json_.begin_object();
        for (auto m : present) {
            json_.object(explorer_namespace(modules_, m), [&] {
                member("class", std::string(modules_.qualified_class(m).empty()
                                                ? modules_.class_name(m)
                                                : modules_.qualified_class(m)));
                member("tag", tags_.tags.is_selected(m) ? tags_.tags.text(m) : std::string());
                member("nodes", std::to_string(counts_.nodes[m]));
                member("parameters", std::to_string(counts_.parameters[m]));
                member("weights", weights_text(counts_.weights[m]));
            });
        }
        json_.end_object();
    }

    json_writer<Sink> json_;
    const wire_model& model_;
    const module_tree& modules_;
    const tagging& tags_;
    const module_statistics& counts_;
    const Describe& describe_;
    graph_contents contents_;
    std::vector<std::vector<id>> nodes_; // by graph
    std::vector<id> seen_in_;            // by module: the last graph with nodes of it
    std::set<id> outer_;                 // outer values of the graph being written
};

} // namespace detail

/// Writes a model for Model Explorer without an adapter: modules are namespaces with class, tag and
/// parameters; bodies and functions are graphs below the nodes that own or call them. Complexity:
/// O(length of the result); memory for a buffer and tables of the nodes.
template <text_sink Sink, detail::value_describer Describe>
void write_model_explorer(Sink& sink, std::string_view label, const wire_model& model,
                          const module_tree& modules, const tagging& tagged,
                          const module_statistics& counts, const Describe& describe) {
    detail::explorer_writer(sink, model, modules, tagged, counts, describe).write(label);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_REPORT_MODEL_EXPLORER_HPP
