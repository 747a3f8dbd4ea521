// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_INLINED_NAME_HPP
#define STEMMA_EVIDENCE_DETAIL_INLINED_NAME_HPP

#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/model/operator_view.hpp>

#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// The prefix of the names that ONNX Runtime gives to operators of an inlined function call:
/// `_inlfunc_<function>_<name>`, from the second call on `_inlfunc_<function>_token_<k>_<name>`.
inline constexpr std::string_view inlined_prefix = "_inlfunc_";

/// Whether a name is that of a Reshape inserted before a matrix product: ONNX Runtime's, which a
/// suffix may follow, or `<product>_pre_reshape`.
[[nodiscard]] inline bool is_reshaped_name(std::string_view name) {
    return name.starts_with("gemm_input_reshape") || name.ends_with("_pre_reshape");
}

/// Whether a name is that of a Reshape that ONNX Runtime inserted behind a matrix product, which a
/// suffix may follow.
[[nodiscard]] inline bool reshapes_product(std::string_view name) {
    return name.starts_with("gemm_output_reshape");
}

/// Whether a name is that of a Transpose that ONNX Runtime inserted between layouts.
[[nodiscard]] inline bool transposes_layout(std::string_view name) {
    return name.starts_with("Transpose_token_");
}

/// The scope of an operator that stood in a function.
struct inlined_scope {
    std::string_view scope; ///< as written by torch's exporter, without enclosing slashes
    bool within = false;    ///< the operator may be in a module below
};

/// Returns: the scope in an operator's name before its call was inlined, if the operators know it
/// (`inlined`); an empty one if they say it cannot be known; else that of the function it stood in;
/// nothing for other operators. Complexity: O(length of names).
template <named_operators Ops>
[[nodiscard]] std::optional<std::optional<scoped_name>> find_inlined_scope(const Ops& ops,
                                                                           operator_t<Ops> v) {
    if constexpr (requires { ops.inlined(); }) {
        if (std::string_view(ops.name(v)).starts_with('/')) { // most
            return std::nullopt;
        }
        const auto name = detail::without_fused(ops.name(v));
        if (name.starts_with('/')) {
            return std::nullopt;
        }
        if (name.starts_with(inlined_prefix) ||
            (name.find('/') == name.npos && ops.result_name(v).starts_with(inlined_prefix))) {
            if (const auto before = ops.inlined().calls.name(v)) {
                const auto match = split_scoped_name(*before, ops.op_type(v));
                return match ? match : split_leftover_name(*before);
            }
        }
        if (const auto inlined = ops.inlined().modules.find(v)) {
            const bool own =
                std::string_view(ops.name(v)).starts_with(inlined_prefix) && !inlined->within;
            return scoped_name{inlined->scope, scope_style::called, own, inlined->within};
        }
    }
    return std::nullopt;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_INLINED_NAME_HPP
