// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_PROTO_DETAIL_METADATA_PROPS_HPP
#define STEMMA_PROTO_DETAIL_METADATA_PROPS_HPP

#include <stemma/core/detail/on_failure.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// A ValueInfoProto in a field unknown to the schema.
struct unknown_value_info {
    google::protobuf::UnknownFieldSet fields; ///< all fields of the message
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

/// Returns: whether a field is a bytes field with this number.
[[nodiscard]] inline bool is_bytes(const google::protobuf::UnknownField& field,
                                   std::uint32_t number) {
    return field.number() == static_cast<int>(number) &&
           field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED;
}

/// Calls `f(bytes)` for the unknown bytes fields with this number.
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
/// Throws: `error` of `error_code::malformed` for malformed bytes.
[[nodiscard]] inline std::pair<std::string_view, std::string_view>
read_entry(std::string_view bytes) {
    const wire_field whole{.type = wire_type::bytes,
                           .end = static_cast<std::uint32_t>(bytes.size())};
    return wire_model::read_entry(read_message(bytes), whole);
}

/// Changes the key in the bytes of an entry.
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
    int kept = 0;
    int i = 0;
    const on_failure finish([&] { fields.DeleteSubrange(kept, i - kept); });
    for (; i < fields.field_count(); ++i) {
        if (is_bytes(fields.field(i), metadata_field<Message>())) {
            auto& bytes = *fields.mutable_field(i)->mutable_length_delimited();
            const auto key = read_entry(bytes).first;
            const std::optional<std::string_view> wanted = new_key(key);
            if (!wanted) {
                continue;
            }
            if (*wanted != key) {
                set_key(*wanted, bytes);
            }
        }
        std::swap(*fields.mutable_field(kept++), *fields.mutable_field(i));
    }
    fields.DeleteSubrange(kept, fields.field_count() - kept);
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
///  `Message` is a model, graph, node, function, tensor or value info, of any schema: schemas older
/// than the field keep it as an unknown field, which is read.
/// Throws: `error` of `error_code::malformed` if an unknown field is not an entry.
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

/// Changes the key of every metadata entry of a message to `new_key(key)`, a
/// `std::optional<string_view>`; removes it without one. Order and everything else stay.
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
