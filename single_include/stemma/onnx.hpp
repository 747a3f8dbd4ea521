// SPDX-License-Identifier: Apache-2.0
// stemma 0.2.0: <stemma/onnx.hpp> and all it includes, as one file. Made by
// single_include/amalgamate.py; to change something, change the headers it joins.
#ifndef STEMMA_ONNX_HPP
#define STEMMA_ONNX_HPP

#include "stemma.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream.h>
#include <google/protobuf/message.h>
#include <google/protobuf/message_lite.h>
#include <google/protobuf/unknown_field_set.h>
#include <onnx/checker.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// <stemma/proto/detail/message_outline.hpp>
#ifndef STEMMA_PROTO_DETAIL_MESSAGE_OUTLINE_HPP
#define STEMMA_PROTO_DETAIL_MESSAGE_OUTLINE_HPP

namespace stemma::inline STEMMA_ABI::detail {

/// Writes into memory that is zero, and passes over long fields of bytes: pages that nobody touches
/// take no room.
class outline_stream final : public google::protobuf::io::ZeroCopyOutputStream {
public:
    outline_stream(char* begin, std::size_t size) : begin_(begin), size_(size) {}

    bool Next(void** data, int* size) override {
        const auto room = std::min(size_ - used_, small);
        *data = begin_ + used_;
        *size = static_cast<int>(room);
        used_ += room;
        return room > 0;
    }
    void BackUp(int count) override { used_ -= static_cast<std::size_t>(count); }
    [[nodiscard]] std::int64_t ByteCount() const override {
        return static_cast<std::int64_t>(used_);
    }
    [[nodiscard]] bool AllowsAliasing() const override { return true; }

    bool WriteAliasedRaw(const void* data, int size) override {
        const std::string_view bytes(static_cast<const char*>(data),
                                     static_cast<std::size_t>(size));
        if (bytes.size() > size_ - used_) {
            return false;
        }
        char* const to = begin_ + used_;
        if (bytes.size() < small) {
            std::memcpy(to, bytes.data(), bytes.size());
        } else if (!is_uniform(bytes)) {
            *to = 1;
        }
        used_ += bytes.size();
        return true;
    }

private:
    static constexpr std::size_t small = 1U << 16U;

    char* begin_;
    std::size_t size_;
    std::size_t used_ = 0;
};

/// The bytes of a message as protobuf writes it, with the data of long tensors left out: where they
/// would stand is zero, or zero behind a one where they do not repeat one number. Every other byte
/// is in its place, so that what is read of names, types, shapes and sizes is the same; left out
/// data takes no memory.
class message_outline {
public:
    /// Throws: `error` of `error_code::unsupported` for messages of 4 GiB and more.
    /// Complexity: O(bytes), of which those left out are read until they differ.
    explicit message_outline(const google::protobuf::MessageLite& message)
        : size_(message.ByteSizeLong()) {
        if (size_ > std::numeric_limits<std::uint32_t>::max()) {
            STEMMA_THROW(error(error_code::unsupported, "model", "", "larger than 4 GiB"));
        }
        // What calloc takes from the system is zero already, and not touched.
        bytes_.reset(static_cast<char*>(std::calloc(std::max<std::size_t>(size_, 1), 1)));
        if (!bytes_) {
            STEMMA_THROW(std::bad_alloc());
        }
        detail::outline_stream stream(bytes_.get(), size_);
        google::protobuf::io::CodedOutputStream out(&stream);
        out.EnableAliasing(true);
        message.SerializeWithCachedSizes(&out);
        STEMMA_ASSERT(!out.HadError(), "the stream has room for what protobuf counted");
    }

    /// Valid as long as this.
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.get(), size_}; }

private:
    struct freed {
        void operator()(char* bytes) const noexcept { std::free(bytes); } // NOLINT: of calloc
    };

    std::size_t size_;
    std::unique_ptr<char, freed> bytes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_PROTO_DETAIL_MESSAGE_OUTLINE_HPP

// <stemma/proto/detail/metadata_props.hpp>
#ifndef STEMMA_PROTO_DETAIL_METADATA_PROPS_HPP
#define STEMMA_PROTO_DETAIL_METADATA_PROPS_HPP

namespace stemma::inline STEMMA_ABI::detail {

/// A ValueInfoProto in a field that the schema does not know.
struct unknown_value_info {
    google::protobuf::UnknownFieldSet fields; ///< all that the message holds
};

template <class Message>
concept knows_metadata = requires(Message& message) {
    message.mutable_metadata_props();
};

/// Returns: the number of `metadata_props` in a message of the model.
template <class Message>
[[nodiscard]] consteval std::uint32_t metadata_field() {
    if constexpr (requires(const Message& m) { m.op_type(); }) {
        return onnx_fields::node::metadata_props;
    } else if constexpr (requires(const Message& m) { m.raw_data(); }) {
        return onnx_fields::tensor::metadata_props;
    } else if constexpr (requires(const Message& m) { m.initializer(); }) {
        return onnx_fields::graph::metadata_props;
    } else if constexpr (requires(const Message& m) { m.functions(); }) {
        return onnx_fields::model::metadata_props;
    } else if constexpr (requires(const Message& m) { m.opset_import(); }) {
        return onnx_fields::function::metadata_props;
    } else {
        return onnx_fields::value_info::metadata_props;
    }
}

[[nodiscard]] inline const google::protobuf::UnknownFieldSet&
unknown_fields(const google::protobuf::Message& message) {
    return message.GetReflection()->GetUnknownFields(message);
}
[[nodiscard]] inline const google::protobuf::UnknownFieldSet&
unknown_fields(const unknown_value_info& info) {
    return info.fields;
}

[[nodiscard]] inline google::protobuf::UnknownFieldSet&
mutable_unknown_fields(google::protobuf::Message& message) {
    return *message.GetReflection()->MutableUnknownFields(&message);
}
[[nodiscard]] inline google::protobuf::UnknownFieldSet&
mutable_unknown_fields(unknown_value_info& info) {
    return info.fields;
}

/// Returns: whether a field is one of bytes with this number.
[[nodiscard]] inline bool is_bytes(const google::protobuf::UnknownField& field,
                                   std::uint32_t number) {
    return field.number() == static_cast<int>(number) &&
           field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
}

/// Calls `f(bytes)` for the fields of bytes with this number that the schema does not know.
template <class Message, class Function>
void for_each_unknown(const Message& message, std::uint32_t number, Function f) {
    const auto& fields = unknown_fields(message);
    for (int i = 0; i < fields.field_count(); ++i) {
        if (is_bytes(fields.field(i), number)) {
            f(std::string_view(fields.field(i).length_delimited()));
        }
    }
}

/// Returns: a reader of the bytes of one message.
[[nodiscard]] inline wire_reader read_message(std::string_view bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "model"};
}

/// Returns: key and value of the bytes of a StringStringEntryProto.
/// Throws: `error` of `error_code::malformed` for bytes that are no message.
[[nodiscard]] inline std::pair<std::string_view, std::string_view>
read_entry(std::string_view bytes) {
    const wire_field whole{.type = wire_type::bytes,
                           .end = static_cast<std::uint32_t>(bytes.size())};
    return wire_model::read_entry(read_message(bytes), whole);
}

/// Gives the bytes of an entry another key; all else in it stays.
inline void set_key(std::string_view key, std::string& bytes) {
    google::protobuf::UnknownFieldSet parts;
    static_cast<void>(parts.ParseFromString(bytes));
    for (int i = 0; i < parts.field_count(); ++i) {
        if (is_bytes(parts.field(i), onnx_fields::entry::key)) {
            parts.mutable_field(i)->mutable_length_delimited()->assign(key);
        }
    }
    static_cast<void>(parts.SerializeToString(&bytes));
}

template <class Message, class Function>
void rename_unknown_metadata(Message& message, Function new_key) {
    if (unknown_fields(message).empty()) {
        return;
    }
    auto& fields = mutable_unknown_fields(message);
    for (int i = 0; i < fields.field_count();) {
        if (is_bytes(fields.field(i), metadata_field<Message>())) {
            auto& bytes = *fields.mutable_field(i)->mutable_length_delimited();
            const auto key = read_entry(bytes).first;
            const std::optional<std::string_view> wanted = new_key(key);
            if (!wanted) {
                fields.DeleteSubrange(i, 1);
                continue;
            }
            if (*wanted != key) {
                set_key(*wanted, bytes);
            }
        }
        ++i;
    }
}

template <class Entries, class Function>
void rename_known_metadata(Entries& entries, Function new_key) {
    int kept = 0;
    for (int i = 0; i < entries.size(); ++i) {
        const std::string_view key = entries.Get(i).key();
        const std::optional<std::string_view> wanted = new_key(key);
        if (wanted) {
            if (*wanted != key) {
                entries.Mutable(i)->set_key(std::string(*wanted));
            }
            entries.SwapElements(kept++, i);
        }
    }
    entries.DeleteSubrange(kept, entries.size() - kept);
}

/// Calls `f(key, value)` for every entry of a message's `metadata_props`, in order.
///
/// `Message` is that of a model, graph, node, function, tensor or value info, of any schema: one
/// that is older than the field keeps it among its unknown fields, and there it is read.
/// Throws: `error` of `error_code::malformed` when an unknown field is no entry.
/// Complexity: O(entries).
template <class Message, class Function>
void for_each_metadata(const Message& message, Function f) {
    if constexpr (detail::knows_metadata<Message>) {
        for (const auto& entry : message.metadata_props()) {
            f(std::string_view(entry.key()), std::string_view(entry.value()));
        }
    } else {
        detail::for_each_unknown(message, detail::metadata_field<Message>(),
                                 [&](std::string_view bytes) {
                                     const auto [key, value] = detail::read_entry(bytes);
                                     f(key, value);
                                 });
    }
}

/// Gives every metadata entry of a message the key `new_key(key)`, a `std::optional<string_view>`;
/// without one it is removed. The others keep their order and all else that is in them.
/// Throws: as `for_each_metadata`.
template <class Message, class Function>
void rename_metadata(Message& message, Function new_key) {
    if constexpr (detail::knows_metadata<Message>) {
        detail::rename_known_metadata(*message.mutable_metadata_props(), new_key);
    } else {
        detail::rename_unknown_metadata(message, new_key);
    }
}

/// Appends a metadata entry to a message.
template <class Message>
void add_metadata(Message& message, std::string_view key, std::string_view value) {
    if constexpr (detail::knows_metadata<Message>) {
        auto& entry = *message.add_metadata_props();
        entry.set_key(std::string(key));
        entry.set_value(std::string(value));
    } else {
        auto& bytes = *detail::mutable_unknown_fields(message).AddLengthDelimited(
            static_cast<int>(detail::metadata_field<Message>()));
        detail::append_field(detail::onnx_fields::entry::key, key, bytes);
        detail::append_field(detail::onnx_fields::entry::value, value, bytes);
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_PROTO_DETAIL_METADATA_PROPS_HPP

// <stemma/proto/proto_model.hpp>
#ifndef STEMMA_PROTO_PROTO_MODEL_HPP
#define STEMMA_PROTO_PROTO_MODEL_HPP

namespace stemma::inline STEMMA_ABI {

/// A ModelProto, of whatever namespace and schema.
template <class Proto>
concept model_message = requires(const Proto& model, Proto& editable) {
    model.graph().node(0);
    model.functions(0);
    model.metadata_props();
    editable.mutable_graph();
};

/// The structure of a model that is held as protobuf messages: numbers and tables are those that
/// `wire_model` makes of the same model written to a file. Tensor data is not touched.
///
/// `Proto` is `onnx::ModelProto` or the same message of another namespace or a newer schema. Fields
/// that the schema does not know are found among the unknown ones.
template <model_message Proto>
class basic_proto_model : public detail::model_tables {
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

    /// Requires: `model` outlives the tables and keeps its messages: to add or remove nodes, or to
    ///   change what they read, means to make new tables.
    /// Throws: `error` when the model has no graph (`malformed`), has 4 GiB of names, or nests
    ///   bodies deeper than protobuf can write (`unsupported`).
    /// Complexity: O(messages + names).
    explicit basic_proto_model(const Proto& model) : model_(&model) {
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

    // The names are the model's own, so a copy would speak of the other's.
    basic_proto_model(const basic_proto_model&) = delete;
    basic_proto_model& operator=(const basic_proto_model&) = delete;
    basic_proto_model(basic_proto_model&&) noexcept = default;
    basic_proto_model& operator=(basic_proto_model&&) noexcept = default;
    ~basic_proto_model() = default;

    /// The message that was given, not a copy.
    [[nodiscard]] const Proto& proto() const noexcept { return *model_; }
    /// Returns: the message of a node.
    [[nodiscard]] const node_type& node(id node) const noexcept { return *node_messages_[node]; }

    /// Returns: how many initializers there are, dense and sparse, in all graphs.
    [[nodiscard]] std::size_t tensor_count() const noexcept { return tensors_.size(); }
    /// Returns: the value of the initializer that is number `i` of all: graph by graph in the order
    /// in which their messages end, dense ones before sparse ones.
    [[nodiscard]] id tensor_value(std::size_t i) const noexcept { return tensors_[i].value; }

    /// Returns: how many value infos there are in all graphs, inputs and outputs included.
    [[nodiscard]] std::size_t value_info_count() const noexcept { return value_infos_.size(); }
    /// Returns: the value that the value info speaks of that is number `i` of all: graph by graph
    /// in the order in which their messages end, inputs before outputs before others; `no_id` when
    /// the graph defines none of its name.
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

    /// Returns: as `wire_model::has_attribute`. Complexity: that, too.
    [[nodiscard]] bool has_attribute(id node, std::string_view name) const {
        const auto& attributes = node_messages_[node]->attribute();
        return detail::range::any_of(attributes, [&](const auto& a) { return a.name() == name; });
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

    /// Returns: as `wire_model::find_uniform`. Complexity: that, too.
    [[nodiscard]] std::vector<bool> find_uniform(const std::vector<bool>& asked) const {
        std::vector<bool> uniform(asked.size(), false);
        for (const auto& tensor : tensors_) {
            if (asked[tensor.value] && !tensor.sparse) {
                uniform[tensor.value] = detail::is_uniform(tensor.message->raw_data()) ||
                                        detail::is_uniform(floats_of(*tensor.message));
            }
        }
        return uniform;
    }

    /// Returns: as `wire_model::find_matrices`. Complexity: that, too.
    [[nodiscard]] std::vector<bool> find_matrices(const std::vector<bool>& asked) const {
        std::vector<bool> matrices(asked.size(), false);
        for (const auto& tensor : tensors_) {
            if (asked[tensor.value] && !tensor.sparse) {
                matrices[tensor.value] =
                    detail::is_weight_matrix(tensor.message->data_type(), tensor.message->dims());
            }
        }
        return matrices;
    }

private:
    struct tensor_record {
        const tensor_type* message;
        id value;
        bool sparse;
    };

    struct value_info_record {
        const value_info_type* message; // null where the schema does not know the field
        std::string_view bytes;
        id value;
    };

    static constexpr std::size_t max_nesting = 33; // as in wire_model

    text_ref copy(std::string_view text) {
        if (text.size() > 0xffff'ffffU - arena_.size()) {
            STEMMA_THROW(error(error_code::unsupported, "model", "", "4 GiB of names"));
        }
        const text_ref ref{static_cast<std::uint32_t>(arena_.size()),
                           static_cast<std::uint32_t>(text.size())};
        arena_.insert(arena_.end(), text.begin(), text.end());
        base_ = arena_.data();
        return ref;
    }

    template <class Message>
    [[nodiscard]] static std::string_view overload_of(const Message& message,
                                                      std::uint32_t number) {
        std::string_view overload;
        if constexpr (requires { message.overload(); }) {
            overload = message.overload();
        } else {
            detail::for_each_unknown(message, number,
                                     [&](std::string_view bytes) { overload = bytes; });
        }
        return overload;
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

    /// Returns: the bytes of `float_data`, where the schema has it.
    [[nodiscard]] static std::string_view floats_of(const tensor_type& tensor) {
        if constexpr (requires { tensor.float_data(); }) {
            const auto& floats = tensor.float_data();
            return {reinterpret_cast<const char*>(floats.data()),
                    static_cast<std::size_t>(floats.size()) * sizeof(float)};
        } else {
            return {};
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
        const std::string_view overload = overload_of(node, detail::onnx_fields::node::overload);
        const auto before = arena_.size();
        const operator_record record{copy(node.op_type()), copy(node.domain()), copy(overload),
                                     no_id};
        const auto known = operator_count();
        const auto op = add_operator(node.op_type(), node.domain(), overload, record);
        if (op != known) {
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
        function_record record;
        const auto g = new_graph(graph_kind::function);
        record.graph = g;
        record.name = copy(function.name());
        record.domain = copy(function.domain());
        record.overload = copy(overload_of(function, detail::onnx_fields::function::overload));
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
    std::vector<text_ref> inputs_read_;
    std::vector<text_ref> outputs_read_;
    std::size_t depth_ = 0;
};

/// The structure of a model that the caller holds.
using proto_model = basic_proto_model<onnx::ModelProto>;

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_PROTO_MODEL_HPP

// <stemma/proto/detail/edit_messages.hpp>
#ifndef STEMMA_PROTO_DETAIL_EDIT_MESSAGES_HPP
#define STEMMA_PROTO_DETAIL_EDIT_MESSAGES_HPP

namespace stemma::inline STEMMA_ABI::detail {

/// Steps through the messages of a model in the order of the numbers in its `proto_model`.
template <class Editor>
class message_walk {
public:
    explicit message_walk(Editor& editor) : editor_(editor) {}

    template <class Graph>
    void graph(Graph& graph) {
        for (auto& node : *graph.mutable_node()) {
            walk_node(node);
        }
        for (auto& tensor : *graph.mutable_initializer()) {
            editor_.edit_tensor(tensor_++, tensor);
        }
        for (auto* infos :
             {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
            for (auto& info : *infos) {
                editor_.edit_value_info(info_++, info);
            }
        }
        for (auto& sparse : *graph.mutable_sparse_initializer()) {
            if (sparse.has_values()) {
                editor_.edit_tensor(tensor_++, *sparse.mutable_values());
            }
        }
    }

    template <class Function>
    void function(Function& function) {
        for (auto& node : *function.mutable_node()) {
            walk_node(node);
        }
        if constexpr (requires { function.mutable_value_info(); }) {
            for (auto& info : *function.mutable_value_info()) {
                editor_.edit_value_info(info_++, info);
            }
        } else {
            unknown_infos(function);
        }
    }

private:
    template <class Node>
    void walk_node(Node& node) {
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g()) {
                graph(*attribute.mutable_g());
            }
            for (auto& body : *attribute.mutable_graphs()) {
                graph(body);
            }
        }
        editor_.edit_node(node_++, node);
    }

    template <class Function>
    void unknown_infos(Function& function) {
        if (unknown_fields(function).empty()) {
            return;
        }
        auto& fields = mutable_unknown_fields(function);
        for (int i = 0; i < fields.field_count(); ++i) {
            if (!is_bytes(fields.field(i), onnx_fields::function::value_info)) {
                continue;
            }
            auto& bytes = *fields.mutable_field(i)->mutable_length_delimited();
            unknown_value_info info;
            if (!info.fields.ParseFromString(bytes)) {
                read_message(bytes).fail(0, "a value info that is no message");
            }
            editor_.edit_value_info(info_++, info);
            static_cast<void>(info.fields.SerializeToString(&bytes));
        }
    }

    Editor& editor_;
    id node_ = 0;
    std::size_t tensor_ = 0;
    std::size_t info_ = 0;
};

/// Hands an editor all messages of a model that carry tags: `edit_node(number, message)`,
/// `edit_tensor(i, message)` and `edit_value_info(i, message)`, numbered as in the `proto_model` of
/// it, and at last `edit_model(message)`. A value info may come as an `unknown_value_info`.
///
/// Throws: what the editor throws.
/// Complexity: O(messages), and that of the editor.
template <class Proto, class Editor>
void edit_messages(Proto& model, Editor& editor) {
    detail::message_walk<Editor> walk(editor);
    if (model.has_graph()) {
        walk.graph(*model.mutable_graph());
    }
    for (auto& function : *model.mutable_functions()) {
        walk.function(function);
    }
    editor.edit_model(model);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_PROTO_DETAIL_EDIT_MESSAGES_HPP

// <stemma/proto/tag_proto.hpp>
#ifndef STEMMA_PROTO_TAG_PROTO_HPP
#define STEMMA_PROTO_TAG_PROTO_HPP

namespace stemma::inline STEMMA_ABI {

/// A `carrier_sink`: what is written about one operator, as texts.
class proto_carrier_sink {
public:
    /// An attribute with its texts.
    struct attribute_text {
        std::string name;                ///< one of the two that a carrier may write
        std::vector<std::string> values; ///< one, unless it is a list
        bool listed = false;             ///< of type STRINGS, else STRING
    };

    void metadata(std::string_view key, std::string_view value) {
        metadata_.emplace_back(key, value);
    }

    void attribute(std::string_view name, std::string_view value) {
        attributes_of(name).push_back({std::string(name), {std::string(value)}, false});
    }

    void attribute(std::string_view name, std::span<const std::string> values) {
        attributes_of(name).push_back({std::string(name), {values.begin(), values.end()}, true});
    }

    void doc_line(std::string_view line) { doc_line_ = line; }
    void name_space(std::string_view path) { name_space_ = path; }
    void mark() { has_mark_ = true; }

    /// Appends all to node number `number`, from which everything of stemma was taken. Attributes
    /// of the same name that somebody else gave it stay, and ours are left out. Complexity:
    /// O(entries and attributes of both).
    template <class Node>
    void write(id number, Node& node) const {
        for (const auto& [key, value] : metadata_) {
            detail::add_metadata(node, key, value);
        }
        for (const auto& attributes : attributes_) {
            for (const auto& attribute : attributes) {
                if (!has_attribute(node, attribute.name)) {
                    add_attribute(attribute, node);
                }
            }
        }
        add_line(doc_line_, node);
        if (has_mark_) {
            std::string line;
            detail::append_mark(number, line);
            add_line(line, node);
        }
        if (name_space_) {
            detail::rename_metadata(node, [](std::string_view key) {
                return std::optional(key == detail::namespace_key ? detail::saved_namespace_key
                                                                  : key);
            });
            detail::add_metadata(node, detail::namespace_key, *name_space_);
        }
    }

private:
    // As on the wire: what belongs to `source_module` first.
    [[nodiscard]] std::vector<attribute_text>& attributes_of(std::string_view name) {
        return attributes_[name == source_module_attribute ? 0 : 1];
    }

    template <class Node>
    static void add_line(const std::string& line, Node& node) {
        if (!line.empty()) {
            node.set_doc_string(node.has_doc_string() ? node.doc_string() + "\n" + line : line);
        }
    }

    template <class Node>
    [[nodiscard]] static bool has_attribute(const Node& node, std::string_view name) {
        const auto& attributes = node.attribute();
        return detail::range::any_of(
            attributes, [&](const auto& attribute) { return attribute.name() == name; });
    }

    template <class Node>
    static void add_attribute(const attribute_text& text, Node& node) {
        auto& added = *node.add_attribute();
        added.set_name(text.name);
        for (const auto& value : text.values) {
            text.listed ? added.add_strings(value) : added.set_s(value);
        }
        added.set_doc_string(std::string(detail::attribute_mark));
        added.set_type(text.listed ? added.STRINGS : added.STRING);
    }

    std::vector<std::pair<std::string, std::string>> metadata_;
    std::array<std::vector<attribute_text>, 2> attributes_;
    std::string doc_line_;
    std::optional<std::string> name_space_;
    bool has_mark_ = false;
};

/// Takes everything of stemma out of messages. An editor for `edit_messages`.
class proto_strip_editor {
public:
    /// `our_namespaces`: entries `namespace` of nodes were written by stemma.
    explicit proto_strip_editor(bool our_namespaces) : our_namespaces_(our_namespaces) {}

    /// Removes entries, attributes and the line of the doc_string, and puts `namespace` back.
    /// Complexity: O(entries + attributes + length of the doc_string).
    template <class Node>
    void edit_node(id, Node& node) const {
        bool given = false;
        detail::for_each_metadata(node, [&](std::string_view key, std::string_view value) {
            given = given || (key == detail::node_name_key && value == node.name());
        });
        if (given) {
            node.clear_name();
        }
        detail::rename_metadata(node, [&](std::string_view key) -> std::optional<std::string_view> {
            if (key == detail::saved_namespace_key) {
                return detail::namespace_key;
            }
            const bool ours =
                detail::is_tag_entry(key) || (key == detail::namespace_key && our_namespaces_);
            return ours ? std::nullopt : std::optional(key);
        });
        auto& attributes = *node.mutable_attribute();
        for (int i = attributes.size(); i-- > 0;) {
            if (is_ours(attributes.Get(i))) {
                attributes.DeleteSubrange(i, 1);
            }
        }
        if (node.has_doc_string()) {
            const auto split = detail::tag_edits::split_doc_string(node.doc_string());
            if (split.whole_field_ours) {
                node.clear_doc_string();
            } else if (split.kept < node.doc_string().size()) {
                node.mutable_doc_string()->resize(split.kept);
            }
        }
    }

    /// Removes entries of metadata.
    template <class Tensor>
    void edit_tensor(std::size_t, Tensor& tensor) const {
        strip_metadata(tensor);
    }

    /// Removes entries of metadata.
    template <class Info>
    void edit_value_info(std::size_t, Info& info) const {
        strip_metadata(info);
    }

    /// Removes entries of metadata, the record of the tagging among them.
    template <class Proto>
    void edit_model(Proto& model) const {
        strip_metadata(model);
    }

private:
    template <class Message>
    static void strip_metadata(Message& message) {
        detail::rename_metadata(message, [](std::string_view key) {
            return detail::is_tag_entry(key) ? std::nullopt : std::optional(key);
        });
    }

    template <class Attribute>
    [[nodiscard]] static bool is_ours(const Attribute& attribute) {
        return (attribute.name() == source_module_attribute ||
                attribute.name() == hierarchy_tags_attribute) &&
               attribute.doc_string() == detail::attribute_mark;
    }

    bool our_namespaces_;
};

namespace detail {

template <class Proto>
[[nodiscard]] proto_strip_editor make_strip_editor(const Proto& model) {
    bool ours = false;
    for_each_metadata(model, [&](std::string_view key, std::string_view value) {
        ours = key == model_key ? records_namespaces(value) : ours;
    });
    return proto_strip_editor(ours);
}

/// Strips messages and puts a tagging in. An editor for `edit_messages`.
template <model_message Proto, carrier_policy Carrier>
class proto_tag_editor {
public:
    proto_tag_editor(const basic_proto_model<Proto>& model, const module_tree& modules,
                     tagging& found, const Carrier& carrier, bool tag_values)
        : model_(&model)
        , found_(&found)
        , carrier_(carrier)
        , texts_(modules, found)
        , strip_(make_strip_editor(model.proto())) {
        if (tag_values && model.tensor_count() + model.value_info_count() > 0) {
            value_tags_ = find_value_tags(model, modules, found);
        }
    }

    template <class Node>
    void edit_node(id node, Node& message) {
        const auto module = found_->attributions[node].module;
        const auto tags = found_->tag_sets[node];
        if (module != last_module_ || tags != last_tags_) {
            last_module_ = module;
            last_tags_ = tags;
            sink_ = {};
            carrier_.write(texts_.of_operator(node), sink_);
        }
        strip_.edit_node(node, message);
        sink_.write(node, message);
    }

    template <class Tensor>
    void edit_tensor(std::size_t i, Tensor& message) {
        strip_.edit_tensor(i, message);
        add_tags(model_->tensor_value(i), message);
    }

    template <class Info>
    void edit_value_info(std::size_t i, Info& message) {
        strip_.edit_value_info(i, message);
        add_tags(model_->value_info_value(i), message);
    }

    void edit_model(Proto& model) const { strip_.edit_model(model); }

private:
    template <class Message>
    void add_tags(id value, Message& message) {
        if (value < value_tags_.size()) {
            add_metadata(message, hierarchy_tags_key, texts_.as_json(value_tags_[value]));
        }
    }

    const basic_proto_model<Proto>* model_;
    tagging* found_;
    Carrier carrier_;
    tag_texts texts_;
    proto_strip_editor strip_;
    proto_carrier_sink sink_;
    id last_module_ = no_id;
    id_set last_tags_ = no_id;
    std::vector<id_set> value_tags_;
};

/// Hands all messages to an editor, and adds record, table and sketch, the latter two unless empty.
template <model_message Proto, class Editor>
void write_tags(Proto& model, Editor& editor, std::string_view record, std::string_view table,
                std::string_view sketch) {
    edit_messages(model, editor);
    add_metadata(model, model_key, record);
    if (!table.empty()) {
        add_metadata(model, tag_table_key, table);
    }
    if (!sketch.empty()) {
        add_metadata(model, sketch_key, sketch);
    }
}

} // namespace detail

/// Takes everything of stemma out of a model: nodes, initializers, value infos, its own metadata.
///
/// Complexity: O(messages).
/// Throws: `error` of `error_code::malformed` when an unknown field that is metadata's is no entry;
///   what comes before it has been stripped then.
template <model_message Proto>
void strip(Proto& model) {
    auto editor = detail::make_strip_editor(model);
    detail::edit_messages(model, editor);
}

/// Takes everything of stemma out of a model and puts a tagging in, the same that `tag_editor` puts
/// into a file.
///
/// `Carrier` says what is written on nodes; initializers and value infos get `hierarchy_tags` where
/// `tag_values` is set. `record`, and `table` and `sketch` unless empty, go to the model's
/// metadata. Requires: `found` is about the model as it is now. New sets of tags are added to its
/// pool. Throws: as `basic_proto_model`, with the model as it was, and as `strip`. Complexity:
/// O(messages + values + length of what is written).
template <model_message Proto, carrier_policy Carrier>
void tag(Proto& model, const module_tree& modules, tagging& found, const Carrier& carrier,
         bool tag_values, std::string_view record, std::string_view table,
         std::string_view sketch = {}) {
    const basic_proto_model<Proto> tables(model);
    detail::proto_tag_editor<Proto, Carrier> editor(tables, modules, found, carrier, tag_values);
    detail::write_tags(model, editor, record, table, sketch);
}

/// The same with the record, table and sketch that the carriers ask for. `about` may say which
/// options the tags were found with, and whether the tree was made from the model itself.
template <model_message Proto>
void tag(Proto& model, const module_tree& modules, tagging& found, const carrier_set& carriers = {},
         detail::model_record about = {}) {
    const basic_proto_model<Proto> tables(model);
    about.carriers = carriers;
    about.nodes = tables.node_count();
    about.digest = detail::structure_digest(tables);
    tag(model, modules, found, carriers, carriers.metadata, detail::to_json(about, modules),
        carriers.model ? detail::to_json(to_table(found)) : std::string(),
        carriers.mark ? detail::to_json(detail::sketch_of(tables, found.attributions))
                      : std::string());
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_TAG_PROTO_HPP

// <stemma/proto/attributed_proto.hpp>
#ifndef STEMMA_PROTO_ATTRIBUTED_PROTO_HPP
#define STEMMA_PROTO_ATTRIBUTED_PROTO_HPP

namespace stemma::inline STEMMA_ABI {

/// A model that the caller holds as a message, with everything that is known of where its nodes
/// come from: all that an `attributed_model` finds in the same model written to a file, and `tag`,
/// which changes the message in place.
///
/// Numbers of nodes and values are those of `basic_proto_model`. Whoever wants the verbs of files
/// (cut, fold, split) opens `mapped_file::holding(model.SerializeAsString(), name)`.
template <model_message Proto>
class basic_attributed_proto {
public:
    /// `name` stands for a path in messages. Nothing is written, and no tensor data copied.
    ///
    /// Requires: `model` outlives this, and keeps its nodes for `tag`.
    /// Throws: as `attributed_model`, and as `message_outline`.
    /// Complexity: that of `attributed_model`, and O(bytes) for `message_outline`.
    explicit basic_attributed_proto(Proto& model, attribution_options options = {},
                                    std::string name = "model")
        : proto_(&model)
        , outline_(model)
        , known_(mapped_file::viewing(outline_.bytes(), std::move(name)), std::move(options)) {}

    /// The message that was given, not a copy.
    [[nodiscard]] const Proto& proto() const noexcept { return *proto_; }

    /// Its nodes, values and graphs as they were when this was made.
    [[nodiscard]] const detail::model_tables& model() const noexcept { return known_.model(); }

    /// Of a capture, of the record in the model, or made from the model.
    [[nodiscard]] const module_tree& modules() const noexcept { return known_.modules(); }

    /// What was found, or what the model carries.
    [[nodiscard]] const tagging& tags() const noexcept { return known_.tags(); }

    /// To ask for claims, findings and notes. Tensor data is missing in its `model`, see
    /// `message_outline`.
    [[nodiscard]] attributed_model& known() noexcept { return known_; }
    /// The same, to read.
    [[nodiscard]] const attributed_model& known() const noexcept { return known_; }

    /// Takes everything of stemma out of the message and puts in what was found: the same, record
    /// and mark included, that is written into a file.
    ///
    /// Throws: `error` of `error_code::contradiction` when nodes were added or removed since this
    ///   was made, with the message as it was; else as `strip`.
    /// Complexity: that of `stemma::tag`, and of `attributed_model::record`.
    void tag(const carrier_set& carriers = {}) {
        const basic_proto_model<Proto> tables(*proto_);
        if (tables.node_count() != model().node_count()) {
            STEMMA_THROW(error(error_code::contradiction, known_.model().file(), "",
                               "has other nodes than when it was attributed"));
        }
        auto& found = known_.tags();
        detail::proto_tag_editor<Proto, carrier_set> editor(tables, modules(), found, carriers,
                                                            carriers.metadata);
        detail::write_tags(*proto_, editor, detail::to_json(known_.record(carriers), modules()),
                           carriers.model ? detail::to_json(to_table(found)) : std::string(),
                           carriers.mark
                               ? detail::to_json(detail::sketch_of(tables, found.attributions))
                               : std::string());
    }

private:
    Proto* proto_;
    detail::message_outline outline_;
    attributed_model known_;
};

/// An `onnx::ModelProto` and where its nodes come from.
using attributed_proto = basic_attributed_proto<onnx::ModelProto>;

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_ATTRIBUTED_PROTO_HPP

// <stemma/proto/check.hpp>
#ifndef STEMMA_PROTO_CHECK_HPP
#define STEMMA_PROTO_CHECK_HPP

namespace stemma::inline STEMMA_ABI {

/// What the ONNX checker can say.
enum class check_verdict : std::uint8_t {
    valid,        ///< it finds nothing wrong
    invalid,      ///< it refuses the model
    cannot_judge, ///< the model is newer than the installed ONNX library
};

/// What the ONNX checker says of a model.
struct check_result {
    check_verdict verdict = check_verdict::valid; ///< what the checker says
    std::string text; ///< why it is not valid, or what is newer than what; else ""
};

namespace detail {

[[nodiscard]] inline std::string newer(const std::string& what, std::int64_t version,
                                       std::int64_t installed) {
    return what + " " + std::to_string(version) +
           " is newer than the installed onnx library, which knows up to " +
           std::to_string(installed);
}

template <class Opsets>
[[nodiscard]] std::optional<std::string> find_newer_opset(const Opsets& opsets) {
    const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    for (const auto& opset : opsets) {
        const std::string domain(plain_domain(opset.domain()));
        const auto range = known.find(domain);
        if (range != known.end() && opset.version() > range->second.second) {
            return newer(domain.empty() ? "opset" : "opset of " + domain, opset.version(),
                         range->second.second);
        }
    }
    return std::nullopt;
}

} // namespace detail

/// Returns: the first version in a model that the installed ONNX library is too old for, and what
/// it knows; nothing when it can judge the model.
/// Complexity: O(opsets of the model and its functions).
[[nodiscard]] inline std::optional<std::string> find_newer_version(const onnx::ModelProto& model) {
    if (model.ir_version() > onnx::Version::IR_VERSION) {
        return detail::newer("IR version", model.ir_version(), onnx::Version::IR_VERSION);
    }
    if (auto newer = detail::find_newer_opset(model.opset_import())) {
        return newer;
    }
    for (const auto& function : model.functions()) {
        if (auto newer = detail::find_newer_opset(function.opset_import())) {
            return newer;
        }
    }
    return std::nullopt;
}

/// Asks the ONNX checker about a model, if it is not too new for it. External data are looked for
/// in the working folder.
[[nodiscard]] inline check_result check(const onnx::ModelProto& model) {
    if (auto newer = find_newer_version(model)) {
        return {check_verdict::cannot_judge, std::move(*newer)};
    }
    try {
        onnx::checker::check_model(model);
    } catch (const std::exception& refusal) {
        return {check_verdict::invalid, refusal.what()};
    }
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_CHECK_HPP

// <stemma/proto/infer_types.hpp>
#ifndef STEMMA_PROTO_INFER_TYPES_HPP
#define STEMMA_PROTO_INFER_TYPES_HPP

namespace stemma::inline STEMMA_ABI {

namespace detail {

/// Whether `fits` holds for all of these nodes, and for all in their bodies, at any depth.
template <class Nodes, class Predicate>
[[nodiscard]] bool every_node(const Nodes& nodes, const Predicate& fits) {
    for (const auto& node : nodes) {
        if (!fits(node)) {
            return false;
        }
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g() && !every_node(attribute.g().node(), fits)) {
                return false;
            }
            for (const auto& inner : attribute.graphs()) {
                if (!every_node(inner.node(), fits)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/// Makes the imports of a model or function ones that the installed library knows, if that changes
/// no operator's meaning; what a model imports and no operator uses means nothing.
template <class Importer, class Nodes>
[[nodiscard]] bool lower_imports(Importer& importer, const Nodes& nodes) {
    const auto& known = onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
    for (auto& opset : *importer.mutable_opset_import()) {
        const auto domain = plain_domain(opset.domain());
        const auto range = known.find(std::string(domain));
        if (range == known.end() || opset.version() <= range->second.second) {
            continue;
        }
        const std::int64_t newest = range->second.second;
        const bool same = every_node(nodes, [&](const onnx::NodeProto& node) {
            return plain_domain(node.domain()) != domain ||
                   (domain.empty() && !changed_between(node.op_type(), newest, opset.version()));
        });
        if (!same) {
            return false;
        }
        opset.set_version(newest);
    }
    return true;
}

/// Makes a model one that the installed library knows, if that changes no operator's meaning.
[[nodiscard]] inline bool lower(onnx::ModelProto& model) {
    if (model.ir_version() > onnx::Version::IR_VERSION) {
        model.set_ir_version(onnx::Version::IR_VERSION);
    }
    for (auto& function : *model.mutable_functions()) {
        if (!lower_imports(function, function.node())) {
            return false;
        }
    }
    return lower_imports(model, model.graph().node());
}

/// Declares initializers that are stored as sparse tensors as what operators see: dense ones.
inline void make_dense(onnx::GraphProto& graph) {
    for (const auto& sparse : graph.sparse_initializer()) {
        auto& info = *graph.add_value_info();
        info.set_name(sparse.values().name());
        auto& type = *info.mutable_type()->mutable_tensor_type();
        type.set_elem_type(sparse.values().data_type());
        type.mutable_shape();
        for (auto extent : sparse.dims()) {
            type.mutable_shape()->add_dim()->set_dim_value(extent);
        }
    }
    graph.clear_sparse_initializer();
    for (auto& node : *graph.mutable_node()) {
        for (auto& attribute : *node.mutable_attribute()) {
            if (attribute.has_g()) {
                make_dense(*attribute.mutable_g());
            }
            for (auto& inner : *attribute.mutable_graphs()) {
                make_dense(inner);
            }
        }
    }
}

template <class Function>
void visit_types(const onnx::GraphProto& graph, std::uint32_t& number, Function& f) {
    const auto own = number++;
    for (const auto* infos : {&graph.value_info(), &graph.input(), &graph.output()}) {
        for (const auto& info : *infos) {
            f(own, info.name(), info.type().SerializeAsString());
        }
    }
    for (const auto& node : graph.node()) {
        for (const auto& attribute : node.attribute()) {
            if (attribute.has_g()) {
                visit_types(attribute.g(), number, f);
            }
            for (const auto& inner : attribute.graphs()) {
                visit_types(inner, number, f);
            }
        }
    }
}

} // namespace detail

/// Infers the types of all values with the shape inference of the ONNX library.
///
/// A model newer than the library is looked at as an older one when no operator in it changed
/// since, and initializers stored as sparse tensors as the dense ones that they stand for. Calls
/// `f(graph, name, type)` for each value of a known type: graphs are numbered as in onnx_model
/// without functions, and a type is the bytes of a TypeProto. Returns: "" or why nothing could be
/// inferred. Complexity: that of the library.
template <class Function>
[[nodiscard]] std::string infer_types(onnx::ModelProto& model, Function f) {
    if (!detail::lower(model)) {
        return "the model uses operators of an opset newer than the installed onnx library knows";
    }
    detail::make_dense(*model.mutable_graph());
    try {
        const onnx::ShapeInferenceOptions options(false, 0, true);
        onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
    } catch (const std::exception& e) {
        return e.what();
    }
    std::uint32_t number = 0;
    detail::visit_types(model.graph(), number, f);
    return {};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_PROTO_INFER_TYPES_HPP

#endif // STEMMA_ONNX_HPP
