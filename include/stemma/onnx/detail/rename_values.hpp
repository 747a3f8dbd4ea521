// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_RENAME_VALUES_HPP
#define STEMMA_ONNX_DETAIL_RENAME_VALUES_HPP

#include <stemma/onnx/detail/message_tree.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Messages that contain names of values, and the names themselves.
enum class names_in : std::uint8_t {
    nothing,
    function,
    node,
    attribute,
    graph,
    value_info,
    tensor,
    sparse_tensor,
    annotation,
    entry,
    name, ///< the field is the name of a value
};

/// The fields of a message that contain names of values.
struct naming_field {
    names_in message;
    std::uint32_t number;
    names_in holds;
};

inline constexpr naming_field naming_fields[] = {
    {names_in::function, onnx_fields::function::input, names_in::name},
    {names_in::function, onnx_fields::function::output, names_in::name},
    {names_in::function, onnx_fields::function::node, names_in::node},
    {names_in::function, onnx_fields::function::attribute_proto, names_in::attribute},
    {names_in::function, onnx_fields::function::value_info, names_in::value_info},
    {names_in::node, onnx_fields::node::input, names_in::name},
    {names_in::node, onnx_fields::node::output, names_in::name},
    {names_in::node, onnx_fields::node::attribute, names_in::attribute},
    {names_in::attribute, onnx_fields::attribute::g, names_in::graph},
    {names_in::attribute, onnx_fields::attribute::graphs, names_in::graph},
    {names_in::graph, onnx_fields::graph::node, names_in::node},
    {names_in::graph, onnx_fields::graph::initializer, names_in::tensor},
    {names_in::graph, onnx_fields::graph::input, names_in::value_info},
    {names_in::graph, onnx_fields::graph::output, names_in::value_info},
    {names_in::graph, onnx_fields::graph::value_info, names_in::value_info},
    {names_in::graph, onnx_fields::graph::quantization_annotation, names_in::annotation},
    {names_in::graph, onnx_fields::graph::sparse_initializer, names_in::sparse_tensor},
    {names_in::value_info, onnx_fields::value_info::name, names_in::name},
    {names_in::tensor, onnx_fields::tensor::name, names_in::name},
    {names_in::sparse_tensor, onnx_fields::sparse_tensor::values, names_in::tensor},
    {names_in::annotation, onnx_fields::annotation::tensor_name, names_in::name},
    {names_in::annotation, onnx_fields::annotation::parameters, names_in::entry},
    {names_in::entry, onnx_fields::entry::value, names_in::name},
};

/// Returns: what a length-delimited field `number` of a message contains.
[[nodiscard]] constexpr names_in names_of_field(names_in message, std::uint32_t number) noexcept {
    for (const auto& entry : naming_fields) {
        if (entry.message == message && entry.number == number) {
            return entry.holds;
        }
    }
    return names_in::nothing;
}

/// Calls `f(name)` for each name of a value in a message, including those in bodies of nodes; empty
/// ones too. Complexity: O(fields), and that of `f`.
template <class Function>
void for_each_value_name(wire_reader fields, names_in message, const Function& f) {
    for (wire_field field; fields.next(field);) {
        const auto holds = field.type == wire_type::bytes ? names_of_field(message, field.number)
                                                          : names_in::nothing;
        if (holds == names_in::name) {
            f(fields.text(field));
        } else if (holds != names_in::nothing) {
            for_each_value_name(fields.inner(field), holds, f);
        }
    }
}

/// Renames values in a field of a message, including bodies of nodes: `name_of(name)` returns the
/// new name. Complexity: O(fields), and that of `name_of`.
template <class Function>
void rename_values(edited_field& field, names_in message, const Function& name_of) {
    const auto holds =
        field.type == wire_type::bytes ? names_of_field(message, field.number) : names_in::nothing;
    if (holds == names_in::name) {
        field.set(name_of(field.text()));
    } else if (holds != names_in::nothing) {
        field.edit([&](edited_field& inside) { rename_values(inside, holds, name_of); });
    }
}

/// Appends the message that `fields` reads, with values renamed. Complexity: as above.
template <class Function>
void append_renamed(message_tree& out, wire_reader fields, names_in message,
                    const Function& name_of, id file = 0) {
    out.edit(
        fields, [&](edited_field& field) { rename_values(field, message, name_of); }, file);
}

/// New names for some values of a graph.
class new_names {
public:
    /// Requires: neither name is defined in a body of the graph.
    void add(std::string_view from, std::string to) { names_.emplace(from, std::move(to)); }

    /// Whether no value is renamed.
    [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

    /// Returns: the new name, or `name`. Valid as long as this and `name`.
    [[nodiscard]] std::string_view operator()(std::string_view name) const {
        const auto entry = names_.find(name);
        return entry == names_.end() ? name : std::string_view(entry->second);
    }

private:
    std::map<std::string, std::string, std::less<>> names_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_RENAME_VALUES_HPP
