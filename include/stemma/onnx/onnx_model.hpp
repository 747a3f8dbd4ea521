// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_ONNX_MODEL_HPP
#define STEMMA_ONNX_ONNX_MODEL_HPP

#include <stemma/core/detail/id_ranges.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/detail/operator_domain.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The position of a graph in a model.
enum class graph_kind : std::uint8_t {
    main,     ///< the model's own, number 0
    body,     ///< in an attribute of a node: of If, Loop, Scan
    function, ///< the body of a local function
};

/// Where a value comes from.
enum class value_kind : std::uint8_t {
    result,             ///< output of a node
    input,              ///< input of the main graph
    formal,             ///< input of a body or function
    initializer,        ///< dense, whether also listed as an input or not
    sparse_initializer, ///< stores only some elements
    undefined,          ///< read, but not defined in scope
};

/// Returns: the name of a kind of value in reports.
[[nodiscard]] constexpr std::string_view to_string(value_kind kind) noexcept {
    switch (kind) {
    case value_kind::result:
        return "intermediate";
    case value_kind::input:
        return "input";
    case value_kind::formal:
        return "formal";
    case value_kind::initializer:
    case value_kind::sparse_initializer:
        return "initializer";
    case value_kind::undefined:
        return "undefined";
    }
    return "";
}

/// The structure of an ONNX model: graphs, nodes and values, as tables of 32-bit numbers over the
/// bytes that contain the names. Tensor data, attributes and types stay in place.
///
/// Nodes are numbered over all graphs in the order in which their messages end, so nodes in a body
/// precede the node that owns it: file order is a topological order if every graph is sorted. The
/// outputs of nodes are the first values, in node order. Filled by `wire_model`.
class onnx_model {
public:
    /// The position of a text in the bytes a model was read from.
    struct text_ref {
        std::uint32_t offset = 0; ///< offset from the start of what was read
        std::uint32_t size = 0;   ///< in bytes; 0 for "", whatever the offset
    };

    /// An operator set imported by the model.
    struct opset_import {
        std::string_view domain;  ///< as written: "" or `ai.onnx` for the standard one
        std::int64_t version = 0; ///< the version of the operators that nodes use
    };

    /// A graph, body or function of a model.
    struct graph_record {
        graph_kind kind = graph_kind::main; ///< where the graph is
        id owner = no_id;                   ///< of a body: the node that owns it
        id function = no_id;                ///< of a function: its number
        text_ref attribute;                 ///< of a body: the attribute that contains it
        id attribute_index = 0;             ///< of a body: its index in a list of graphs
        bool listed = false;          ///< of a body: in a list of graphs rather than a single one
        text_ref name;                ///< often ""; that of a function
        id node_count = 0;            ///< excluding bodies
        std::vector<id> inputs;       ///< values
        std::vector<id> outputs;      ///< values; `no_id` if the name is ""
        std::vector<id> initializers; ///< values, dense and sparse ones
    };

    /// A local function.
    struct function_record {
        text_ref domain;   ///< as written
        text_ref name;     ///< the type of nodes that call it
        text_ref overload; ///< distinguishes functions with the same name; usually ""
        id graph = no_id;  ///< the number of its body
    };

    /// Returns: what stands for the file in errors.
    [[nodiscard]] const std::string& file() const noexcept { return file_; }

    /// Nodes of all graphs, including bodies and functions.
    [[nodiscard]] id node_count() const noexcept { return static_cast<id>(nodes_.size()); }

    /// Values of all graphs; a name with several meanings is several values.
    [[nodiscard]] id value_count() const noexcept { return static_cast<id>(value_names_.size()); }

    /// The main graph, bodies and functions.
    [[nodiscard]] id graph_count() const noexcept { return static_cast<id>(graphs_.size()); }

    /// Returns: the bytes of `ref`; valid as long as what the model was read from.
    [[nodiscard]] std::string_view text(text_ref ref) const noexcept {
        return {base_ + ref.offset, ref.size};
    }

    /// Returns: 0 if absent.
    [[nodiscard]] std::int64_t ir_version() const noexcept { return ir_version_; }

    /// Returns: "" if absent; valid as long as what the model was read from.
    [[nodiscard]] std::string_view producer_name() const noexcept { return text(producer_name_); }

    /// Returns: "" if absent; valid as long as what the model was read from.
    [[nodiscard]] std::string_view producer_version() const noexcept {
        return text(producer_version_);
    }

    /// In file order; those of the model, not of its functions.
    [[nodiscard]] std::span<const opset_import> opset_imports() const noexcept { return opsets_; }

    /// Returns: the name, possibly "". Names need not be unique.
    [[nodiscard]] std::string_view name(id node) const noexcept { return text(nodes_[node].name); }

    /// Returns: the type, or the name of the called function.
    [[nodiscard]] std::string_view op_type(id node) const noexcept {
        return text(operators_[nodes_[node].op].type);
    }

    /// Returns: the domain; "" for the standard one, even if written as `ai.onnx`.
    [[nodiscard]] std::string_view domain(id node) const noexcept {
        return operator_domain(nodes_[node].op);
    }

    /// Returns: which of several functions with the same name is called; usually "".
    [[nodiscard]] std::string_view overload(id node) const noexcept {
        return text(operators_[nodes_[node].op].overload);
    }

    /// Returns: a number that two nodes share iff type, domain (as written) and overload are equal.
    [[nodiscard]] id operator_id(id node) const noexcept { return nodes_[node].op; }

    /// Operators are numbered from 0 by first use.
    [[nodiscard]] id operator_count() const noexcept { return static_cast<id>(operators_.size()); }

    /// Returns: the `op_type` of its nodes.
    [[nodiscard]] std::string_view operator_type(id op) const noexcept {
        return text(operators_[op].type);
    }

    /// Returns: the `domain` of its nodes.
    [[nodiscard]] std::string_view operator_domain(id op) const noexcept {
        return detail::plain_domain(text(operators_[op].domain));
    }
    /// Returns: the function that an operator calls, or `no_id`.
    [[nodiscard]] id operator_callee(id op) const noexcept { return operators_[op].callee; }

    /// Returns: the graph a node is in.
    [[nodiscard]] id graph_of(id node) const noexcept {
        return containers_[nodes_[node].container].graph;
    }
    /// Returns: the position of a node among the nodes of its graph.
    [[nodiscard]] id position(id node) const noexcept { return nodes_[node].position; }
    /// Returns: the node whose body contains a node, or `no_id`.
    [[nodiscard]] id owner(id node) const noexcept { return graphs_[graph_of(node)].owner; }
    /// Returns: the function a node calls, or `no_id`.
    [[nodiscard]] id callee(id node) const noexcept { return operators_[nodes_[node].op].callee; }

    /// The values a node reads, by input slot; `no_id` for an omitted one.
    [[nodiscard]] std::span<const id> inputs(id node) const noexcept {
        const auto end = node + 1 < nodes_.size() ? nodes_[node + 1].first_input
                                                  : static_cast<id>(inputs_.size());
        return std::span(inputs_).subspan(nodes_[node].first_input, end - nodes_[node].first_input);
    }

    /// The first of the values a node produces; they are consecutive, and an omitted one has the
    /// name "".
    [[nodiscard]] id first_output(id node) const noexcept { return nodes_[node].first_output; }

    /// Returns: the number of outputs of a node, including omitted ones.
    [[nodiscard]] id output_count(id node) const noexcept {
        const auto end = node + 1 < nodes_.size() ? nodes_[node + 1].first_output : result_count_;
        return end - nodes_[node].first_output;
    }

    /// The values a node produces, including omitted ones.
    [[nodiscard]] detail::consecutive_ids outputs(id node) const noexcept {
        const auto first = first_output(node);
        return {detail::id_iterator(first), detail::id_iterator(first + output_count(node))};
    }

    /// Returns: "" for an omitted output. Equal names in different graphs are different values.
    [[nodiscard]] std::string_view value_name(id value) const noexcept {
        return text(value_names_[value]);
    }

    /// Returns: where the value comes from; an initializer is one even if also listed as an input.
    [[nodiscard]] value_kind kind(id value) const noexcept { return value_kinds_[value]; }
    /// Returns: the graph that defines a value, or that reads it if it is undefined.
    [[nodiscard]] id graph_of_value(id value) const noexcept { return value_graphs_[value]; }
    /// Whether a value is defined in a body of a node, at any depth. Complexity: O(depth).
    [[nodiscard]] bool is_inside(id value, id node) const noexcept {
        auto g = graph_of_value(value);
        while (graph(g).kind == graph_kind::body && graph(g).owner != node) {
            g = graph_of(graph(g).owner);
        }
        return graph(g).kind == graph_kind::body;
    }
    /// Returns: the main graph or function that contains a graph, or is it. Complexity: O(depth).
    [[nodiscard]] id outermost(id g) const noexcept {
        while (graph(g).kind == graph_kind::body) {
            g = graph_of(graph(g).owner);
        }
        return g;
    }
    /// Returns: the node that produces a value, or `no_id`.
    [[nodiscard]] id producer(id value) const noexcept {
        return value < result_count_ ? producers_[value] : no_id;
    }

    /// Whether the file stores the value, dense or sparse.
    [[nodiscard]] bool is_initializer(id value) const noexcept {
        return kind(value) == value_kind::initializer ||
               kind(value) == value_kind::sparse_initializer;
    }

    /// Graph 0 is the main one; a body comes after the graph that contains it.
    [[nodiscard]] const graph_record& graph(id g) const noexcept { return graphs_[g]; }

    /// In file order; `graph_record::function` and `callee` refer to them by number.
    [[nodiscard]] std::span<const function_record> functions() const noexcept { return functions_; }

    /// Values defined although their graph already had one with that name.
    [[nodiscard]] std::span<const id> redefined() const noexcept { return redefined_; }

    /// Returns: the path of a graph: "" for the main one, `<position>/<attribute>[k]` for each body
    /// on the way, `@domain::name:overload` for a function. If it is longer than `limit`, an
    /// ellipsis and as many of its last steps as fit. Complexity: O(length of the result).
    [[nodiscard]] std::string graph_path(id g, std::size_t limit = std::string::npos) const {
        std::vector<std::string> steps; // from the inside out
        std::size_t length = 0;
        for (bool inside = graphs_[g].kind != graph_kind::main; inside && length <= limit;) {
            const auto& record = graphs_[g];
            std::string step;
            const auto add = [&](std::string_view before, std::string_view name) {
                step.append(before).append(name.substr(0, limit));
            };
            if (record.kind == graph_kind::function) {
                const auto& f = functions_[record.function];
                add("@", text(f.domain));
                add("::", text(f.name));
                f.overload.size > 0 ? add(":", text(f.overload)) : void();
                inside = false;
            } else {
                add(std::to_string(position(record.owner)), "/");
                add("", text(record.attribute));
                if (record.listed) {
                    step.append("[").append(std::to_string(record.attribute_index)).append("]");
                }
                g = graph_of(record.owner);
                inside = graphs_[g].kind != graph_kind::main;
            }
            length += step.size() + (steps.empty() ? 0 : 1);
            steps.push_back(length <= limit ? std::move(step) : "\xe2\x80\xa6");
        }
        std::string path;
        for (; !steps.empty(); steps.pop_back()) {
            path.append(steps.back()).append(steps.size() > 1 ? "/" : "");
        }
        return path;
    }

protected:
    /// A message that contains nodes, directly or indirectly: a graph, an attribute, a function.
    struct container_record {
        std::uint32_t begin = 0; ///< of the content, after the length
        std::uint32_t size = 0;
        id graph = no_id;
        id parent = no_id;  ///< enclosing container, if that is not a node
        id owner = no_id;   ///< enclosing node
        id ends_before = 0; ///< nodes that end before this message does
    };

    /// One node.
    struct node_record {
        std::uint32_t begin = 0; ///< of the content, after the length
        std::uint32_t size = 0;
        text_ref name;
        id op = no_id;
        id container = no_id;
        id position = 0;
        id first_input = 0;
        id first_output = 0;
    };

    /// What nodes of equal type share.
    struct operator_record {
        text_ref type;
        text_ref domain;
        text_ref overload;
        id callee = no_id;
    };

    std::string file_;
    const char* base_ = nullptr;
    std::int64_t ir_version_ = 0;
    text_ref producer_name_;
    text_ref producer_version_;
    std::vector<opset_import> opsets_;
    std::vector<node_record> nodes_;
    std::vector<operator_record> operators_;
    std::vector<container_record> containers_;
    std::vector<graph_record> graphs_;
    std::vector<function_record> functions_;
    std::vector<id> inputs_;
    std::vector<text_ref> value_names_;
    std::vector<value_kind> value_kinds_;
    std::vector<id> value_graphs_;
    std::vector<id> producers_;
    std::vector<id> redefined_;
    id result_count_ = 0;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ONNX_ONNX_MODEL_HPP
