// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_FUSED_ATTENTION_HPP
#define STEMMA_EVIDENCE_DETAIL_FUSED_ATTENTION_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/scoped_name.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/sweeps.hpp>

#include <cstddef>
#include <string_view>

namespace stemma::inline STEMMA_ABI::detail {

/// Whether operators of a type are whole attentions: Attention, QAttention, GroupQueryAttention.
[[nodiscard]] constexpr bool is_attention_type(std::string_view type) noexcept {
    return type.ends_with("Attention");
}

/// Whether one of the words of a name is that of these types, as in `SelfAttention`.
/// Complexity: O(length).
[[nodiscard]] constexpr bool names_attention(std::string_view name) noexcept {
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool begins = i == 0 || is_capital(name[i]) || !is_alphanumeric(name[i - 1]);
        if (begins && starts_alike(name.substr(i), "attention")) {
            return true;
        }
    }
    return false;
}

/// Returns: the module of a fused attention according to `known(u)`, the modules of the operators
/// around it or `no_id`: the nearest attention around the reader of its result, by name or class,
/// or the deepest module that calls this and the projections before; `no_id` without either.
/// Complexity: O(neighbours + depth).
template <named_operators Ops, module_view Modules, class Known>
[[nodiscard]] id find_attention(const Ops& ops, const Modules& modules, operator_t<Ops> v,
                                Known known) {
    const tree_index& tree = modules.index();
    const auto& graph = ops.graph();
    common_module readers;
    const auto for_each_reader = [&](operator_t<Ops> of, auto f) {
        for (auto [out, last] = out_edges(of, graph); out != last; ++out) {
            f(target(*out, graph));
        }
    };
    const auto add = [&](operator_t<Ops> reader) { readers.add(known(reader)); };
    for_each_reader(v, [&](operator_t<Ops> reader) {
        is_quantization(ops.op_type(reader)) ? for_each_reader(reader, add) : add(reader);
    });
    if (readers.low == no_id) {
        return no_id;
    }
    const auto reader = readers.get(tree);
    const auto is_attention = [&](id m) {
        const bool is_member = is_number(std::string_view(modules.name(m)));
        return names_attention(modules.class_name(m)) ||
               names_attention(modules.name(is_member ? tree.parent(m) : m));
    };
    auto module = tree.is_leaf(reader) && reader != 0 ? tree.parent(reader) : reader;
    while (module != 0 && !is_attention(module)) {
        module = tree.parent(module);
    }
    common_module projections;
    for (auto [in, last] = in_edges(v, graph); in != last; ++in) {
        projections.add(known(source(*in, graph)));
    }
    if (projections.low != no_id && projections.low + 1 < projections.behind) {
        const auto shared = tree.lca(reader, projections.get(tree));
        module = tree.depth(shared) > tree.depth(module) ? shared : module;
    }
    return module == 0 ? no_id : module;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_FUSED_ATTENTION_HPP
