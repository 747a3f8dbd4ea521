// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_REPORT_DETAIL_MODULE_LOOKS_HPP
#define STEMMA_REPORT_DETAIL_MODULE_LOOKS_HPP

#include <stemma/core/detail/hash.hpp>
#include <stemma/core/detail/vertices_by_index.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by module a number for its colour: by class, or without a class by equal operators and
/// submodules. `no_id` for a module without nodes and class. Numbers are from 0 in the order of the
/// tree.
/// Complexity: O(V + modules + length of types and names).
template <named_operators Ops, module_view Modules>
[[nodiscard]] std::vector<id> module_looks(const Ops& ops, const Modules& modules,
                                           const tagging& tagged) {
    const auto& tree = modules.index();
    std::vector<std::uint64_t> outline(tree.size(), 0); // sums, as nodes may be scattered
    const vertices_by_index<graph_of<Ops>> vertex(ops.graph());
    for (id v = 0; v < tagged.attributions.size(); ++v) {
        const std::string_view type = ops.op_type(vertex[v]);
        if (type != "Constant") { // exporters fold them inconsistently
            outline[tagged.attributions[v].module] += hash_bytes(type, 1) | 1U;
        }
    }
    std::vector<std::uint64_t> key(tree.size(), 0);
    for (auto m = static_cast<id>(tree.size()); m-- > 0;) {
        // Descendants come first, and have already been added.
        const std::string_view type = modules.class_name(m);
        if (!type.empty()) {
            key[m] = hash_bytes(type, 2);
        } else if (outline[m] != 0) {
            key[m] = hash_mix(outline[m], 3);
        }
        if (m > 0) {
            const auto name = hash_bytes(std::string_view(modules.name(m)), 4);
            outline[tree.parent(m)] += outline[m] == 0 ? 0 : hash_mix(name, outline[m]) | 1U;
        }
    }
    std::unordered_map<std::uint64_t, id> numbers;
    std::vector<id> looks(tree.size(), no_id);
    for (id m = 0; m < tree.size(); ++m) {
        if (key[m] != 0) {
            looks[m] = numbers.emplace(key[m], static_cast<id>(numbers.size())).first->second;
        }
    }
    return looks;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_REPORT_DETAIL_MODULE_LOOKS_HPP
