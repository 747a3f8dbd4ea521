// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_NEAREST_OWNERS_HPP
#define STEMMA_EVIDENCE_DETAIL_NEAREST_OWNERS_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/sweeps.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The modules whose parameters are read nearest to an operator, on one side of it; one entry for
/// each module, and `no_id` for all parameters without names.
class nearest_owners {
public:
    struct entry {
        id position = 0; ///< in the order of the graph
        id module = no_id;
        bool named = false; ///< by name or metadata: the operator is in exactly that module
    };

    static constexpr std::size_t capacity = 8;

    /// Adds an entry; `closer(a, b)` says which of two positions is nearer.
    template <class Closer>
    void add(entry added, Closer closer) {
        auto* const last = entries_.data() + size_;
        auto* match = std::find_if(entries_.data(), last,
                                   [&](const entry& e) { return e.module == added.module; });
        if (match == last && size_ < capacity) {
            entries_[size_++] = added;
            return;
        }
        if (match == last) {
            match = std::max_element(entries_.data(), last, [&](const entry& a, const entry& b) {
                return closer(a.position, b.position);
            });
        }
        if (closer(added.position, match->position)) {
            *match = added;
        }
    }

    template <class Closer>
    void add(const nearest_owners& others, Closer closer) {
        for (const auto& e : others) {
            add(e, closer);
        }
    }

    [[nodiscard]] bool holds(id module) const noexcept {
        return std::any_of(begin(), end(), [&](const entry& e) { return e.module == module; });
    }

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] const entry* begin() const noexcept { return entries_.data(); }
    [[nodiscard]] const entry* end() const noexcept { return entries_.data() + size_; }

private:
    std::array<entry, capacity> entries_{};
    std::size_t size_ = 0;
};

/// Returns: the parent of a module without children, else the module itself.
[[nodiscard]] inline id around(const tree_index& tree, id module) {
    return tree.is_leaf(module) && module != 0 ? tree.parent(module) : module;
}

/// Returns: the deepest module shared by an owner before and one after; the root before the first
/// owner, and after the last one the common ancestor of all before. `within` is by module, what
/// contains whatever is computed between two operators that read its parameters.
[[nodiscard]] inline id shared_around(const tree_index& tree, const std::vector<id>& within,
                                      id here, const nearest_owners& before,
                                      const nearest_owners& behind) {
    if (behind.empty()) { // the end of a model
        common_module all;
        for (const auto& e : before) {
            all.add(e.module == no_id ? 0 : around(tree, e.module));
        }
        return all.low == no_id ? no_id : all.get(tree);
    }
    id best = 0;
    id best_distance = no_id;
    for (const auto& a : before) {
        for (const auto& b : behind) {
            if (a.module == no_id || b.module == no_id) {
                continue;
            }
            const auto shared = a.module != b.module ? tree.lca(a.module, b.module)
                                : a.named && b.named ? a.module
                                                     : within[a.module];
            const auto distance = std::max(here - a.position, b.position - here);
            if (tree.depth(shared) > tree.depth(best) ||
                (tree.depth(shared) == tree.depth(best) && distance < best_distance)) {
                best = shared;
                best_distance = distance;
            }
        }
    }
    return best;
}

/// Returns: the deepest module shared by owners before one input and before another, `no_id`
/// without; anything before both has met earlier.
[[nodiscard]] inline id met_before(const tree_index& tree, const nearest_owners& one,
                                   const nearest_owners& other) {
    id best = no_id;
    for (const auto& a : one) {
        for (const auto& b : other) {
            if (a.module != no_id && b.module != no_id && !other.holds(a.module) &&
                !one.holds(b.module)) {
                const auto shared = tree.lca(a.module, b.module);
                best = best == no_id || tree.depth(shared) > tree.depth(best) ? shared : best;
            }
        }
    }
    return best;
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_NEAREST_OWNERS_HPP
