// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_INHERIT_HPP
#define STEMMA_TAGGING_INHERIT_HPP

#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The attribution of an operator that a rewriter puts in place of others: fused, split or copied.
///
/// The module is the common ancestor of the operators with evidence; source and confidence are the
/// least trusted and lowest among them, and differing modules are a conflict unless one is an
/// ancestor of the other. Returns: no module if none of the old ones has evidence; `repropagate`
/// then finds one. Requires: `old` are indices of `before`. Complexity: O(old).
[[nodiscard]] inline attribution
inherit(const tree_index& modules, std::span<const attribution> before, std::span<const id> old) {
    const auto counts = [&](id v) {
        return before[v].module != no_id && is_evidence(before[v].source);
    };
    attribution result;
    id deepest = 0;
    for (auto v : old) {
        const auto& one = before[v];
        if (!counts(v)) {
            continue;
        }
        deepest = modules.depth(one.module) > modules.depth(deepest) ? one.module : deepest;
        if (result.module == no_id) {
            result = one;
            continue;
        }
        result.conflict = result.conflict || one.conflict;
        result.call = result.module == one.module && result.call == one.call ? one.call : no_id;
        result.module = modules.lca(result.module, one.module);
        result.source = std::max(result.source, one.source);
        result.confidence = std::min(result.confidence, one.confidence);
    }
    for (auto v : old) {
        result.conflict =
            result.conflict || (counts(v) && !modules.is_ancestor(before[v].module, deepest));
    }
    return result;
}

/// The same, as in `inherit(modules, before, {3, 4})`.
[[nodiscard]] inline attribution inherit(const tree_index& modules,
                                         std::span<const attribution> before,
                                         std::initializer_list<id> old) {
    return inherit(modules, before, std::span(old.begin(), old.size()));
}

/// Returns: the tags of all the old operators together. Complexity: O(tags log tags).
[[nodiscard]] inline detail::id_set inherit(detail::id_set_pool& pool,
                                            std::span<const detail::id_set> before,
                                            std::span<const id> old) {
    std::vector<id> all;
    for (auto v : old) {
        pool.for_each(before[v], [&](id tag) { all.push_back(tag); });
    }
    all = detail::range::each_once(std::move(all));
    return pool.intern(all);
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_INHERIT_HPP
