// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_PROTO_MODEL_HPP
#define STEMMA_PROTO_PROTO_MODEL_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/error.hpp>
#include <stemma/onnx/detail/model_tables.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/uniform_data.hpp>
#include <stemma/onnx/detail/weight_matrix.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/proto/detail/metadata_props.hpp>
#include <stemma/proto/detail/optional_fields.hpp>

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// A ModelProto, of whatever namespace and schema.
template <class Proto>
concept model_message = requires(const Proto& model, Proto& editable) {
    model.graph().node(0);
    model.functions(0);
    model.metadata_props();
    editable.mutable_graph();
};

} // namespace detail

/// The structure of a model in protobuf messages: numbers and tables are those of a `wire_model` of
/// the same model in a file. Tensor data is not touched.
///
/// `Proto` is `onnx::ModelProto` or the same message of another namespace or a newer schema. Fields
/// that the schema does not know are found among the unknown ones.
template <detail::model_message Proto = onnx::ModelProto>
class proto_model : public detail::model_tables {
public:
    /// A GraphProto of the schema of `Proto`.
    using graph_type = std::remove_cvref_t<decltype(std::declval<const Proto&>().graph())>;

    /// A FunctionProto of that schema.
    using function_type = std::remove_cvref_t<decltype(std::declval<const Proto&>().functions(0))>;

    /// A NodeProto of that schema.
    using node_type = std::remove_cvref_t<decltype(std::declval<const graph_type&>().node(0))>;

    /// A TensorProto of that schema.
    using tensor_type =
        std::remove_cvref_t<decltype(std::declval<const graph_type&>().initializer(0))>;

    /// A ValueInfoProto of that schema.
    using value_info_type =
        std::remove_cvref_t<decltype(std::declval<const graph_type&>().input(0))>;

    /// Requires: `model` outlives the tables and keeps its messages: adding or removing nodes, or
    /// changing their inputs, requires new tables.
    /// Throws: `error` if the model has no graph (`malformed`), has 4 GiB of names, or nests bodies
    /// deeper than protobuf can write (`unsupported`).
    /// Complexity: O(messages + names).
    explicit proto_model(const Proto& model) : model_(&model) {
        if (!model.has_graph()) {
            STEMMA_THROW(
                error(error_code::malformed, "model", "", "not an ONNX model: it has no graph"));
        }
        read_model(model);
        const auto bound = finish();
        for (auto& tensor : tensors_) {
            tensor.value = bound[tensor.value];
        }
        for (auto& info : value_infos_) {
            info.value = bound[info.value];
        }
    }

    // Names point into the model, so a copy would refer to the original's.
    proto_model(const proto_model&) = delete;
    proto_model& operator=(const proto_model&) = delete;
    proto_model(proto_model&&) noexcept = default;
    proto_model& operator=(proto_model&&) noexcept = default;
    ~proto_model() = default;

    /// The original message, not a copy.
    [[nodiscard]] const Proto& proto() const noexcept { return *model_; }
    /// Returns: the message of a node.
    [[nodiscard]] const node_type& node(id node) const noexcept { return *node_messages_[node]; }

    /// Returns: the number of initializers, dense and sparse, in all graphs.
    [[nodiscard]] std::size_t tensor_count() const noexcept { return tensors_.size(); }
    /// Returns: the value of initializer `i`, counted graph by graph in the order in which their
    /// messages end, dense ones before sparse ones.
    [[nodiscard]] id tensor_value(std::size_t i) const noexcept { return tensors_[i].value; }

    /// Returns: the number of value infos in all graphs, including inputs and outputs.
    [[nodiscard]] std::size_t value_info_count() const noexcept { return value_infos_.size(); }
    /// Returns: the value of value info `i`, counted graph by graph in the order in which their
    /// messages end, inputs before outputs before others; `no_id` if the graph defines none of its
    /// name.
    [[nodiscard]] id value_info_value(std::size_t i) const noexcept {
        return value_infos_[i].value;
    }

    /// Calls `f(key, value)` for every metadata entry of the model itself, in order.
    template <class Function>
    void for_each_model_metadata(Function f) const {
        stemma::detail::for_each_metadata(*model_, f);
    }

    /// Calls `f(key, value)` for every metadata entry of a node, in order.
    template <class Function>
    void for_each_metadata(id node, Function f) const {
        stemma::detail::for_each_metadata(*node_messages_[node], f);
    }

    /// Returns: as `wire_model::sets_attribute`. Complexity: that, too.
    [[nodiscard]] bool sets_attribute(id node, std::string_view name) const {
        using attribute_type = std::decay_t<decltype(node_messages_[node]->attribute(0))>;
        const auto is_set = [](const attribute_type& a) {
            return a.type() == attribute_type::INT
                       ? a.i() != 0
                       : a.type() != attribute_type::STRING || !a.s().empty();
        };
        return detail::range::any_of(node_messages_[node]->attribute(),
                                     [&](const auto& a) { return a.name() == name && is_set(a); });
    }

    /// Calls `f(value, key, text)` for every metadata entry of an initializer or value info.
    /// Complexity: O(initializers + value infos + their entries).
    template <class Function>
    void for_each_value_metadata(Function f) const {
        const auto report = [&](id value) {
            return
                [&f, value](std::string_view key, std::string_view text) { f(value, key, text); };
        };
        for (const auto& tensor : tensors_) {
            stemma::detail::for_each_metadata(*tensor.message, report(tensor.value));
        }
        for (const auto& info : value_infos_) {
            if (info.value == no_id) {
                continue;
            }
            if (info.message != nullptr) {
                stemma::detail::for_each_metadata(*info.message, report(info.value));
                continue;
            }
            auto fields = detail::read_message(info.bytes);
            for (detail::wire_field field; fields.next(field);) {
                if (field.is_bytes(detail::onnx_fields::value_info::metadata_props)) {
                    const auto [key, text] = detail::read_entry(fields.text(field));
                    f(info.value, key, text);
                }
            }
        }
    }

    /// Returns: as `wire_model::may_hold_weight`. Complexity: that, too.
    [[nodiscard]] bool may_hold_weight(id node) const {
        bool may = false;
        with_constant_tensor(node, [&](const tensor_type& tensor) {
            may = !tensor.dims().empty() && detail::is_weight_type(tensor.data_type());
        });
        return may;
    }

    /// Returns: as `wire_model::find_uniform`. Complexity: that, too.
    [[nodiscard]] std::vector<bool> find_uniform(const std::vector<bool>& asked) const {
        std::vector<bool> uniform(asked.size(), false);
        for_each_stored(asked, [&](id value, const tensor_type& tensor) {
            const auto type = tensor.data_type();
            uniform[value] = detail::is_initial(tensor.raw_data(), type) ||
                             detail::is_initial(detail::float_data_of(tensor), type);
        });
        return uniform;
    }

    /// Returns: as `wire_model::find_matrices`. Complexity: that, too.
    [[nodiscard]] std::vector<bool> find_matrices(const std::vector<bool>& asked) const {
        std::vector<bool> matrices(asked.size(), false);
        for_each_stored(asked, [&](id value, const tensor_type& tensor) {
            matrices[value] = detail::is_weight_matrix(tensor.data_type(), tensor.dims());
        });
        return matrices;
    }

private:
    struct tensor_record {
        const tensor_type* message;
        id value;
        bool sparse;
    };

    struct value_info_record {
        const value_info_type* message; // null if the schema lacks the field
        std::string_view bytes;
        id value;
    };

    static constexpr std::size_t max_nesting = 33; // as in wire_model

    template <class Function>
    void with_constant_tensor(id node, Function f) const {
        for (const auto& attribute : node_messages_[node]->attribute()) {
            if (attribute.has_t()) {
                f(attribute.t());
            }
        }
    }

    template <class Function>
    void for_each_stored(const std::vector<bool>& asked, Function f) const {
        for (const auto& tensor : tensors_) {
            if (asked[tensor.value] && !tensor.sparse) {
                f(tensor.value, *tensor.message);
            }
        }
        for (id value = 0; value < result_count_; ++value) {
            if (asked[value]) {
                with_constant_tensor(producer(value),
                                     [&](const tensor_type& tensor) { f(value, tensor); });
            }
        }
    }

    onnx_model::text_ref copy(std::string_view text) {
        if (text.size() > 0xffff'ffffU - arena_.size()) {
            STEMMA_THROW(error(error_code::unsupported, "model", "", "4 GiB of names"));
        }
        const onnx_model::text_ref ref{static_cast<std::uint32_t>(arena_.size()),
                                       static_cast<std::uint32_t>(text.size())};
        arena_.insert(arena_.end(), text.begin(), text.end());
        base_ = arena_.data();
        return ref;
    }

    void read_model(const Proto& model) {
        ir_version_ = model.ir_version();
        producer_name_ = copy(model.producer_name());
        producer_version_ = copy(model.producer_version());
        for (const auto& import : model.opset_import()) {
            opsets_.push_back({import.domain(), import.version()});
        }
        read_graph(model.graph(), new_graph(graph_kind::main));
        for (const auto& function : model.functions()) {
            read_function(function);
        }
    }

    id new_graph(graph_kind kind) {
        const auto g = add_graph(kind);
        containers_.emplace_back().graph = g; // so that both have the same number
        return g;
    }

    void read_graph(const graph_type& graph, id g) {
        graph_at(g).name = copy(graph.name());
        for (const auto& node : graph.node()) {
            read_node(node, g);
        }
        for (const auto& tensor : graph.initializer()) {
            tensors_.push_back({&tensor, add_initializer(g, copy(tensor.name()), false), false});
        }
        for (const auto& info : graph.input()) {
            value_infos_.push_back({&info, {}, add_graph_input(g, copy(info.name()))});
        }
        for (const auto& info : graph.output()) {
            value_infos_.push_back({&info, {}, add_graph_output(g, copy(info.name()))});
        }
        for (const auto& info : graph.value_info()) {
            value_infos_.push_back({&info, {}, add_mention(g, copy(info.name()))});
        }
        for (const auto& sparse : graph.sparse_initializer()) {
            if (sparse.has_values()) {
                const auto& values = sparse.values();
                tensors_.push_back({&values, add_initializer(g, copy(values.name()), true), true});
            }
        }
    }

    void read_node(const node_type& node, id g) {
        node_record record;
        record.container = g;
        record.name = copy(node.name());
        record.op = read_operator(node);
        const auto first_graph = graph_count();
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g() || attribute.graphs_size() > 0) {
                read_bodies(attribute);
            }
        }
        inputs_read_.clear();
        outputs_read_.clear();
        for (const auto& name : node.input()) {
            inputs_read_.push_back(copy(name));
        }
        for (const auto& name : node.output()) {
            outputs_read_.push_back(copy(name));
        }
        const auto added = add_node(record, inputs_read_, outputs_read_);
        node_messages_.push_back(&node);
        for (auto body = first_graph; body < graph_count(); ++body) {
            if (graph_at(body).owner == no_id) {
                graph_at(body).owner = added;
            }
        }
    }

    id read_operator(const node_type& node) {
        const std::string_view overload =
            detail::overload_of(node, detail::onnx_fields::node::overload);
        const auto before = arena_.size();
        const operator_record record{copy(node.op_type()), copy(node.domain()), copy(overload),
                                     no_id};
        const auto count = operator_count();
        const auto op = add_operator(node.op_type(), node.domain(), overload, record);
        if (op != count) {
            arena_.resize(before);
        }
        return op;
    }

    template <class Attribute>
    void read_bodies(const Attribute& attribute) {
        if (++depth_ > max_nesting) {
            STEMMA_THROW(error(error_code::unsupported, "model", attribute.name(),
                               "bodies nested deeper than protobuf allows"));
        }
        const auto name = copy(attribute.name());
        if (attribute.has_g()) {
            const auto g = new_graph(graph_kind::body);
            graph_at(g).attribute = name;
            read_graph(attribute.g(), g);
        }
        for (int i = 0; i < attribute.graphs_size(); ++i) {
            const auto g = new_graph(graph_kind::body);
            graph_at(g).attribute = name;
            graph_at(g).listed = true;
            graph_at(g).attribute_index = static_cast<id>(i);
            read_graph(attribute.graphs(i), g);
        }
        --depth_;
    }

    void read_function(const function_type& function) {
        onnx_model::function_record record;
        const auto g = new_graph(graph_kind::function);
        record.graph = g;
        record.name = copy(function.name());
        record.domain = copy(function.domain());
        record.overload =
            copy(detail::overload_of(function, detail::onnx_fields::function::overload));
        graph_at(g).function = static_cast<id>(functions_.size());
        graph_at(g).name = record.name;
        for (const auto& name : function.input()) {
            add_graph_input(g, copy(name));
        }
        for (const auto& name : function.output()) {
            add_graph_output(g, copy(name));
        }
        for (const auto& node : function.node()) {
            read_node(node, g);
        }
        read_function_infos(function, g);
        functions_.push_back(record);
    }

    void read_function_infos(const function_type& function, id g) {
        if constexpr (requires { function.value_info(); }) {
            for (const auto& info : function.value_info()) {
                value_infos_.push_back({&info, {}, add_mention(g, copy(info.name()))});
            }
        } else {
            detail::for_each_unknown(
                function, detail::onnx_fields::function::value_info, [&](std::string_view bytes) {
                    std::string_view name;
                    auto fields = detail::read_message(bytes);
                    for (detail::wire_field field; fields.next(field);) {
                        if (field.is_bytes(detail::onnx_fields::value_info::name)) {
                            name = fields.text(field);
                        }
                    }
                    value_infos_.push_back({nullptr, bytes, add_mention(g, copy(name))});
                });
        }
    }

    const Proto* model_;
    std::vector<char> arena_; // of names
    std::vector<const node_type*> node_messages_;
    std::vector<tensor_record> tensors_;
    std::vector<value_info_record> value_infos_;
    std::vector<onnx_model::text_ref> inputs_read_;
    std::vector<onnx_model::text_ref> outputs_read_;
    std::size_t depth_ = 0;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_PROTO_MODEL_HPP
