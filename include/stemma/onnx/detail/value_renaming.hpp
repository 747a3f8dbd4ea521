// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_VALUE_RENAMING_HPP
#define STEMMA_ONNX_DETAIL_VALUE_RENAMING_HPP

#include <stemma/onnx/detail/message_edits.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace stemma {

/// Other names for some values of a graph, put into messages that speak of them.
class value_renaming {
public:
    /// Requires: nobody defines either name in a body of the graph.
    void add(std::string_view from, std::string to) { names_.emplace(from, std::move(to)); }

    /// Whether nothing has another name.
    [[nodiscard]] bool empty() const noexcept { return names_.empty(); }

    /// Returns: the new name, or `name`. Valid as long as this and `name`.
    [[nodiscard]] std::string_view operator()(std::string_view name) const {
        const auto found = names_.find(name);
        return found == names_.end() ? name : std::string_view(found->second);
    }

    /// Returns: the content of a NodeProto, which `fields` reads, with bodies.
    /// Complexity: O(bytes).
    [[nodiscard]] std::string node(wire_reader fields) const {
        using at = detail::onnx_fields::node;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (field.is_bytes(at::input) || field.is_bytes(at::output)) {
                detail::append_field(field.number, (*this)(fields.text(field)), out);
            } else if (field.is_bytes(at::attribute)) {
                detail::append_field(field.number, attribute(fields.inner(field)), out);
            } else {
                return false;
            }
            return true;
        });
    }

    /// Returns: the content of a ValueInfoProto.
    [[nodiscard]] std::string value_info(wire_reader fields) const {
        return with_new_name(fields, detail::onnx_fields::value_info::name);
    }

    /// Returns: the content of a TensorProto.
    [[nodiscard]] std::string tensor(wire_reader fields) const {
        return with_new_name(fields, detail::onnx_fields::tensor::name);
    }

    /// Returns: the content of a TensorAnnotation.
    [[nodiscard]] std::string annotation(wire_reader fields) const {
        using at = detail::onnx_fields::annotation;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (field.is_bytes(at::tensor_name)) {
                detail::append_field(field.number, (*this)(fields.text(field)), out);
            } else if (field.is_bytes(at::parameters)) {
                detail::append_field(field.number, with_new_name(fields.inner(field), 2), out);
            } else {
                return false;
            }
            return true;
        });
    }

private:
    /// Copies the fields that `rewrite(field, out)` leaves alone.
    template <class Function>
    [[nodiscard]] static std::string rewritten(wire_reader& fields, Function rewrite) {
        std::string out;
        for (wire_field field; fields.next(field);) {
            if (!rewrite(field, out)) {
                out.append(fields.whole(field));
            }
        }
        return out;
    }

    [[nodiscard]] std::string with_new_name(wire_reader fields, std::uint32_t number) const {
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (!field.is_bytes(number)) {
                return false;
            }
            detail::append_field(number, (*this)(fields.text(field)), out);
            return true;
        });
    }

    [[nodiscard]] std::string attribute(wire_reader fields) const {
        using at = detail::onnx_fields::attribute;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (!field.is_bytes(at::g) && !field.is_bytes(at::graphs)) {
                return false;
            }
            detail::append_field(field.number, graph(fields.inner(field)), out);
            return true;
        });
    }

    [[nodiscard]] std::string graph(wire_reader fields) const {
        using at = detail::onnx_fields::graph;
        return rewritten(fields, [&](const wire_field& field, std::string& out) {
            if (field.is_bytes(at::node)) {
                detail::append_field(field.number, node(fields.inner(field)), out);
            } else if (field.is_bytes(at::output)) {
                detail::append_field(field.number, value_info(fields.inner(field)), out);
            } else {
                return false;
            }
            return true;
        });
    }

    std::map<std::string, std::string, std::less<>> names_;
};

} // namespace stemma

#endif // STEMMA_ONNX_DETAIL_VALUE_RENAMING_HPP
