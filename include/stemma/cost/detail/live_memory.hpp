// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COST_DETAIL_LIVE_MEMORY_HPP
#define STEMMA_COST_DETAIL_LIVE_MEMORY_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Buffers during execution, step by step, each in a module.
class live_memory {
public:
    static constexpr id at_end = no_id - 1; ///< later than any step

    /// Returns: the number of a new buffer of that many bytes (an extent), produced by the next
    /// step.
    [[nodiscard]] id add(std::int64_t bytes) {
        const auto now = static_cast<id>(steps_.size());
        buffers_.push_back({bytes, now, now});
        return static_cast<id>(buffers_.size() - 1);
    }

    /// The next step reads a buffer.
    void use(id buffer) {
        if (buffer != no_id) {
            buffers_[buffer].last = std::max(buffers_[buffer].last, static_cast<id>(steps_.size()));
        }
    }

    /// A buffer is kept after the last step.
    void keep(id buffer) {
        if (buffer != no_id) {
            buffers_[buffer].last = at_end;
        }
    }

    /// Ends a step, in a module.
    void step(id module) { steps_.push_back(module); }

    /// Returns: by module, the peak of live bytes in its steps and those below: the sum at the
    /// first step where `estimate(bytes)` is maximal. `value(bytes)` is the polynomial.
    /// Complexity: O(steps + buffers + modules).
    template <class Estimate, class Value>
    [[nodiscard]] std::vector<polynomial> peaks(const tree_index& tree, Estimate estimate,
                                                Value value) const {
        const auto by_birth = order([](const auto& b) { return b.first; });
        const auto by_death = order([](const auto& b) { return b.last; });
        std::vector<double> most(tree.size(), -1);
        std::vector<id> where(tree.size(), no_id);
        sweep(by_birth, by_death, 0.0, estimate, [&](id step, double live) {
            if (live > most[steps_[step]]) {
                most[steps_[step]] = live;
                where[steps_[step]] = step;
            }
        });
        for (auto m = static_cast<id>(tree.size()); m-- > 1;) {
            const auto above = tree.parent(m);
            if (most[m] > most[above] || (most[m] == most[above] && where[m] < where[above])) {
                most[above] = most[m];
                where[above] = where[m];
            }
        }
        std::vector<std::pair<id, id>> asked; // step, module
        for (id m = 0; m < tree.size(); ++m) {
            if (where[m] != no_id) {
                asked.emplace_back(where[m], m);
            }
        }
        detail::range::sort(asked);
        std::vector<polynomial> result(tree.size());
        auto next = asked.begin();
        sweep(by_birth, by_death, polynomial(), value, [&](id step, const polynomial& live) {
            for (; next != asked.end() && next->first == step; ++next) {
                result[next->second] = live;
            }
        });
        return result;
    }

private:
    struct extent_of_life {
        std::int64_t bytes = 0;
        id first = 0;
        id last = 0;
    };

    template <class Key>
    [[nodiscard]] std::vector<id> order(Key key) const {
        std::vector<id> result(buffers_.size());
        for (id i = 0; i < result.size(); ++i) {
            result[i] = i;
        }
        detail::range::stable_sort_by(result, [&](id i) { return key(buffers_[i]); });
        return result;
    }

    template <class Sum, class Measure, class See>
    void sweep(const std::vector<id>& by_birth, const std::vector<id>& by_death, Sum live,
               Measure measure, See see) const {
        auto born = by_birth.begin();
        auto dead = by_death.begin();
        for (id step = 0; step < steps_.size(); ++step) {
            for (; born != by_birth.end() && buffers_[*born].first <= step; ++born) {
                live += measure(buffers_[*born].bytes);
            }
            see(step, live);
            for (; dead != by_death.end() && buffers_[*dead].last <= step; ++dead) {
                live -= measure(buffers_[*dead].bytes);
            }
        }
    }

    std::vector<extent_of_life> buffers_;
    std::vector<id> steps_; // the module of each
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COST_DETAIL_LIVE_MEMORY_HPP
