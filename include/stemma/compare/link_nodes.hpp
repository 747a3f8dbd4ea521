// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_COMPARE_LINK_NODES_HPP
#define STEMMA_COMPARE_LINK_NODES_HPP

#include <stemma/align/align_graphs.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/compare/model_diff.hpp>
#include <stemma/core/detail/disjoint_sets.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/node_origins.hpp>
#include <stemma/onnx/detail/comparable_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Corresponding nodes of two models: one or several of each.
struct node_link {
    std::vector<id> first;  ///< ascending, never empty
    std::vector<id> second; ///< ascending, never empty

    friend bool operator==(const node_link&, const node_link&) = default;
};

namespace detail {

/// Returns: the connected components of pairs of nodes, in the order of the first model.
/// Complexity: O(n log n).
[[nodiscard]] inline std::vector<node_link>
group_links(std::size_t first_count, std::size_t second_count,
            const std::vector<std::pair<id, id>>& pairs) {
    disjoint_sets groups(first_count + second_count); // the second model's after the first one's
    for (const auto& [v, w] : pairs) {
        groups.join(v, static_cast<id>(first_count + w));
    }
    std::vector<id> place(first_count + second_count, no_id);
    std::vector<node_link> links;
    for (const auto& [v, w] : pairs) {
        auto& at = place[groups.find(v)];
        if (at == no_id) {
            at = static_cast<id>(links.size());
            links.emplace_back();
        }
        links[at].first.push_back(v);
        links[at].second.push_back(w);
    }
    for (auto& link : links) {
        for (auto* nodes : {&link.first, &link.second}) {
            *nodes = detail::range::each_once(std::move(*nodes));
        }
    }
    std::sort(links.begin(), links.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    return links;
}

} // namespace detail

/// Returns: pairs of corresponding nodes of two compared models, ascending: nodes with their
/// origins as found by `align_graphs`, and partners at least one of which is in no other pair.
/// Inserted nodes without a partner are in no pair. Complexity: that of `align_graphs`, and O(data)
/// with `options.weights`.
[[nodiscard]] inline std::vector<std::pair<id, id>> linked_pairs(const model_diff& diff,
                                                                 const attributed_model& first,
                                                                 const attributed_model& second,
                                                                 const diff_options& options = {}) {
    const auto& before = first.model();
    const auto& after = second.model();
    const auto graphs = options.weights ? detail::comparable_models(before, after)
                                        : std::array{detail::comparable_model(before, false),
                                                     detail::comparable_model(after, false)};
    const auto alignment = align_graphs(graphs[0], graphs[1]);
    std::vector<std::pair<id, id>> pairs;
    std::vector<char8_t> has_first(diff.nodes.to_second.size(), 0);
    std::vector<char8_t> has_second(diff.nodes.to_first.size(), 0);
    for (id w = 0; w < has_second.size(); ++w) {
        const auto kind = alignment.of(w).kind;
        if (kind != origin_kind::kept && kind != origin_kind::replaced) {
            continue;
        }
        for (const auto v : alignment.origins(w)) {
            pairs.emplace_back(v, w);
            has_first[v] = has_second[w] = 1;
        }
    }
    for (id w = 0; w < has_second.size(); ++w) {
        const auto partner = diff.nodes.to_first[w];
        if (partner != no_id && (has_first[partner] == 0 || has_second[w] == 0)) {
            pairs.emplace_back(partner, w);
        }
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

/// Returns: connected groups of `linked_pairs`. Complexity: that of `linked_pairs`.
[[nodiscard]] inline std::vector<node_link> link_nodes(const model_diff& diff,
                                                       const attributed_model& first,
                                                       const attributed_model& second,
                                                       const diff_options& options = {}) {
    return detail::group_links(diff.nodes.to_second.size(), diff.nodes.to_first.size(),
                               linked_pairs(diff, first, second, options));
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_COMPARE_LINK_NODES_HPP
