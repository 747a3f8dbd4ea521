// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_FUNCTION_BODIES_HPP
#define STEMMA_ONNX_WIRE_FUNCTION_BODIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/detail/onnx_fields.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/onnx/wire/wire_reader.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma {

/// Returns: the name of the standard domain as "", others as they are.
[[nodiscard]] constexpr std::string_view plain_domain(std::string_view domain) noexcept {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

/// What a node says it is.
struct operator_name {
    std::string_view domain;
    std::string_view type;
    std::string_view overload;

    friend auto operator<=>(const operator_name&, const operator_name&) = default;
};

/// Returns: what the NodeProto that `fields` reads says it is. Complexity: O(fields).
[[nodiscard]] inline operator_name read_operator_name(wire_reader fields) {
    using at = detail::onnx_fields::node;
    operator_name name;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::op_type)) {
            name.type = fields.text(field);
        } else if (field.is_bytes(at::domain)) {
            name.domain = plain_domain(fields.text(field));
        } else if (field.is_bytes(at::overload)) {
            name.overload = fields.text(field);
        }
    }
    return name;
}

/// Returns: an import as the OperatorSetIdProto that `fields` reads has it.
[[nodiscard]] inline opset_import read_opset_import(wire_reader fields) {
    using at = detail::onnx_fields::opset;
    opset_import import;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::domain)) {
            import.domain = plain_domain(fields.text(field));
        } else if (field.is(at::version, wire_type::varint)) {
            import.version = static_cast<std::int64_t>(field.value);
        }
    }
    return import;
}

/// A function of a model, field by field.
struct function_body {
    operator_name name;
    std::vector<std::string_view> inputs;
    std::vector<std::string_view> outputs;
    std::vector<wire_field> nodes;
    std::map<std::string_view, wire_field> defaults; ///< attributes with values, by name
    std::vector<opset_import> imports;
};

/// Returns: the name in an AttributeProto.
[[nodiscard]] inline std::string_view read_attribute_name(wire_reader fields) {
    std::string_view name;
    for (wire_field field; fields.next(field);) {
        name = field.is_bytes(detail::onnx_fields::attribute::name) ? fields.text(field) : name;
    }
    return name;
}

/// Reads the functions of a model. Of two of one name the first counts.
/// Complexity: O(fields of the functions).
[[nodiscard]] inline std::map<operator_name, function_body>
read_function_bodies(const wire_model& model) {
    using at_model = detail::onnx_fields::model;
    using at = detail::onnx_fields::function;
    std::map<operator_name, function_body> bodies;
    wire_reader all(model.bytes().data(), 0, static_cast<std::uint32_t>(model.bytes().size()),
                    model.file());
    for (wire_field whole; all.next(whole);) {
        if (!whole.is_bytes(at_model::functions)) {
            continue;
        }
        function_body body;
        auto fields = all.inner(whole);
        for (wire_field field; fields.next(field);) {
            if (field.is_bytes(at::name)) {
                body.name.type = fields.text(field);
            } else if (field.is_bytes(at::domain)) {
                body.name.domain = plain_domain(fields.text(field));
            } else if (field.is_bytes(at::overload)) {
                body.name.overload = fields.text(field);
            } else if (field.is_bytes(at::input)) {
                body.inputs.push_back(fields.text(field));
            } else if (field.is_bytes(at::output)) {
                body.outputs.push_back(fields.text(field));
            } else if (field.is_bytes(at::node)) {
                body.nodes.push_back(field);
            } else if (field.is_bytes(at::attribute_proto)) {
                body.defaults.emplace(read_attribute_name(fields.inner(field)), field);
            } else if (field.is_bytes(at::opset_import)) {
                body.imports.push_back(read_opset_import(fields.inner(field)));
            }
        }
        const auto name = body.name;
        bodies.emplace(name, std::move(body));
    }
    return bodies;
}

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_FUNCTION_BODIES_HPP
