// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_DISJOINT_SETS_HPP
#define STEMMA_CORE_DETAIL_DISJOINT_SETS_HPP

#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Disjoint sets of numbers, each represented by its lowest, as `boost::disjoint_sets` does not.
class disjoint_sets {
public:
    /// Every number below `count` in a set of its own. Complexity: O(count).
    explicit disjoint_sets(std::size_t count) : above_(count) {
        std::iota(above_.begin(), above_.end(), id{0});
    }

    /// Returns: the lowest number in the set of `v`. Complexity: O(log count) amortized, as below.
    [[nodiscard]] id find(id v) {
        while (above_[v] != v) {
            above_[v] = above_[above_[v]];
            v = above_[v];
        }
        return v;
    }

    /// Unites the sets of two numbers.
    void join(id v, id w) {
        v = find(v);
        w = find(w);
        above_[std::max(v, w)] = std::min(v, w);
    }

private:
    std::vector<id> above_; // by number: a lower one of its set, or itself
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_DISJOINT_SETS_HPP
