// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_GRAPH_SCAN_HPP
#define STEMMA_ONNX_DETAIL_GRAPH_SCAN_HPP

#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/graph_runs.hpp>
#include <stemma/onnx/detail/model_tables.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/message_refs.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Reads graphs and functions of a file into tables, in file order: nodes with their bodies,
/// tensors, value infos, and the positions of other fields.
class graph_scan : public model_tables {
public:
    /// Returns: a reader of the whole file.
    [[nodiscard]] wire_reader reader() const noexcept {
        return {base_, 0, static_cast<std::uint32_t>(bytes_.size()), file_};
    }

protected:
    /// Requires: `bytes` outlives the scan. `file` names it in errors.
    graph_scan(std::string_view bytes, std::string file) : bytes_(bytes) {
        file_ = std::move(file);
        base_ = bytes.data();
    }

    static constexpr std::uint8_t holds_metadata = 1;
    static constexpr std::uint8_t holds_doc_string = 2;
    static constexpr std::uint8_t holds_our_attribute = 4;
    static constexpr std::uint8_t holds_tensor = 8;

    [[nodiscard]] static onnx_model::text_ref ref(const wire_field& field) noexcept {
        return {field.content, field.size()};
    }

    void note_padding(const wire_field& field) noexcept {
        padding_ |= field.content - field.begin != 1 + varint_size(field.size());
    }

    id begin_container(const wire_field& field, id g, id parent) {
        containers_.push_back({field.content, field.size(), g, parent, no_id, 0});
        return static_cast<id>(containers_.size() - 1);
    }

    void end_container(id c) { containers_[c].ends_before = node_count(); }

    /// Reads the fields that begin in a run, which also serves to estimate the number of nodes in
    /// `all`.
    /// Returns: the position after the last.
    std::uint32_t scan_graph_fields(const graph_run& run, const graph_run& all, id container) {
        const auto g = containers_[container].graph;
        const auto& around = containers_[container];
        wire_reader fields{base_, run.begin, around.begin + around.size, file_};
        for (wire_field field; fields.position() < run.end && fields.next(field);) {
            if (field.is_bytes(at_graph::node)) {
                scan_node(fields, field, container);
                if (g == 0 && node_count() >= next_estimate_) {
                    estimate_nodes(all, field.end);
                }
            } else if (field.is_bytes(at_graph::initializer)) {
                scan_tensor(fields, field, container);
            } else if (field.is_bytes(at_graph::sparse_initializer)) {
                scan_sparse_tensor(fields, field, container);
            } else if (field.is_bytes(at_graph::input) || field.is_bytes(at_graph::output) ||
                       field.is_bytes(at_graph::value_info)) {
                scan_value_info(fields, field, container);
            } else {
                graph_fields_.push_back({field, g});
                if (field.is_bytes(at_graph::name)) {
                    graph_at(g).name = ref(field);
                }
            }
        }
        return fields.position();
    }

    void scan_function(const wire_reader& around, const wire_field& where) {
        onnx_model::function_record function;
        function.graph = add_graph(graph_kind::function);
        graph_at(function.graph).function = static_cast<id>(functions_.size());
        const auto container = begin_container(where, function.graph, no_id);
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.type != wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_function::name:
                function.name = ref(field);
                break;
            case at_function::domain:
                function.domain = ref(field);
                break;
            case at_function::overload:
                function.overload = ref(field);
                break;
            case at_function::input:
                add_graph_input(function.graph, ref(field));
                break;
            case at_function::output:
                add_graph_output(function.graph, ref(field));
                break;
            case at_function::node:
                scan_node(fields, field, container);
                break;
            case at_function::value_info:
                scan_value_info(fields, field, container);
                break;
            default:
                break;
            }
        }
        end_container(container);
        graph_at(function.graph).name = function.name;
        functions_.push_back(function);
    }

    std::string_view bytes_;
    std::vector<tensor_ref> tensors_;
    std::vector<value_info_ref> value_infos_;
    std::vector<graph_field> graph_fields_;
    std::vector<id> described_tensors_; // those with metadata
    std::vector<id> described_infos_;
    std::vector<std::uint8_t> holds_;
    bool padding_ = false; // some length or tag is longer than necessary

private:
    using at_graph = onnx_fields::graph;
    using at_node = onnx_fields::node;
    using at_attribute = onnx_fields::attribute;
    using at_tensor = onnx_fields::tensor;
    using at_function = onnx_fields::function;

    // Saved state of a node while its bodies are read.
    struct node_frame {
        std::vector<onnx_model::text_ref> inputs;
        std::vector<onnx_model::text_ref> outputs;
        std::vector<wire_field> attributes; // those containing graphs
    };

    // Protobuf gives up beyond 100 nested messages: 33 bodies, each with its node and attribute,
    // and the main graph. The innermost may then have no nodes.
    static constexpr std::size_t max_nesting = 33;

    void scan_body(const wire_field& where, id g, id parent) {
        const auto container = begin_container(where, g, parent);
        scan_graph_fields({where.content, where.end}, {where.content, where.end}, container);
        end_container(container);
    }

    // Weights mostly follow the nodes, so the remaining bytes alone are no measure.
    void estimate_nodes(const graph_run& all, std::uint32_t at) {
        const auto nodes_so_far = std::uint64_t{node_count()};
        const auto remaining = nodes_so_far * (all.end - at) / std::max(at - all.begin, 1U);
        next_estimate_ = nodes_so_far * 16;
        expect_nodes(static_cast<std::size_t>(
            std::min(nodes_so_far + remaining + remaining / 16, next_estimate_)));
    }

    // Each reads the message `where` within `around`, and makes its own reader: a reader passed as
    // an argument would go through memory and stall.

    void scan_value_info(const wire_reader& around, const wire_field& where, id container) {
        note_padding(where);
        value_info_ref info;
        info.message = {where.content, where.size(), container};
        info.graph = containers_[container].graph;
        info.field = where.number;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::value_info::name)) {
                info.name = ref(field);
            } else if (field.is_bytes(onnx_fields::value_info::metadata_props)) {
                note_described(described_infos_, value_infos_.size());
            }
        }
        const bool in_function = graph_at(info.graph).kind == graph_kind::function;
        info.value = in_function                        ? add_mention(info.graph, info.name)
                     : where.number == at_graph::input  ? add_graph_input(info.graph, info.name)
                     : where.number == at_graph::output ? add_graph_output(info.graph, info.name)
                                                        : add_mention(info.graph, info.name);
        value_infos_.push_back(info);
    }

    static void note_described(std::vector<id>& list, std::size_t i) {
        if (list.empty() || list.back() != i) {
            list.push_back(static_cast<id>(i));
        }
    }

    void scan_tensor(const wire_reader& around, const wire_field& where, id container) {
        note_padding(where);
        tensor_ref tensor;
        tensor.message = {where.content, where.size(), container};
        tensor.graph = containers_[container].graph;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_tensor::name)) {
                tensor.name = ref(field);
            } else if (field.is_bytes(at_tensor::metadata_props)) {
                note_described(described_tensors_, tensors_.size());
            }
        }
        tensor.value = add_initializer(tensor.graph, tensor.name, false);
        tensors_.push_back(tensor);
    }

    void scan_sparse_tensor(const wire_reader& around, const wire_field& where, id container) {
        const auto outer = begin_container(where, containers_[container].graph, container);
        const auto g = containers_[container].graph;
        tensor_ref tensor;
        tensor.graph = g;
        tensor.sparse = true;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(onnx_fields::sparse_tensor::values)) {
                note_padding(field);
                tensor.message = {field.content, field.size(), outer};
                auto inner = fields.inner(field);
                for (wire_field inside; inner.next(inside);) {
                    if (inside.is_bytes(at_tensor::name)) {
                        tensor.name = ref(inside);
                    } else if (inside.is_bytes(at_tensor::metadata_props)) {
                        note_described(described_tensors_, tensors_.size());
                    }
                }
            }
        }
        end_container(outer);
        if (tensor.message.container != no_id) {
            tensor.value = add_initializer(g, tensor.name, true);
            tensors_.push_back(tensor);
        }
    }

    void scan_node(const wire_reader& around, const wire_field& where, id container) {
        if (depth_ == frames_.size()) {
            frames_.emplace_back();
        }
        auto& frame = frames_[depth_];
        frame.inputs.clear();
        frame.outputs.clear();
        frame.attributes.clear();
        note_padding(where);
        node_record node;
        node.begin = where.content;
        node.size = where.size();
        node.container = container;
        operator_record op;
        std::uint8_t holds = 0;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.type != wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_node::input:
                frame.inputs.push_back(ref(field));
                break;
            case at_node::output:
                frame.outputs.push_back(ref(field));
                break;
            case at_node::name:
                node.name = ref(field);
                break;
            case at_node::op_type:
                op.type = ref(field);
                break;
            case at_node::attribute:
                holds |= look_at_attribute(fields, field, frame);
                break;
            case at_node::doc_string:
                holds |= holds_doc_string;
                break;
            case at_node::domain:
                op.domain = ref(field);
                break;
            case at_node::overload:
                op.overload = ref(field);
                break;
            case at_node::metadata_props:
                holds |= holds_metadata;
                break;
            default:
                break;
            }
        }
        node.op = add_operator(text(op.type), text(op.domain), text(op.overload), op);
        if (frame.attributes.empty()) {
            add_node(node, frame.inputs, frame.outputs);
            holds_.push_back(holds);
        } else {
            scan_bodies(frame, node, holds);
        }
    }

    /// Records an attribute that contains graphs. Returns: what it holds, of the above.
    static std::uint8_t look_at_attribute(const wire_reader& around, const wire_field& where,
                                          node_frame& frame) {
        bool holds_graph = false;
        std::uint8_t holds = 0;
        auto fields = around.inner(where);
        for (wire_field field; fields.next(field);) {
            if (field.type != wire_type::bytes) {
                continue;
            }
            switch (field.number) {
            case at_attribute::name: {
                const auto name = fields.text(field);
                if (name == "source_module" || name == "hierarchy_tags") {
                    holds |= holds_our_attribute;
                }
                break;
            }
            case at_attribute::g:
            case at_attribute::graphs:
                holds_graph = true;
                break;
            case at_attribute::t:
            case at_attribute::tensors:
            case at_attribute::sparse_tensor:
            case at_attribute::sparse_tensors:
                holds |= holds_tensor;
                break;
            default:
                break;
            }
        }
        if (holds_graph) {
            frame.attributes.push_back(where);
        }
        return holds;
    }

    void scan_bodies(node_frame& frame, const node_record& node, std::uint8_t holds) {
        if (++depth_ > max_nesting) {
            STEMMA_THROW(error(error_code::unsupported, file_, "byte " + std::to_string(node.begin),
                               "bodies nested deeper than protobuf allows"));
        }
        const auto first_graph = graph_count();
        std::vector<id> outer_containers;
        const auto file_fields = reader();
        for (const auto& attribute : frame.attributes) {
            outer_containers.push_back(
                begin_container(attribute, containers_[node.container].graph, no_id));
            scan_attribute(file_fields.inner(attribute), outer_containers.back());
            end_container(outer_containers.back());
        }
        --depth_;
        const auto owner = add_node(node, frame.inputs, frame.outputs);
        holds_.push_back(holds);
        for (auto c : outer_containers) {
            containers_[c].owner = owner;
        }
        for (auto g = first_graph; g < graph_count(); ++g) {
            if (graph_at(g).owner == no_id) {
                graph_at(g).owner = owner;
            }
        }
    }

    void scan_attribute(wire_reader fields, id container) {
        onnx_model::text_ref name;
        id alone = no_id;
        id listed = 0;
        std::vector<id> created;
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at_attribute::name)) {
                name = ref(field);
            } else if (field.is_bytes(at_attribute::g)) {
                if (alone == no_id) {
                    alone = add_graph(graph_kind::body);
                    created.push_back(alone);
                }
                scan_body(field, alone, container);
            } else if (field.is_bytes(at_attribute::graphs)) {
                const auto g = add_graph(graph_kind::body);
                created.push_back(g);
                graph_at(g).listed = true;
                graph_at(g).attribute_index = listed++;
                scan_body(field, g, container);
            }
        }
        for (auto g : created) {
            graph_at(g).attribute = name;
        }
    }

    std::deque<node_frame> frames_;
    std::size_t depth_ = 0;
    std::uint64_t next_estimate_ = 4096; // nodes
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_GRAPH_SCAN_HPP
