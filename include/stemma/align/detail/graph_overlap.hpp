// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_GRAPH_OVERLAP_HPP
#define STEMMA_ALIGN_DETAIL_GRAPH_OVERLAP_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What two graphs have in common, by kind of evidence: as shares, from 0 to 1, of what the smaller
/// one has of each kind.
struct graph_overlap {
    double contents = 0;   ///< stored values large enough to be distinctive
    double sizes = 0;      ///< the numbers of their elements that are not zero
    double parameters = 0; ///< names of stored values of one size
    double results = 0;    ///< names of the values that operators produce
    double structure = 0;  ///< operators kept with everything that they read

    /// Whether one graph may have been made from the other. Graphs of unrelated models share a few
    /// masks and generic names, shapes and small pieces of structure.
    [[nodiscard]] bool is_related() const noexcept {
        return contents >= 0.3 || sizes >= 0.8 || parameters >= 0.5 || results >= 0.5 ||
               structure >= 0.6;
    }
};

/// A count of common things, and how many there are on each side.
struct overlap_count {
    std::size_t common = 0;
    std::size_t before = 0;
    std::size_t after = 0;

    [[nodiscard]] double share() const noexcept {
        const auto smaller = std::min(before, after);
        return smaller == 0 ? 0 : static_cast<double>(common) / static_cast<double>(smaller);
    }
};

/// Returns: the stored values that no operator produces; only those large enough to be distinctive
/// if there are any.
[[nodiscard]] inline std::vector<id> parameters_in(const comparable_graph& graph) {
    std::vector<id> all;
    std::vector<id> large;
    for (id v = 0; v < graph.value_count(); ++v) {
        if (graph.role(v) == comparable_graph::value_role::stored && graph.maker(v) == no_id) {
            all.push_back(v);
            if (graph.nonzero(v) != 0) {
                large.push_back(v);
            }
        }
    }
    return large.empty() ? all : large;
}

[[nodiscard]] inline double share_of_contents(const comparable_graph& before,
                                              const comparable_graph& after,
                                              const graph_alignment& matches) {
    overlap_count count{.before = before.loose_contents().size(),
                        .after = after.loose_contents().size()};
    std::unordered_set<id> common;
    for (const auto& [v, hash] : after.loose_contents()) {
        const auto match = matches.values()[v];
        if (match != no_id && after.nonzero(v) != 0 && before.nonzero(match) == after.nonzero(v) &&
            matches.basis(v) >= graph_alignment::match_basis::derived) {
            common.insert(match);
        }
    }
    count.common = common.size();
    return count.share();
}

/// Returns: in ascending order.
[[nodiscard]] inline std::vector<std::uint64_t> sizes_in(const comparable_graph& graph) {
    std::vector<std::uint64_t> result;
    for (id v = 0; v < graph.value_count(); ++v) {
        if (graph.nonzero(v) != 0) {
            result.push_back(graph.nonzero(v));
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

[[nodiscard]] inline double share_of_sizes(const comparable_graph& before,
                                           const comparable_graph& after) {
    const auto a = sizes_in(before);
    const auto b = sizes_in(after);
    std::vector<std::uint64_t> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    return overlap_count{common.size(), a.size(), b.size()}.share();
}

/// Numbered names occur everywhere, so sizes must agree too.
[[nodiscard]] inline double share_of_parameters(const comparable_graph& before,
                                                const comparable_graph& after) {
    std::unordered_map<std::string_view, id> named;
    const auto old = parameters_in(before);
    for (const auto v : old) {
        named.emplace(before.value_name(v), v);
    }
    const auto now = parameters_in(after);
    const auto common = std::count_if(now.begin(), now.end(), [&](id v) {
        const auto other = named.find(after.value_name(v));
        return !after.value_name(v).empty() && other != named.end() &&
               (before.nonzero(other->second) == after.nonzero(v) || after.nonzero(v) == 0 ||
                before.nonzero(other->second) == 0);
    });
    return overlap_count{static_cast<std::size_t>(common), old.size(), now.size()}.share();
}

/// Returns: what two graphs have in common, given their alignment.
/// Complexity: O(operators + values) of both graphs, expected, and O(n log n) in stored values.
[[nodiscard]] inline graph_overlap find_overlap(const comparable_graph& before,
                                                const comparable_graph& after,
                                                const graph_alignment& matches) {
    overlap_count results;
    overlap_count structure;
    for (id op = 0; op < before.operator_count(); ++op) {
        structure.before += before.constant(op) ? 0U : 1U;
        results.before += before.constant(op) ? 0U : before.outputs(op).size();
    }
    for (id op = 0; op < after.operator_count(); ++op) {
        if (after.constant(op)) {
            continue;
        }
        ++structure.after;
        structure.common += matches.of(op).kind == origin_kind::kept ? 1U : 0U;
        for (const auto v : after.outputs(op)) {
            ++results.after;
            const auto match = v == no_id ? no_id : matches.values()[v];
            const bool same_name = match != no_id && !after.value_name(v).empty() &&
                                   before.value_name(match) == after.value_name(v);
            results.common += same_name ? 1U : 0U;
        }
    }
    return {share_of_contents(before, after, matches), share_of_sizes(before, after),
            share_of_parameters(before, after), results.share(), structure.share()};
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_GRAPH_OVERLAP_HPP
