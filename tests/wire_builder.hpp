// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_WIRE_BUILDER_HPP
#define STEMMA_TESTS_WIRE_BUILDER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Writes ONNX files byte by byte, with knowledge of the format independent of the library's: field
// numbers are those of onnx.proto, spelled out again.
namespace test {

/// Appends a varint of at least that many bytes; the excess is padding.
inline void put_varint(std::uint64_t value, std::string& out, std::size_t at_least = 1) {
    for (std::size_t written = 1; value >= 0x80 || written < at_least; value >>= 7U, ++written) {
        out.push_back(static_cast<char>((value & 0x7fU) | 0x80U));
    }
    out.push_back(static_cast<char>(value));
}

/// The minimum number of bytes for a field's tag and length.
struct padding {
    std::size_t tag = 1;
    std::size_t length = 1;
};

/// A protobuf message written field by field, in call order.
class message {
public:
    message& number(unsigned field, std::uint64_t value, padding pad = {}) {
        auto& out = begin(field, 0, pad);
        put_varint(value, out, pad.length);
        return *this;
    }

    message& text(unsigned field, std::string_view content, padding pad = {}) {
        auto& out = begin(field, 2, pad);
        put_varint(content.size(), out, pad.length);
        out.append(content);
        return *this;
    }

    message& inner(unsigned field, const message& content, padding pad = {}) {
        return text(field, content.bytes(), pad);
    }

    message& packed(unsigned field, const std::vector<std::uint64_t>& values, padding pad = {}) {
        std::string content;
        for (auto value : values) {
            put_varint(value, content);
        }
        return text(field, content, pad);
    }

    message& fixed32(unsigned field, std::string_view four_bytes, padding pad = {}) {
        begin(field, 5, pad).append(four_bytes);
        return *this;
    }

    message& fixed64(unsigned field, std::string_view eight_bytes, padding pad = {}) {
        begin(field, 1, pad).append(eight_bytes);
        return *this;
    }

    message& group(unsigned field, const message& content, padding pad = {}) {
        auto& out = begin(field, 3, pad);
        out.append(content.bytes());
        put_varint(field << 3U | 4U, out, pad.tag);
        return *this;
    }

    /// Appends raw bytes, as one field.
    message& raw(std::string bytes) {
        fields_.push_back(std::move(bytes));
        return *this;
    }

    message& append(const message& more) {
        fields_.insert(fields_.end(), more.fields_.begin(), more.fields_.end());
        return *this;
    }

    /// Reorders the fields by `random(n)`, a number below n.
    template <class Random>
    message& shuffle(Random& random) {
        for (std::size_t i = fields_.size(); i > 1; --i) {
            std::swap(fields_[i - 1], fields_[random(i)]);
        }
        return *this;
    }

    [[nodiscard]] std::string bytes() const {
        std::string all;
        for (const auto& field : fields_) {
            all.append(field);
        }
        return all;
    }

private:
    std::string& begin(unsigned field, unsigned wire_type, padding pad) {
        auto& out = fields_.emplace_back();
        put_varint(field << 3U | wire_type, out, pad.tag);
        return out;
    }

    std::vector<std::string> fields_;
};

using names = std::vector<std::string>;

/// StringStringEntryProto.
inline message entry(std::string_view key, std::string_view value) {
    return message().text(1, key).text(2, value);
}

/// ValueInfoProto: a float tensor of rank 0.
inline message value_info(std::string_view name) {
    const auto tensor_type = message().number(1, 1).inner(2, message());
    return message().text(1, name).inner(2, message().inner(1, tensor_type));
}

/// TensorProto of floats.
inline message tensor(std::string_view name, const std::vector<std::uint64_t>& dims = {},
                      std::string_view raw_data = {}) {
    message fields;
    for (auto dim : dims) {
        fields.number(1, dim);
    }
    return fields.number(2, 1).text(8, name).text(9, raw_data);
}

/// SparseTensorProto.
inline message sparse_tensor(std::string_view name) {
    return message().inner(1, tensor(name)).inner(2, tensor(""));
}

/// NodeProto.
inline message node(std::string_view op_type, const names& inputs, const names& outputs,
                    std::string_view name = {}, std::string_view domain = {}) {
    message fields;
    for (const auto& input : inputs) {
        fields.text(1, input);
    }
    for (const auto& output : outputs) {
        fields.text(2, output);
    }
    if (!name.empty()) {
        fields.text(3, name);
    }
    fields.text(4, op_type);
    if (!domain.empty()) {
        fields.text(7, domain);
    }
    return fields;
}

/// GraphProto of nodes.
inline message graph(const std::vector<message>& nodes = {}, const names& inputs = {},
                     const names& outputs = {}, const names& initializers = {}) {
    message fields;
    for (const auto& one : nodes) {
        fields.inner(1, one);
    }
    fields.text(2, "graph");
    for (const auto& name : initializers) {
        fields.inner(5, tensor(name));
    }
    for (const auto& name : inputs) {
        fields.inner(11, value_info(name));
    }
    for (const auto& name : outputs) {
        fields.inner(12, value_info(name));
    }
    return fields;
}

/// AttributeProto with one graph.
inline message graph_attribute(std::string_view name, const message& body) {
    return message().text(1, name).inner(6, body).number(20, 5);
}

/// AttributeProto with several graphs.
inline message graphs_attribute(std::string_view name, const std::vector<message>& bodies) {
    auto fields = message().text(1, name);
    for (const auto& body : bodies) {
        fields.inner(11, body);
    }
    return fields.number(20, 10);
}

/// AttributeProto with one text.
inline message text_attribute(std::string_view name, std::string_view value) {
    return message().text(1, name).text(4, value).number(20, 3);
}

/// A node with bodies.
inline message owner_node(std::string_view op_type, const names& inputs, const names& outputs,
                          const std::vector<message>& attributes, std::string_view name = {}) {
    auto fields = node(op_type, inputs, outputs, name);
    for (const auto& attribute : attributes) {
        fields.inner(5, attribute);
    }
    return fields;
}

/// FunctionProto.
inline message function(std::string_view domain, std::string_view name, const names& inputs,
                        const names& outputs, const std::vector<message>& nodes,
                        std::string_view overload = {}) {
    auto fields = message().text(1, name);
    for (const auto& input : inputs) {
        fields.text(4, input);
    }
    for (const auto& output : outputs) {
        fields.text(5, output);
    }
    for (const auto& one : nodes) {
        fields.inner(7, one);
    }
    fields.text(10, domain);
    if (!overload.empty()) {
        fields.text(13, overload);
    }
    return fields;
}

/// OperatorSetIdProto.
inline message opset(std::string_view domain, std::uint64_t version) {
    return message().text(1, domain).number(2, version);
}

/// ModelProto.
inline message model(const message& main_graph, std::uint64_t ir_version = 8,
                     std::uint64_t opset_version = 17) {
    return message()
        .number(1, ir_version)
        .text(2, "builder")
        .inner(8, opset("", opset_version))
        .inner(7, main_graph);
}

/// The fields of an ONNX message, as far as the lengths of nested messages matter.
enum class onnx_message { model, graph, node, attribute, function, tensor, sparse, info, entry };

namespace detail {

inline std::uint64_t take_varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(0));
        bytes.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        if (byte < 0x80U) {
            return value;
        }
    }
}

/// A length-delimited field whose length an editor may rewrite: a message, or a text.
struct field_content {
    bool relevant = false;
    bool is_message = false;
    onnx_message kind = onnx_message::entry;
};

inline field_content content_of(onnx_message around, std::uint64_t field) {
    using m = onnx_message;
    const auto holds = [](m kind) { return field_content{true, true, kind}; };
    const field_content text{true, false, m::entry};
    switch (around) {
    case m::model:
        return field == 7    ? holds(m::graph)
               : field == 14 ? holds(m::entry)
               : field == 25 ? holds(m::function)
                             : field_content{};
    case m::graph:
        return field == 1                                  ? holds(m::node)
               : field == 5                                ? holds(m::tensor)
               : field == 11 || field == 12 || field == 13 ? holds(m::info)
               : field == 15                               ? holds(m::sparse)
                                                           : field_content{};
    case m::node:
        return field == 5   ? holds(m::attribute)
               : field == 6 ? text
               : field == 9 ? holds(m::entry)
                            : field_content{};
    case m::attribute:
        return field == 6 || field == 11 ? holds(m::graph) : field_content{};
    case m::function:
        return field == 7 ? holds(m::node) : field == 12 ? holds(m::info) : field_content{};
    case m::tensor:
        return field == 16 ? holds(m::entry) : field_content{};
    case m::sparse:
        return field == 1 ? holds(m::tensor) : field_content{};
    case m::info:
        return field == 4 ? holds(m::entry) : field_content{};
    case m::entry:
        return field == 1 ? text : field_content{};
    }
    return {};
}

inline std::string_view skip_field(std::string_view bytes, std::uint64_t tag) {
    switch (tag & 7U) {
    case 0:
        take_varint(bytes);
        return bytes;
    case 1:
        return bytes.substr(8);
    case 2: {
        const auto size = take_varint(bytes);
        return bytes.substr(size);
    }
    case 3:
        for (;;) {
            const auto inside = take_varint(bytes);
            if ((inside & 7U) == 4) {
                return bytes;
            }
            bytes = skip_field(bytes, inside);
        }
    default:
        return bytes.substr(4);
    }
}

} // namespace detail

/// Returns: a valid message with minimal length prefixes for everything that an editor of tags may
/// change, otherwise equal.
inline std::string with_minimal_lengths(std::string_view bytes,
                                        onnx_message kind = onnx_message::model) {
    std::string out;
    while (!bytes.empty()) {
        auto behind_tag = bytes;
        const auto tag = detail::take_varint(behind_tag);
        const auto rest = detail::skip_field(behind_tag, tag);
        const auto content = detail::content_of(kind, tag >> 3U);
        if ((tag & 7U) != 2 || !content.relevant) {
            out.append(bytes.substr(0, bytes.size() - rest.size()));
        } else {
            out.append(bytes.substr(0, bytes.size() - behind_tag.size()));
            const auto size = detail::take_varint(behind_tag);
            const auto inside = behind_tag.substr(0, size);
            const auto written = content.is_message ? with_minimal_lengths(inside, content.kind)
                                                    : std::string(inside);
            put_varint(written.size(), out);
            out.append(written);
        }
        bytes = rest;
    }
    return out;
}

/// Returns: a valid message that says the same in another way: fields in another order (those with
/// the same number keep theirs), padded tags, unknown groups.
template <class Random>
std::string restructured(std::string_view bytes, onnx_message kind, Random& random) {
    std::vector<std::vector<std::string>> fields_of(32);
    while (!bytes.empty()) {
        auto behind_tag = bytes;
        const auto tag = detail::take_varint(behind_tag);
        const auto rest = detail::skip_field(behind_tag, tag);
        const auto content = detail::content_of(kind, tag >> 3U);
        std::string written;
        put_varint(tag, written, 1 + random(2));
        if (content.is_message && (tag & 7U) == 2) {
            const auto size = detail::take_varint(behind_tag);
            const auto inside = restructured(behind_tag.substr(0, size), content.kind, random);
            put_varint(inside.size(), written);
            written.append(inside);
        } else {
            written.append(behind_tag.substr(0, behind_tag.size() - rest.size()));
        }
        fields_of[tag >> 3U & 31U].push_back(written);
        bytes = rest;
    }
    std::vector<std::size_t> remaining;
    for (std::size_t number = 0; number < fields_of.size(); ++number) {
        remaining.insert(remaining.end(), fields_of[number].size(), number);
    }
    std::vector<std::size_t> next(fields_of.size());
    std::string out;
    while (!remaining.empty()) {
        std::swap(remaining[random(remaining.size())], remaining.back());
        out.append(fields_of[remaining.back()][next[remaining.back()]++]);
        remaining.pop_back();
        if (random(40) == 0) {
            out.append(message().group(150, message().text(1, "unknown")).bytes());
        }
    }
    return out;
}

} // namespace test

#endif // STEMMA_TESTS_WIRE_BUILDER_HPP
