// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_MODULE_FLOW_HPP
#define STEMMA_COST_DETAIL_MODULE_FLOW_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Inputs and outputs of modules, from the values that nodes make and read: those of a function or
/// body anew whenever it runs. Each is noted where it counts and, negated, where it stops counting,
/// so that sums over subtrees give the totals.
class module_flow {
public:
    /// Requires: the tree outlives this.
    explicit module_flow(const tree_index& tree) : tree_(tree) {}

    /// Adds a value of that size, an extent, made in `maker`: `no_id` for an input of the model.
    /// Returns: its number. Complexity: O(1), amortized, as for the next two.
    id make(id maker, std::int64_t bytes) {
        makers_.push_back(maker);
        bytes_.push_back(bytes);
        return static_cast<id>(makers_.size() - 1);
    }

    /// A node of module `m` reads a value.
    void read(id value, id m) { reads_.emplace_back(value, m); }

    /// A value is an output of the model.
    void keep(id value) { reads_.emplace_back(value, no_id); }

    /// After the last read. Complexity: O(reads * log reads).
    void end() {
        detail::range::sort(reads_);
        reads_.erase(std::unique(reads_.begin(), reads_.end()), reads_.end());
        for (std::size_t i = 0, last = 0; i < reads_.size(); i = last) {
            while (last < reads_.size() && reads_[last].first == reads_[i].first) {
                ++last;
            }
            note(reads_[i].first, std::span(reads_).subspan(i, last - i));
        }
        reads_ = {};
    }

    /// Calls `f(module, bytes, comes_in, sign)` for all notes. Complexity: O(notes).
    template <class Function>
    void add(Function f) const {
        for (const auto& n : notes_) {
            f(n.module, bytes_[n.value], n.comes_in, n.sign);
        }
    }

private:
    struct entry {
        id module = 0;
        id value = 0;
        bool comes_in = false;
        int sign = 1;
    };

    /// Requires: the reads ascend.
    void note(id value, std::span<const std::pair<id, id>> reads) {
        const auto maker = makers_[value];
        const bool leaves = reads.back().second == no_id; // the highest number
        auto meet = maker;                                // of the maker and all readers
        auto nearest = no_id; // the deepest module that contains the maker and a reader
        auto before = no_id;
        for (const auto& [_, m] : reads) {
            if (m == no_id) {
                continue;
            }
            notes_.push_back({m, value, true, 1});
            if (before != no_id) {
                notes_.push_back({tree_.lca(before, m), value, true, -1});
            }
            before = m;
            if (maker != no_id) {
                const auto common = tree_.lca(maker, m);
                meet = tree_.lca(meet, m);
                nearest = nearest == no_id || tree_.depth(common) > tree_.depth(nearest) ? common
                                                                                         : nearest;
            }
        }
        if (nearest != no_id) {
            notes_.push_back({nearest, value, true, -1});
        }
        if (maker != no_id && (leaves || meet != maker)) {
            notes_.push_back({maker, value, false, 1});
            if (!leaves) {
                notes_.push_back({meet, value, false, -1});
            }
        }
    }

    const tree_index& tree_;
    std::vector<id> makers_;               // by value
    std::vector<std::int64_t> bytes_;      // by value: extents
    std::vector<std::pair<id, id>> reads_; // value, module; `no_id` for the outputs of the model
    std::vector<entry> notes_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_MODULE_FLOW_HPP
