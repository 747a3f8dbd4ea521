// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_SHALLOW_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_SHALLOW_MODULES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/ascii.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the number of non-numeric names on the path from `above` down to `m`.
template <module_view Modules>
[[nodiscard]] std::size_t names_between(const Modules& modules, id above, id m) {
    std::size_t names = 0;
    for (; m != above; m = modules.index().parent(m)) {
        names += is_number(modules.name(m)) ? 0U : 1U;
    }
    return names;
}

/// Returns: the modules at which names and metadata of operators stop although their operators are
/// in modules below; sorted.
///
/// `named(v)` is the module that these give for an operator, or `no_id`. They stop at a module
/// below which they never go while the parameters read there are deeper: in several modules some
/// level of which is never named, or where names of a sibling do go that deep. A module that uses
/// the parameters of a child itself does not count.
/// Complexity: O(operators + inputs), and O(modules) if some parameter is deeper.
template <parameter_readers Ops, module_view Modules, class Named>
[[nodiscard]] std::vector<id> find_shallow_modules(const Ops& ops, const Modules& modules,
                                                   const parameter_owners& owners, Named named) {
    const tree_index& tree = modules.index();
    std::vector<std::pair<id, id>> deeper; // the named module, and the owner below it that is read
    std::vector<bool> is_named(tree.size(), false);
    for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
        const auto m = named(*it);
        if (m == no_id) {
            continue;
        }
        is_named[m] = true;
        ops.for_each_parameter(*it, [&](id p) {
            for (auto owner : owners.of(p)) {
                const auto called = nearest_called(modules, owner);
                const std::pair pair(m, called);
                if (called != m && tree.is_ancestor(m, called) &&
                    (deeper.empty() || deeper.back() != pair)) {
                    deeper.push_back(pair);
                }
            }
        });
    }
    std::vector<id> shallow;
    if (deeper.empty()) {
        return shallow;
    }
    deeper = range::each_once(std::move(deeper));
    const module_lookup<Modules> lookup(modules);
    const auto sibling_goes_deeper = [&](id m, id owner) {
        constexpr std::size_t max_siblings = 64;
        if (m == 0) {
            return false;
        }
        const auto above = tree.parent(m);
        const auto way = path_of(modules, owner).substr(path_of(modules, m).size() + 1);
        std::size_t tried = 0;
        for (auto s = above + 1; s < tree.end(above) && tried < max_siblings; s = tree.end(s)) {
            const auto like = s == m ? no_id : find_module(lookup, way, s);
            ++tried;
            if (like != no_id && is_named[like]) {
                return true;
            }
        }
        return false;
    };
    for (std::size_t first = 0, end = 0; first < deeper.size(); first = end) {
        const auto m = deeper[first].first;
        std::size_t skipped = 0;
        bool like_sibling = false;
        for (end = first; end < deeper.size() && deeper[end].first == m; ++end) {
            skipped += detail::names_between(modules, m, deeper[end].second) > 1 ? 1U : 0U;
            like_sibling = like_sibling || sibling_goes_deeper(m, deeper[end].second);
        }
        const auto inside = is_named.begin() + m + 1;
        const bool named_below = std::find(inside, is_named.begin() + tree.end(m), true) !=
                                 is_named.begin() + tree.end(m);
        if (!named_below && (skipped > 1 || like_sibling)) {
            shallow.push_back(m);
        }
    }
    return shallow;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_SHALLOW_MODULES_HPP
