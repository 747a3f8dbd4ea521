// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_NODE_SHAPES_HPP
#define STEMMA_FOLD_NODE_SHAPES_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/constant_node.hpp>
#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/values_read.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/graph_contents.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// The fields of a node that distinguish it by name only.
enum class node_text : std::uint8_t {
    none,   ///< not just a text: nodes that differ in it are not alike
    input,  ///< name of a value read
    output, ///< name of a value produced
    name,   ///< of the node
    note,   ///< a doc string, or a metadata entry
};

namespace detail {

/// Returns: the kind of a field of a NodeProto.
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

/// Returns: the text of such a field; for a metadata entry, its value.
[[nodiscard]] inline std::string_view text_of(const wire_reader& fields, const wire_field& field) {
    return field.is_bytes(detail::onnx_fields::node::metadata_props)
               ? wire_model::read_entry(fields, field).second
               : fields.text(field);
}

} // namespace detail

/// Compares nodes up to names, doc strings and metadata values: the same fields in the same order,
/// with the same bytes. Bodies may differ only in what they capture.
class node_shapes {
public:
    /// Requires: both outlive it.
    node_shapes(const wire_model& model, const graph_contents& contents)
        : model_(model), contents_(contents) {}

    /// With `vary`, only name and type of a Constant's attribute count.
    /// Complexity: O(bytes of the node).
    [[nodiscard]] std::uint64_t hash(id node, bool vary = false) const {
        vary = vary && varies(node);
        const auto renamed = without_captures(node);
        std::uint64_t result = 0;
        for_each_part(reader(node, renamed), vary,
                      [&](std::uint32_t number, std::string_view bytes) {
                          result = detail::hash_bytes(bytes, detail::hash_mix(result, number));
                          return true;
                      });
        return result;
    }

    /// As above.
    [[nodiscard]] bool equal(id a, id b, bool vary = false) const {
        vary = vary && varies(a) && varies(b);
        const auto renamed_a = without_captures(a);
        const auto renamed_b = without_captures(b);
        auto other = reader(b, renamed_b);
        bool same = true;
        std::string kind;
        detail::wire_field theirs;
        for_each_part(reader(a, renamed_a), vary,
                      [&](std::uint32_t number, std::string_view bytes) {
                          same = other.next(theirs) && theirs.number == number &&
                                 shown(other, theirs, vary, kind) == bytes;
                          return same;
                      });
        return same && !other.next(theirs);
    }

private:
    [[nodiscard]] detail::wire_reader reader(id node, const std::string& renamed) const {
        if (contents_.bodies_of(node).empty()) {
            return model_.reader(model_.message(node));
        }
        return {renamed.data(), 0, static_cast<std::uint32_t>(renamed.size()), model_.file()};
    }

    /// Returns: the message of a node with bodies, with captured names replaced by numbers.
    [[nodiscard]] std::string without_captures(id node) const {
        if (contents_.bodies_of(node).empty()) {
            return {};
        }
        detail::new_names names;
        id number = 0;
        const auto read = detail::values_read(model_, contents_, node);
        for (auto i = model_.inputs(node).size(); i < read.size(); ++i) {
            names.add(model_.value_name(read[i]), '\1' + std::to_string(number++));
        }
        detail::message_tree renamed;
        detail::append_renamed(renamed, model_.reader(model_.message(node)), detail::names_in::node,
                               names);
        return renamed.text(model_.bytes());
    }

    /// Returns: the part of a field that counts.
    [[nodiscard]] static std::string_view shown(const detail::wire_reader& fields,
                                                const detail::wire_field& field, bool vary,
                                                std::string& kind) {
        if (vary && field.is_bytes(detail::onnx_fields::node::attribute)) {
            kind = kind_of(fields.inner(field));
            return kind;
        }
        if (detail::text_kind(field) == node_text::none) {
            return fields.whole(field);
        }
        return field.is_bytes(detail::onnx_fields::node::metadata_props)
                   ? wire_model::read_entry(fields, field).first
                   : std::string_view();
    }

    /// Whether a node is a Constant that may differ in value.
    [[nodiscard]] bool varies(id node) const {
        using at = detail::onnx_fields::node;
        std::size_t attributes = 0;
        auto fields = model_.reader(model_.message(node));
        for (detail::wire_field field;
             detail::is_constant_node(model_, node) && fields.next(field);) {
            if (field.is_bytes(at::attribute)) {
                const auto names = detail::read_attribute_names(fields.inner(field));
                attributes += names.name.empty() || !names.reference.empty() ? 2U : 1U;
            }
        }
        return attributes == 1 && contents_.bodies_of(node).empty();
    }

    /// Returns: name and type of an attribute other than a graph, as one text.
    [[nodiscard]] static std::string kind_of(detail::wire_reader fields) {
        using at = detail::onnx_fields::attribute;
        std::string kind;
        for (detail::wire_field field; fields.next(field);) {
            const bool counts =
                field.is_bytes(at::name) || field.is(at::type, detail::wire_type::varint);
            kind.append(counts ? fields.whole(field) : std::string_view());
        }
        return kind;
    }

    template <class Function>
    static void for_each_part(detail::wire_reader fields, bool vary, Function f) {
        std::string kind;
        for (detail::wire_field field; fields.next(field);) {
            if (!f(field.number, shown(fields, field, vary, kind))) {
                return;
            }
        }
    }

    const wire_model& model_;
    const graph_contents& contents_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_FOLD_NODE_SHAPES_HPP
