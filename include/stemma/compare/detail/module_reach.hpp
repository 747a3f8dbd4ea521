// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_DETAIL_MODULE_REACH_HPP
#define STEMMA_COMPARE_DETAIL_MODULE_REACH_HPP

#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_graph.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Which of some modules compute from the results of which others.
class module_reach {
public:
    /// Requires: the modules have operators, and none is below another.
    /// Complexity: O(modules / 64 * (V + E)) of the nodes from their first to their last one.
    module_reach(const compared_model& side, const std::vector<id>& modules)
        : words_((modules.size() + bits - 1) / bits), reach_(modules.size() * words_, 0) {
        std::vector<std::pair<id, id>> sorted;
        id first = no_id;
        id end = 0;
        for (id i = 0; i < modules.size(); ++i) {
            sorted.emplace_back(modules[i], i);
            first = std::min(first, side.first_node(modules[i]));
            end = std::max(end, side.last_node(modules[i]) + 1);
        }
        if (modules.empty()) {
            return;
        }
        std::sort(sorted.begin(), sorted.end());
        std::vector<id> number(end - first, no_id); // by node
        for (id v = first; v < end; ++v) {
            const auto m = side.module_of(v);
            const auto after = std::upper_bound(sorted.begin(), sorted.end(), std::pair(m, no_id));
            if (after != sorted.begin() &&
                side.modules().index().is_ancestor((after - 1)->first, m)) {
                number[v - first] = (after - 1)->second;
            }
        }
        for (std::size_t word = 0; word < words_; ++word) {
            spread(side.graph(), first, number, word);
        }
    }

    /// Whether module number `to` computes from the results of number `from`.
    [[nodiscard]] bool reaches(id from, id to) const {
        return (reach_[to * words_ + from / bits] >> from % bits & 1U) != 0;
    }

private:
    static constexpr std::size_t bits = 64;

    /// Of one word of the numbers, notes those that each module computes from.
    void spread(const operator_graph& graph, id first, const std::vector<id>& number,
                std::size_t word) {
        std::vector<std::uint64_t> sources(number.size(), 0);
        for (id i = 0; i < number.size(); ++i) {
            std::uint64_t all = 0;
            for (auto [e, last] = in_edges(first + i, graph); e != last; ++e) {
                if ((*e).source >= first && (*e).source < first + i) {
                    all |= sources[(*e).source - first];
                }
            }
            if (const auto own = number[i]; own != no_id) {
                reach_[own * words_ + word] |= all;
                all |= own / bits == word ? std::uint64_t{1} << own % bits : 0;
            }
            sources[i] = all;
        }
    }

    std::size_t words_;
    std::vector<std::uint64_t> reach_; // by module: numbers that it computes from, as bits
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_COMPARE_DETAIL_MODULE_REACH_HPP
