// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_DETAIL_PROPAGATE_TAGS_HPP
#define STEMMA_TAGGING_DETAIL_PROPAGATE_TAGS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/detail/neighbours.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace stemma::inline STEMMA_ABI::detail {

/// Unites sets of selected modules; a union of more than `cap` becomes their common ancestor.
class tag_union {
public:
    tag_union(const tree_index& modules, std::span<const id> selected, std::size_t cap,
              id_set_pool& pool)
        : modules_(modules), selected_(selected), sets_(pool, std::max<std::size_t>(cap, 1)) {}

    void clear() { sets_.clear(); }
    void add(id_set set) { sets_.add(set); }

    [[nodiscard]] id_set get() {
        return sets_.is_large() ? selected_[modules_.lca(sets_.least(), sets_.greatest())]
                                : sets_.get();
    }

private:
    const tree_index& modules_;
    std::span<const id> selected_;
    id_set_union sets_;
};

/// Sets with more tags than this become the tag of their common ancestor.
inline constexpr std::size_t default_tag_cap = 64;

/// Finds every operator's tags: the set of selected modules that its result serves.
///
/// `tags` is by vertex index. On entry it holds the set of each operator with evidence and `no_id`
/// for the others; these get the union of their readers' sets, `no_id` if no reader has any.
/// `selected[m]` is the nearest selected module at or above m. Sets are elements of `pool`.
/// Complexity: O((V + E) * cap).
template <operator_view Ops>
void propagate_tags(const Ops& ops, const tree_index& modules, std::span<const id> selected,
                    std::span<id_set> tags, id_set_pool& pool, std::size_t cap = default_tag_cap) {
    if (std::all_of(tags.begin(), tags.end(), [](id_set set) { return set == no_id; })) {
        return;
    }
    const auto& graph = ops.graph();
    tag_union readers(modules, selected, cap, pool);
    const auto of_readers = [&](operator_t<Ops> vertex) {
        readers.clear();
        for (const auto w : readers_of(graph, vertex)) {
            readers.add(tags[w]);
        }
        return readers.get();
    };
    sweep_order(graph).backward([&](operator_t<Ops> vertex) {
        auto& set = tags[index_of(graph, vertex)];
        if (set == no_id) {
            set = of_readers(vertex);
        }
    });
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TAGGING_DETAIL_PROPAGATE_TAGS_HPP
