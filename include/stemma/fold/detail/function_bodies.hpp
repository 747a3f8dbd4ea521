// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_FOLD_DETAIL_FUNCTION_BODIES_HPP
#define STEMMA_FOLD_DETAIL_FUNCTION_BODIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/detail/attribute_texts.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/opset_texts.hpp>
#include <stemma/onnx/detail/rename_values.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The operator of a node.
struct operator_name {
    std::string_view domain;   ///< "" for the standard one, in any spelling
    std::string_view type;     ///< or the name of the called function
    std::string_view overload; ///< "" if absent

    friend bool operator==(const operator_name&, const operator_name&) = default;
    // Strings have no <=> in libc++ before version 15.
    friend bool operator<(const operator_name& a, const operator_name& b) noexcept {
        return std::tie(a.domain, a.type, a.overload) < std::tie(b.domain, b.type, b.overload);
    }
};

/// Returns: the operator of the NodeProto read by `fields`. Complexity: O(fields).
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

/// Calls `f(wire_reader)` for the bodies of the NodeProto read by `fields`, not for those in them.
/// Complexity: O(fields).
template <class Function>
void for_each_body(wire_reader fields, Function f) {
    using at = detail::onnx_fields::attribute;
    for (wire_field field; fields.next(field);) {
        if (!field.is_bytes(detail::onnx_fields::node::attribute)) {
            continue;
        }
        auto parts = fields.inner(field);
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(at::g) || part.is_bytes(at::graphs)) {
                f(parts.inner(part));
            }
        }
    }
}

/// Calls `f(wire_reader)` for the nodes of the GraphProto read by `fields`, not for those in their
/// bodies. Complexity: O(fields).
template <class Function>
void for_each_node(wire_reader fields, Function f) {
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(detail::onnx_fields::graph::node)) {
            f(fields.inner(field));
        }
    }
}

/// Calls `f(operator_name)` for the NodeProto read by `fields` and those in its bodies, at any
/// depth. Complexity: O(fields).
template <class Function>
void for_each_operator(wire_reader fields, Function f) {
    f(read_operator_name(fields));
    for_each_body(fields, [&](wire_reader graph) {
        for_each_node(graph, [&](wire_reader node) { for_each_operator(node, f); });
    });
}

/// Calls `f(name)` for the values that the GraphProto read by `fields` defines, not for those of
/// bodies in it. Complexity: O(fields).
template <class Function>
void for_each_defined_name(wire_reader fields, Function f) {
    using at = detail::onnx_fields::graph;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::input) || field.is_bytes(at::initializer) ||
            field.is_bytes(at::sparse_initializer)) {
            for_each_value_name(fields.inner(field), names_of_field(names_in::graph, field.number),
                                f);
        } else if (field.is_bytes(at::node)) {
            auto node = fields.inner(field);
            for (wire_field inside; node.next(inside);) {
                if (inside.is_bytes(detail::onnx_fields::node::output)) {
                    f(node.text(inside));
                }
            }
        }
    }
}

/// Calls `f(name)` for the values that bodies of the NodeProto read by `fields` define, at any
/// depth. Complexity: O(fields) per level of nesting.
template <class Function>
void for_each_inner_name(wire_reader fields, Function f) {
    for_each_body(fields, [&](wire_reader graph) {
        for_each_defined_name(graph, f);
        for_each_node(graph, [&](wire_reader node) { for_each_inner_name(node, f); });
    });
}

/// A function of a model, field by field.
struct function_body {
    operator_name name;                              ///< as used by calls
    std::vector<std::string_view> inputs;            ///< names of the formal inputs, in order
    std::vector<std::string_view> outputs;           ///< names of the results, in order
    std::vector<wire_field> nodes;                   ///< the NodeProtos, in order
    std::set<std::string_view> values;               ///< names in the nodes and their bodies
    std::set<std::string_view> inner_values;         ///< those that bodies define
    std::map<std::string_view, wire_field> defaults; ///< attributes with defaults, by name
    std::vector<onnx_model::opset_import> imports;   ///< operator sets of its nodes
};

/// Reads the functions of a model. For duplicate names the first one counts.
/// Complexity: O(fields of the functions * log names).
[[nodiscard]] inline std::map<operator_name, function_body>
read_function_bodies(const wire_model& model) {
    using at_model = detail::onnx_fields::model;
    using at = detail::onnx_fields::function;
    std::map<operator_name, function_body> bodies;
    auto all = model.reader();
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
                detail::for_each_value_name(fields.inner(field), detail::names_in::node,
                                            [&](auto value) { body.values.insert(value); });
                for_each_inner_name(fields.inner(field),
                                    [&](auto value) { body.inner_values.insert(value); });
            } else if (field.is_bytes(at::attribute_proto)) {
                body.defaults.emplace(detail::read_attribute_names(fields.inner(field)).name,
                                      field);
            } else if (field.is_bytes(at::opset_import)) {
                body.imports.push_back(read_opset_import(fields.inner(field)));
            }
        }
        const auto name = body.name;
        bodies.emplace(name, std::move(body));
    }
    return bodies;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_FOLD_DETAIL_FUNCTION_BODIES_HPP
