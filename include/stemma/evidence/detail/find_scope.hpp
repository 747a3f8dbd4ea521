// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FIND_SCOPE_HPP
#define STEMMA_EVIDENCE_DETAIL_FIND_SCOPE_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/inlined_name.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <concepts>
#include <optional>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// What the names of an operator and of its first result say about its scope.
struct found_scope {
    std::optional<scoped_name> name; ///< of the operator
    std::optional<scoped_name> end;  ///< of its result, if different: the scope of an operator
                                     ///< fused with it
    std::optional<scoped_name> sum;  ///< of an addition fused into it whose sum it returns as well
};

/// Returns: the name of an operator's first result if it has the form used by exporters that write
/// scopes: `/encoder/fc/Add_output_0`; else "".
template <named_operators Ops>
[[nodiscard]] std::string_view scoped_result(const Ops& ops, operator_t<Ops> v) {
    if constexpr (requires {
                      { ops.result_name(v) } -> std::convertible_to<std::string_view>;
                  }) {
        const std::string_view result = ops.result_name(v);
        return is_result_name(result) ? result : "";
    } else {
        return {};
    }
}

/// Whether an operator's result has the name of that of a Transpose.
template <named_operators Ops>
[[nodiscard]] bool makes_transposed(const Ops& ops, operator_t<Ops> v) {
    const auto result = scoped_result(ops, v);
    return result.substr(result.rfind('/') + 1).starts_with("Transpose");
}

/// Whether an operator is a Reshape from or into the layout of a runtime, which inserts it.
template <named_operators Ops>
[[nodiscard]] bool reshapes_layout(const Ops& ops, operator_t<Ops> v) {
    if constexpr (requires { ops.result_name(v); }) {
        const auto is_reordered = [&](operator_t<Ops> maker) {
            const std::string_view result = ops.result_name(maker);
            return result == "reorder" || result.starts_with("reorder_token_");
        };
        if (ops.op_type(v) != std::string_view("Reshape")) {
            return false;
        }
        const auto [in, in_last] = in_edges(v, ops.graph());
        return is_reordered(v) || std::any_of(in, in_last, [&](const auto& edge) {
                   return is_reordered(source(edge, ops.graph()));
               });
    } else {
        return false;
    }
}

/// Whether an operator's result is named after that operator, or has a name that says nothing.
[[nodiscard]] inline bool is_own_result(std::string_view result, std::string_view name) noexcept {
    return !result.starts_with('/') ||
           (begins_with(result, name) && begins_with(result.substr(name.size()), "_output_"));
}

template <named_operators Ops>
[[nodiscard]] bool is_own_result(const Ops& ops, operator_t<Ops> v, std::string_view name) {
    if constexpr (requires {
                      { ops.result_name(v) } -> std::convertible_to<std::string_view>;
                  }) {
        return is_own_result(ops.result_name(v), name);
    } else {
        return true;
    }
}

/// Whether an operator's result is named after another operator of the scope in its own name: what
/// was fused in behind it.
template <named_operators Ops>
[[nodiscard]] bool ends_in_own_scope(const Ops& ops, operator_t<Ops> v) {
    const auto name = without_fused(ops.name(v));
    const auto result = scoped_result(ops, v);
    const auto around = name.substr(0, name.rfind('/') + 1);
    return !around.empty() && result.starts_with(around) &&
           result.find('/', around.size()) == result.npos && !is_own_result(result, name);
}

/// Returns: the scope in the name of the sum that a fused normalization returns beside its result.
template <named_operators Ops>
[[nodiscard]] std::optional<scoped_name> find_sum_scope(const Ops& ops, operator_t<Ops> v) {
    if constexpr (requires {
                      { ops.sum_name(v) } -> std::convertible_to<std::string_view>;
                  }) {
        const std::string_view sum = ops.sum_name(v);
        return is_result_name(sum) ? split_leftover_name(sum) : std::nullopt;
    } else {
        return std::nullopt;
    }
}

/// As `find_scope`, without looking at sums.
template <named_operators Ops>
[[nodiscard]] found_scope find_main_scope(const Ops& ops, operator_t<Ops> v) {
    if constexpr (folded_operators<Ops>) {
        if (ops.is_folded(v)) {
            return {};
        }
    }
    const std::string_view name = ops.name(v);
    const std::string_view op_type = ops.op_type(v);
    if (const auto inlined = find_inlined_scope(ops, v)) {
        return {*inlined, std::nullopt, std::nullopt};
    }
    found_scope outcome{split_scoped_name(name, op_type), std::nullopt, std::nullopt};
    if constexpr (calling_operators<Ops>) {
        // The root within a function is not that of the model.
        if (outcome.name && outcome.name->scope.empty() &&
            outcome.name->style == scope_style::relative && ops.enclosing_function(v) != no_id) {
            return {};
        }
    }
    const bool own = is_own_result(ops, v, name); // asked first, as it is for most
    const auto result = own ? std::string_view() : scoped_result(ops, v);
    if (own || result.empty()) {
        if (!outcome.name && name.find('/') != name.npos) {
            outcome.name = split_leftover_name(name, op_type);
        }
        if constexpr (requires { ops.result_name(v); }) {
            if (name.empty()) {
                outcome.name = split_leftover_name(ops.result_name(v), op_type);
            }
        }
        return outcome;
    }
    if (!outcome.name && differentiated(name).size() != name.size()) {
        // The result is the gradient of what another module computes, not another part.
        if (const auto forward = split_leftover_name(name)) {
            return {forward, std::nullopt, std::nullopt};
        }
    }
    auto maker = result;
    drop_tool_suffixes(maker);
    auto end = split_scoped_name(maker, op_type);
    if (!outcome.name && end) {
        return {end, std::nullopt, std::nullopt};
    }
    end = end ? end : split_leftover_name(result);
    if (!outcome.name && name.find('/') != name.npos) {
        outcome.name = split_leftover_name(name);
    }
    if (!outcome.name) {
        return {end, std::nullopt, std::nullopt};
    }
    if (end && outcome.name->style == scope_style::called && outcome.name->scope != end->scope) {
        outcome.name->exact = false;
        outcome.end = end;
    }
    return outcome;
}

/// Returns: the scope in an operator's name; else in the name of its first result, which exporters
/// write as `<operator>_output_0`; else in what an optimizer left of one, or of what it joined.
template <named_operators Ops>
[[nodiscard]] found_scope find_scope(const Ops& ops, operator_t<Ops> v) {
    auto outcome = find_main_scope(ops, v);
    if (!outcome.name || !outcome.name->exact) {
        outcome.sum = find_sum_scope(ops, v);
        outcome.name = outcome.name ? outcome.name : outcome.sum;
    }
    return outcome;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FIND_SCOPE_HPP
