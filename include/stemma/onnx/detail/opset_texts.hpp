// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_OPSET_TEXTS_HPP
#define STEMMA_ONNX_DETAIL_OPSET_TEXTS_HPP

#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/onnx/detail/onnx_fields.hpp>
#include <stemma/onnx/detail/wire_reader.hpp>
#include <stemma/onnx/detail/wire_text.hpp>
#include <stemma/onnx/onnx_model.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the import in the OperatorSetIdProto that `fields` reads; the standard domain is "".
/// Complexity: O(fields).
[[nodiscard]] inline onnx_model::opset_import read_opset_import(wire_reader fields) {
    using at = detail::onnx_fields::opset;
    onnx_model::opset_import import;
    for (wire_field field; fields.next(field);) {
        if (field.is_bytes(at::domain)) {
            import.domain = plain_domain(fields.text(field));
        } else if (field.is(at::version, wire_type::varint)) {
            import.version = static_cast<std::int64_t>(field.value);
        }
    }
    return import;
}

/// Returns: the version of the standard operators that each function imports, `otherwise` for one
/// that imports none. Complexity: O(fields).
[[nodiscard]] inline std::vector<std::int64_t> function_opsets(const wire_model& model,
                                                               std::int64_t otherwise) {
    std::vector<std::int64_t> opsets;
    const auto count = model.functions().size();
    auto fields = model.reader();
    for (wire_field whole; opsets.size() < count && fields.next(whole);) {
        if (!whole.is_bytes(onnx_fields::model::functions)) {
            continue;
        }
        auto& opset = opsets.emplace_back(otherwise);
        auto parts = fields.inner(whole);
        for (wire_field part; parts.next(part);) {
            if (part.is_bytes(onnx_fields::function::opset_import)) {
                const auto import = read_opset_import(parts.inner(part));
                opset = import.domain.empty() ? import.version : opset;
            }
        }
    }
    return opsets;
}

/// Returns: the content of the OperatorSetIdProto of an import.
[[nodiscard]] inline std::string opset_import_text(const onnx_model::opset_import& import) {
    using at = detail::onnx_fields::opset;
    std::string text;
    detail::append_field(at::domain, import.domain, text);
    detail::append_number(at::version, import.version, text);
    return text;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_OPSET_TEXTS_HPP
