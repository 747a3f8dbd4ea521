// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_QUERY_QUERY_ANSWER_HPP
#define STEMMA_QUERY_QUERY_ANSWER_HPP

#include <stemma/core/id.hpp>
#include <stemma/io/json_writer.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/definitions.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/query.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stemma {

/// What of a model a query asks for.
struct query_answer {
    std::vector<id> modules;      ///< see `find_matching_modules`; none when it asks about nodes
    std::vector<id> nodes;        ///< by vertex index, ascending
    std::vector<id> values;       ///< that the nodes make
    std::vector<id> initializers; ///< values that the nodes read
};

/// Complexity: that of `find_matching_operators`, and O(values).
template <module_view Modules, named_operators Ops>
[[nodiscard]] query_answer answer_query(const query& asked, const onnx_model& model, const Ops& ops,
                                        const Modules& modules, const tagging& found) {
    query_answer answer;
    if (!asked.asks_for_operators()) {
        answer.modules = find_matching_modules(asked, modules, found.tags);
    }
    answer.nodes = find_matching_operators(asked, modules, found.tags, ops, found.attributions,
                                           found.provenances);
    std::vector<bool> is_read(model.value_count(), false);
    for (auto node : answer.nodes) {
        for (id i = 0; i < model.output_count(node); ++i) {
            const auto value = model.first_output(node) + i;
            if (!model.value_name(value).empty()) {
                answer.values.push_back(value);
            }
        }
        for (auto value : model.inputs(node)) {
            if (value != no_id && model.is_initializer(value)) {
                is_read[value] = true;
            }
        }
    }
    for (id value = 0; value < model.value_count(); ++value) {
        if (is_read[value]) {
            answer.initializers.push_back(value);
        }
    }
    return answer;
}

/// Names of nodes, for tools that choose nodes by name.
struct node_names {
    std::vector<std::string> names; ///< each once, as they come; `#7` for a node without one
    std::size_t unnamed = 0;        ///< nodes without a name
    std::size_t others = 0;         ///< further nodes of the model that have one of the names
};

/// Returns: the names of some nodes, ascending, and what they do not tell apart.
/// Complexity: O(nodes of the model * log names).
[[nodiscard]] inline node_names names_of(const onnx_model& model, std::span<const id> nodes) {
    node_names found;
    std::set<std::string_view> seen;
    for (auto node : nodes) {
        const auto name = model.name(node);
        found.unnamed += name.empty() ? 1U : 0U;
        if (name.empty()) {
            found.names.push_back(position_text(model, node));
        } else if (seen.insert(name).second) {
            found.names.emplace_back(name);
        }
    }
    auto next = nodes.begin();
    for (id node = 0; node < model.node_count(); ++node) {
        if (next != nodes.end() && *next == node) {
            ++next;
        } else {
            found.others += seen.count(model.name(node));
        }
    }
    return found;
}

/// Writes the members `modules`, `nodes`, `values` and `initializers` into an object that is open.
/// Complexity: O(length).
template <text_sink Sink>
void write_answer(json_writer<Sink>& json, const query_answer& answer, const onnx_model& model,
                  const module_tree& modules, const tagging& found) {
    json.key("modules");
    json.begin_array();
    for (auto m : answer.modules) {
        json.begin_object(true);
        json.member("path", modules.report_path(m));
        json.member("class", modules.class_name(m));
        json.member("tag", found.tags.text(m));
        json.end_object();
    }
    json.end_array();
    json.key("nodes");
    json.begin_array();
    for (auto node : answer.nodes) {
        const auto module = found.attributions[node].module;
        json.begin_object(true);
        json.member("graph", model.graph_path(model.graph_of(node)));
        json.member("index", model.position(node));
        json.member("name", model.name(node));
        json.member("op_type", model.op_type(node));
        json.member("scope_module", modules.report_path(module));
        json.member("tag", found.tags.text(module));
        json.end_object();
    }
    json.end_array();
    const auto write_values = [&](std::string_view key, std::span<const id> values) {
        json.key(key);
        json.begin_array();
        for (auto value : values) {
            json.begin_object(true);
            json.member("graph", model.graph_path(model.graph_of_value(value)));
            json.member("name", model.value_name(value));
            json.end_object();
        }
        json.end_array();
    };
    write_values("values", answer.values);
    write_values("initializers", answer.initializers);
}

} // namespace stemma

#endif // STEMMA_QUERY_QUERY_ANSWER_HPP
