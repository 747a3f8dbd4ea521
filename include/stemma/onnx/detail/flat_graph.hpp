// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_FLAT_GRAPH_HPP
#define STEMMA_ONNX_DETAIL_FLAT_GRAPH_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/onnx/onnx_model.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the input slot of node `owner` whose value initializes formal input `i` of its body
/// `g`, or `no_id`.
///
/// Loop passes its inputs on in place, the first being a trip count instead of the iteration; Scan
/// of opset 8 has one more input in front; any other operator is assumed to pass them on in place
/// if the numbers agree.
[[nodiscard]] inline id matching_owner_input(const onnx_model& model, id owner, id g,
                                             std::size_t i) {
    const auto inputs = model.inputs(owner).size();
    const auto formals = model.graph(g).inputs.size();
    const auto type = model.op_type(owner);
    std::size_t slot = inputs;
    if (type == "Loop") {
        slot = i == 0 ? inputs : i;
    } else if (inputs == formals) {
        slot = i;
    } else if (type == "Scan" && inputs == formals + 1) {
        slot = i + 1;
    }
    return slot < inputs ? static_cast<id>(slot) : no_id;
}

/// Returns: by value, the value that initializes it: an owner's input, if it is a formal one of a
/// body; else `no_id`. Empty if no graph has a body.
/// Complexity: O(graphs + formal inputs); O(values) if there is a body.
[[nodiscard]] inline std::vector<id> initial_values(const onnx_model& model) {
    std::vector<id> started_by;
    for (id g = 1; g < model.graph_count(); ++g) {
        const auto& body = model.graph(g);
        if (body.kind != graph_kind::body) {
            continue;
        }
        started_by.resize(model.value_count(), no_id);
        for (std::size_t i = 0; i < body.inputs.size(); ++i) {
            const auto slot = matching_owner_input(model, body.owner, g, i);
            if (slot != no_id) {
                started_by[body.inputs[i]] = model.inputs(body.owner)[slot];
            }
        }
    }
    return started_by;
}

/// The nodes of all graphs of a model, and the tensors between them.
///
/// Vertices are the nodes by number. Edges lead from a producer to its readers, including readers
/// in a body; from the producer of a body's result to the body's owner (`in_port` is `no_id`); and
/// from the producer of an owner's input to the readers of the formal input it initializes. None
/// leads from an owner into its body, or from a call into a function. Complexity: O(nodes +
/// values).
[[nodiscard]] inline operator_graph flat_graph(const onnx_model& model) {
    const auto started_by = initial_values(model);
    return {model.node_count(), [&](auto take) {
                const auto add = [&](id value, id reader, id slot) {
                    while (value != no_id && model.kind(value) == value_kind::formal &&
                           !started_by.empty()) {
                        value = started_by[value];
                    }
                    const auto producer = value == no_id ? no_id : model.producer(value);
                    if (producer != no_id) {
                        take(operator_edge{producer, reader, value, slot,
                                           value - model.first_output(producer)});
                    }
                };
                for (id node = 0; node < model.node_count(); ++node) {
                    const auto inputs = model.inputs(node);
                    for (id slot = 0; slot < inputs.size(); ++slot) {
                        add(inputs[slot], node, slot);
                    }
                }
                for (id g = 1; g < model.graph_count(); ++g) {
                    if (model.graph(g).kind == graph_kind::body) {
                        for (auto value : model.graph(g).outputs) {
                            add(value, model.graph(g).owner, no_id);
                        }
                    }
                }
            }};
}

/// Returns: the vertex of `nested_graph(model, g)` that contains a node: the node itself if it is
/// in graph `g`, its outermost owner there if it is in a body below; else `no_id`.
/// Complexity: O(depth of the bodies).
[[nodiscard]] inline id enclosing_node(const onnx_model& model, id g, id node) {
    while (node != no_id && model.graph_of(node) != g) {
        node = model.owner(node);
    }
    return node;
}

/// One graph of a model with every body contracted into the node that owns it.
struct nested_view {
    operator_graph graph;  ///< vertices in the order of `nodes`
    std::vector<id> nodes; ///< by vertex: the node
};

/// Returns: the nodes of graph `g` in order; values that a body captures are inputs of its owner
/// (`in_port` is `no_id`).
///
/// `nodes` are those of `g` and of all bodies below it, ascending, and `bodies` those graphs.
/// Complexity: O(nodes + values) in these.
[[nodiscard]] inline nested_view
nested_graph(const onnx_model& model, id g, std::span<const id> nodes, std::span<const id> bodies) {
    nested_view view;
    for (auto node : nodes) {
        if (model.graph_of(node) == g) {
            view.nodes.push_back(node);
        }
    }
    view.graph = operator_graph(view.nodes.size(), [&](auto take) {
        const auto add = [&](id value, id reader, id slot) {
            const auto producer = value == no_id ? no_id : model.producer(value);
            if (producer != no_id && model.graph_of(producer) == g) {
                take(operator_edge{model.position(producer), model.position(reader), value, slot,
                                   value - model.first_output(producer)});
            }
        };
        for (auto node : nodes) {
            const auto reader = enclosing_node(model, g, node);
            const auto inputs = model.inputs(node);
            for (id slot = 0; slot < inputs.size(); ++slot) {
                add(inputs[slot], reader, reader == node ? slot : no_id);
            }
        }
        for (auto b : bodies) {
            const auto reader = enclosing_node(model, g, model.graph(b).owner);
            for (auto value : model.graph(b).outputs) {
                add(value, reader, no_id);
            }
        }
    });
    return view;
}

/// The same, finding the nodes and bodies in or below `g`.
/// Complexity: O(nodes + values) of the model.
[[nodiscard]] inline nested_view nested_graph(const onnx_model& model, id g) {
    std::vector<id> nodes;
    std::vector<id> bodies;
    for (id node = 0; node < model.node_count(); ++node) {
        if (enclosing_node(model, g, node) != no_id) {
            nodes.push_back(node);
        }
    }
    for (id b = 1; b < model.graph_count(); ++b) {
        if (model.graph(b).kind == graph_kind::body &&
            enclosing_node(model, g, model.graph(b).owner) != no_id) {
            bodies.push_back(b);
        }
    }
    return nested_graph(model, g, nodes, bodies);
}

/// Reports that graph `g` has no order of execution.
/// Throws: `error` of `malformed`.
[[noreturn]] inline void refuse_cycle(const onnx_model& model, id g) {
    STEMMA_THROW(error(error_code::malformed, model.file(), g == 0 ? "" : model.graph_path(g),
                       g == 0 ? "the main graph has a cycle" : "has a cycle"));
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_FLAT_GRAPH_HPP
