// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_NODE_SHAPES_HPP
#define STEMMA_ONNX_WIRE_NODE_SHAPES_HPP

#include <stemma/core/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/values_read.hpp>
#include <stemma/onnx/wire/value_renaming.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/onnx/wire/wire_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma {

/// What of a node's fields is told apart only by name.
enum class node_text : std::uint8_t { none, input, output, name, note };

/// Returns: what a field of a NodeProto is; notes are doc strings, and values of metadata.
[[nodiscard]] constexpr node_text text_kind(const wire_field& field) noexcept {
    using at = detail::onnx_fields::node;
    if (field.type != wire_type::bytes) {
        return node_text::none;
    }
    switch (field.number) {
    case at::input:
        return node_text::input;
    case at::output:
        return node_text::output;
    case at::name:
        return node_text::name;
    case at::doc_string:
    case at::metadata_props:
        return node_text::note;
    default:
        return node_text::none;
    }
}

/// Returns: the text of such a field: of an entry of metadata the value.
[[nodiscard]] inline std::string_view text_of(const wire_reader& fields, const wire_field& field) {
    return field.is_bytes(detail::onnx_fields::node::metadata_props)
               ? wire_model::read_entry(fields, field).second
               : fields.text(field);
}

/// Tells of nodes whether they are the same but for names, doc strings and values of metadata:
/// fields in the same order, with the same bytes. Bodies may differ in what they capture only.
class node_shapes {
public:
    /// Requires: both outlive it.
    node_shapes(const wire_model& model, const graph_contents& contents)
        : model_(model), contents_(contents) {}

    /// Complexity: O(bytes of the node).
    [[nodiscard]] std::uint64_t hash(id node) const {
        const auto renamed = without_captures(node);
        std::uint64_t result = 0;
        for_each_part(reader(node, renamed), [&](std::uint32_t number, std::string_view bytes) {
            result = hash_bytes(bytes, hash_mix(result, number));
            return true;
        });
        return result;
    }

    /// Complexity: as above.
    [[nodiscard]] bool equal(id a, id b) const {
        const auto renamed_a = without_captures(a);
        const auto renamed_b = without_captures(b);
        auto other = reader(b, renamed_b);
        bool same = true;
        wire_field theirs;
        for_each_part(reader(a, renamed_a), [&](std::uint32_t number, std::string_view bytes) {
            same = other.next(theirs) && theirs.number == number && shown(other, theirs) == bytes;
            return same;
        });
        return same && !other.next(theirs);
    }

private:
    [[nodiscard]] wire_reader reader(id node, const std::string& renamed) const {
        if (contents_.bodies_of(node).empty()) {
            return model_.reader(model_.message(node));
        }
        return {renamed.data(), 0, static_cast<std::uint32_t>(renamed.size()), model_.file()};
    }

    /// Returns: the message of a node with bodies, in which what they capture has names by number.
    [[nodiscard]] std::string without_captures(id node) const {
        if (contents_.bodies_of(node).empty()) {
            return {};
        }
        value_renaming renaming;
        id number = 0;
        const auto read = values_read(model_, contents_, node);
        for (auto i = model_.inputs(node).size(); i < read.size(); ++i) {
            renaming.add(model_.value_name(read[i]), '\1' + std::to_string(number++));
        }
        return renaming.node(model_.reader(model_.message(node)));
    }

    /// Returns: what of a field counts.
    [[nodiscard]] static std::string_view shown(const wire_reader& fields,
                                                const wire_field& field) {
        if (text_kind(field) == node_text::none) {
            return fields.whole(field);
        }
        return field.is_bytes(detail::onnx_fields::node::metadata_props)
                   ? wire_model::read_entry(fields, field).first
                   : std::string_view();
    }

    template <class Function>
    static void for_each_part(wire_reader fields, Function f) {
        for (wire_field field; fields.next(field);) {
            if (!f(field.number, shown(fields, field))) {
                return;
            }
        }
    }

    const wire_model& model_;
    const graph_contents& contents_;
};

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_NODE_SHAPES_HPP
