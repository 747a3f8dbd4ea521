// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CAPTURE_DETAIL_CAPTURED_FX_HPP
#define STEMMA_CAPTURE_DETAIL_CAPTURED_FX_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/capture/detail/captured_json.hpp>
#include <stemma/capture/detail/tensor_makers.hpp>
#include <stemma/core/detail/dotted_path.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/detail/json_part.hpp>
#include <stemma/model/module_tree.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads the nodes of an FX graph, or of several if nodes name their `tracer`.
///
/// A placeholder is an input, or a parameter if it says which; get_attr is a parameter; call_module
/// is the operation of a layer, which reads the layer's parameters; call_function and call_method
/// are operations; output is none. Unknown keys are ignored.
class captured_fx {
public:
    /// Whether no node was read.
    [[nodiscard]] bool empty() const noexcept { return graphs_.empty(); }

    /// Throws: `error` of `error_code::malformed`, naming `file`, if it is not an FX node, or there
    /// are too many graphs.
    void read_node(json_part node, std::string_view file) {
        const captured_json at(node, file, "FX node", count_++);
        node_record record;
        record.kind = at.text("op");
        record.name = at.text("name");
        record.target = at.text("target");
        const bool is_known = record.kind == "placeholder" || record.kind == "get_attr" ||
                              record.kind == "call_module" || record.kind == "call_function" ||
                              record.kind == "call_method" || record.kind == "output";
        if (!is_known) {
            at.fail("is of unknown kind '" + record.kind + "'");
        }
        record.arguments = at.strings("args");
        record.is_tensor = at.has("shape");
        const auto stack = at.strings("module_stack");
        record.path = record.kind == "call_module" ? record.target
                      : stack.empty()              ? std::string()
                                                   : stack.back();
        record.operation = record.target;
        if (record.kind == "call_module" && at.has("class")) {
            record.operation = at.text("class");
        }
        if (record.kind == "placeholder" && at.has("parameter")) {
            record.kind = "get_attr";
            record.target = at.text("parameter");
        }
        auto tracer = at.has("tracer") ? at.text("tracer") : std::string();
        const auto known_graph = std::find_if(
            graphs_.rbegin(), graphs_.rend(), // nodes of a graph mostly follow each other
            [&](const graph_record& graph) { return graph.tracer == tracer; });
        if (known_graph == graphs_.rend() && graphs_.size() == most_graphs) {
            at.fail("is of another graph, after " + std::to_string(most_graphs));
        }
        auto& graph = known_graph == graphs_.rend()
                          ? graphs_.emplace_back(graph_record{std::move(tracer), {}, false})
                          : *known_graph;
        graph.shapes_known = graph.shapes_known || record.is_tensor;
        graph.nodes.push_back(std::move(record));
    }

    /// Returns: the operations of every graph, with modules of the tree. Inconsistencies are among
    /// the faults.
    /// Complexity: O(nodes and inputs) expected.
    [[nodiscard]] std::vector<captured_operations> finish(const module_tree& modules) {
        std::vector<captured_operations> graphs;
        for (const auto& graph : graphs_) {
            graphs.push_back(operations_of(graph, modules));
        }
        graphs_.clear();
        return graphs;
    }

private:
    struct node_record {
        std::string kind;
        std::string name;
        std::string target;
        std::string operation;
        std::string path;
        std::vector<std::string> arguments;
        bool is_tensor = false; // as far as shapes are known
    };

    struct graph_record {
        std::string tracer;
        std::vector<node_record> nodes;
        bool shapes_known = false;
    };

    enum class result { tensor, number, tuple };

    static constexpr std::size_t most_graphs = 64; // each is compared with the whole model

    // In all calls of layers: a layer that holds half of the model may be called many times.
    static constexpr std::size_t most_parameters = 1'000'000;

    [[nodiscard]] static captured_operations operations_of(const graph_record& graph,
                                                           const module_tree& modules) {
        captured_operations operations;
        string_pool paths;
        std::vector<id> path_of;
        tensor_makers makers;
        std::unordered_map<std::string, std::string> parameter;
        std::unordered_map<std::string, result> results;
        bool finished = false;
        std::size_t read = 0; // parameters of layers
        for (const auto& node : graph.nodes) {
            if (node.kind == "output") {
                finished = true;
                for (const auto& argument : node.arguments) {
                    if (const auto source = makers.maker(argument); source != no_id) {
                        operations.add_result(source);
                    }
                }
            }
            if (node.kind == "get_attr") {
                parameter[node.name] = node.target;
                continue;
            }
            if (!node.kind.starts_with("call_")) {
                continue;
            }
            results[node.name] = result_of(node, graph.shapes_known, results);
            if (const auto whole = tuple_of(node, results); !whole.empty()) {
                if (const auto source = makers.maker(whole); source != no_id) {
                    makers.note(std::span(&node.name, 1), source);
                }
                continue;
            }
            const auto number = operations.add({}, node.operation);
            operations[number].module = paths.intern(node.path);
            // a whole module called as a method
            operations[number].exact = node.kind != "call_method" || node.target != "forward";
            for (const auto& argument : node.arguments) {
                if (makers.add_source(operations, argument)) {
                    continue;
                }
                if (const auto given = parameter.find(argument); given != parameter.end()) {
                    add_parameter(operations, modules, given->second);
                } else {
                    operations.add_input();
                }
            }
            if (node.kind == "call_module") {
                read_layer(operations, modules, node.path, number, read);
            }
            const std::span made(&node.name, 1);
            // Exporters compute repeated operations once.
            const bool repeats =
                node.kind != "call_module" &&
                makers.is_repeated(number, node.operation, node.arguments, made, {});
            operations[number].optional = repeats || results[node.name] == result::number;
            makers.note(made, number);
        }
        if (!finished) {
            operations.add_fault("the FX graph has no output: it is truncated");
        }
        place_operations(modules, paths, operations, "FX graph");
        return operations;
    }

    /// Python computes with sizes and tuples as well; little of that is exported.
    [[nodiscard]] static result result_of(const node_record& node, bool shapes_known,
                                          const std::unordered_map<std::string, result>& results) {
        const auto is_number = [&](const std::string& name) {
            const auto entry = results.find(name);
            return entry != results.end() && entry->second == result::number;
        };
        if (shapes_known && node.is_tensor) {
            return result::tensor;
        }
        const bool asks = node.target == "size" || node.target == "dim" ||
                          node.target == "builtins.getattr" || node.target == "builtins.len";
        const bool computes = !node.arguments.empty() &&
                              std::all_of(node.arguments.begin(), node.arguments.end(), is_number);
        if (node.kind != "call_module" && (asks || computes)) {
            return result::number;
        }
        return shapes_known ? result::tuple : result::tensor;
    }

    /// Returns: the node whose several results this one only selects from, or "".
    [[nodiscard]] static std::string
    tuple_of(const node_record& node, const std::unordered_map<std::string, result>& results) {
        const auto whole = node.target.ends_with("getitem") && !node.arguments.empty()
                               ? results.find(node.arguments.front())
                               : results.end();
        return whole != results.end() && whole->second == result::tuple ? whole->first
                                                                        : std::string();
    }

    static void add_parameter(captured_operations& operations, const module_tree& modules,
                              std::string_view name) {
        const auto tensor = find_parameter(modules, name);
        operations.add_parameter(name, tensor ? tensor->shape : std::span<const std::int64_t>());
    }

    /// A layer may consist of several modules: then its work is done there or below.
    static void read_layer(captured_operations& operations, const module_tree& modules,
                           const std::string& path, id number, std::size_t& read) {
        const auto layer = find_path(modules, path);
        if (layer == no_id) {
            return;
        }
        const auto& tree = modules.index();
        if (tree.end(layer) > layer + 1) {
            operations[number].exact = false;
            operations.add_name("forward");
        }
        for (auto m = layer; m < tree.end(layer) && read < most_parameters; ++m) {
            const auto owner = modules.path(m);
            read += modules.parameter_count(m) + 1;
            for (std::size_t i = 0; i < modules.parameter_count(m); ++i) {
                const auto tensor = modules.parameter(m, i);
                operations.add_parameter(member_path(owner, tensor.name), tensor.shape);
            }
        }
    }

    std::vector<graph_record> graphs_;
    std::size_t count_ = 0;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CAPTURE_DETAIL_CAPTURED_FX_HPP
