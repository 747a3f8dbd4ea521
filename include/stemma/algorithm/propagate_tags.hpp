// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALGORITHM_PROPAGATE_TAGS_HPP
#define STEMMA_ALGORITHM_PROPAGATE_TAGS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/id_set_pool.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma {

namespace detail {

/// Unites sets of selected modules; a union of more than `cap` becomes its common ancestor.
class tag_union {
public:
    tag_union(const tree_index& modules, std::span<const id> selected, std::size_t cap,
              id_set_pool& pool)
        : modules_(modules)
        , selected_(selected)
        , cap_(std::max<std::size_t>(cap, 1))
        , pool_(pool)
        , bits_(modules.size() / 64 + 1) {}

    void clear() { sets_.clear(); }

    void add(id_set set) {
        if (set != no_id && (sets_.empty() || sets_.back() != set)) {
            sets_.push_back(set);
        }
    }

    [[nodiscard]] id_set get() {
        if (sets_.size() <= 1) {
            return sets_.empty() ? no_id : sets_.front();
        }
        std::sort(sets_.begin(), sets_.end());
        sets_.erase(std::unique(sets_.begin(), sets_.end()), sets_.end());
        if (sets_.size() == 1) {
            return sets_.front();
        }
        if (sets_.size() > 2) {
            return unite();
        }
        auto& known = recent_[(sets_[0] * 31U + sets_[1]) % recent_.size()];
        if (known.a != sets_[0] || known.b != sets_[1]) {
            known = {sets_[0], sets_[1], unite()};
        }
        return known.result;
    }

private:
    struct pair {
        id_set a = no_id;
        id_set b = no_id;
        id_set result = no_id;
    };

    // Sets that meet hold neighbours in the tree, so their elements share a few words of bits,
    // which come out sorted and without repetition.
    [[nodiscard]] id_set unite() {
        id low = no_id;
        id high = 0;
        for (auto set : sets_) {
            pool_.for_each(set, [&](id m) {
                low = std::min(low, m);
                high = std::max(high, m);
                auto& word = bits_[m / 64];
                if (word == 0) {
                    touched_.push_back(m / 64);
                }
                word |= std::uint64_t{1} << (m % 64);
            });
        }
        std::sort(touched_.begin(), touched_.end());
        elements_.clear();
        for (auto at : touched_) {
            for (auto word = std::exchange(bits_[at], 0); word != 0 && elements_.size() <= cap_;
                 word &= word - 1) {
                elements_.push_back(at * 64 + static_cast<id>(std::countr_zero(word)));
            }
        }
        touched_.clear();
        return elements_.size() > cap_ ? selected_[modules_.lca(low, high)]
                                       : pool_.intern(elements_);
    }

    const tree_index& modules_;
    std::span<const id> selected_;
    std::size_t cap_;
    id_set_pool& pool_;
    std::vector<id_set> sets_;
    std::vector<id> elements_;
    std::vector<std::uint64_t> bits_; // by module, all clear between two unions
    std::vector<id> touched_;         // words of them that are not
    std::array<pair, 1024> recent_{};
};

} // namespace detail

/// Sets of two or more tags beyond this many become the tag of their common ancestor.
inline constexpr std::size_t default_tag_cap = 64;

/// Finds every operator's tags: the set of selected modules that its result serves.
///
/// `tags` is by vertex index. On entry it holds the set of each operator with evidence and `no_id`
/// for the others, which get the union of their readers' sets, and `no_id` where no reader has any.
/// `selected[m]` is the nearest selected module at or above m. Sets are elements of `pool`.
/// Complexity: O((V + E) * cap).
template <operator_view Ops>
void propagate_tags(const Ops& ops, const tree_index& modules, std::span<const id> selected,
                    std::span<id_set> tags, id_set_pool& pool, std::size_t cap = default_tag_cap) {
    const auto& graph = ops.graph();
    detail::tag_union readers(modules, selected, cap, pool);
    sweep_order(graph).backward([&](operator_t<Ops> vertex) {
        auto& set = tags[index_of(graph, vertex)];
        if (set != no_id) {
            return;
        }
        readers.clear();
        for (auto [it, last] = out_edges(vertex, graph); it != last; ++it) {
            readers.add(tags[index_of(graph, target(*it, graph))]);
        }
        set = readers.get();
    });
}

} // namespace stemma

#endif // STEMMA_ALGORITHM_PROPAGATE_TAGS_HPP
