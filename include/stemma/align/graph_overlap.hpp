// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_GRAPH_OVERLAP_HPP
#define STEMMA_ALIGN_GRAPH_OVERLAP_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// What two graphs have in common, by kind of evidence: shares, from 0 to 1, of what the smaller
/// one has of it.
struct graph_overlap {
    double contents = 0;   ///< stored values large enough to be distinctive
    double sizes = 0;      ///< the numbers of their elements that are not zero
    double parameters = 0; ///< names of stored values
    double results = 0;    ///< names of the values that operators produce
    double structure = 0;  ///< operators kept with everything that they read

    /// Whether one graph may have been made from the other. Graphs of unrelated models share a few
    /// masks and generic names, shapes and small pieces of structure.
    [[nodiscard]] bool is_related() const noexcept {
        return contents >= 0.1 || sizes >= 0.8 || parameters >= 0.3 || results >= 0.5 ||
               structure >= 0.6;
    }
};

namespace detail {

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

[[nodiscard]] inline bool is_parameter(const comparable_graph& graph, id value) {
    return graph.role(value) == value_role::stored && graph.maker(value) == no_id &&
           !graph.value_name(value).empty();
}

[[nodiscard]] inline double share_of_contents(const comparable_graph& before,
                                              const comparable_graph& after,
                                              const graph_alignment& found) {
    const auto& stored = after.loose_contents();
    const auto common = std::count_if(stored.begin(), stored.end(), [&](const auto& one) {
        return found.values()[one.first] != no_id && found.basis(one.first) >= match_basis::derived;
    });
    return overlap_count{static_cast<std::size_t>(common), before.loose_contents().size(),
                         stored.size()}
        .share();
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

[[nodiscard]] inline double share_of_parameters(const comparable_graph& before,
                                                const comparable_graph& after) {
    std::unordered_set<std::string_view> names;
    for (id v = 0; v < before.value_count(); ++v) {
        if (is_parameter(before, v)) {
            names.insert(before.value_name(v));
        }
    }
    overlap_count count{.before = names.size()};
    for (id v = 0; v < after.value_count(); ++v) {
        if (is_parameter(after, v)) {
            ++count.after;
            count.common += names.count(after.value_name(v));
        }
    }
    return count.share();
}

} // namespace detail

/// Returns: what two graphs have in common, given their alignment.
/// Complexity: O(operators + values) of both graphs, expected, and O(n log n) in stored values.
[[nodiscard]] inline graph_overlap find_overlap(const comparable_graph& before,
                                                const comparable_graph& after,
                                                const graph_alignment& found) {
    detail::overlap_count results;
    detail::overlap_count structure;
    for (id op = 0; op < before.operator_count(); ++op) {
        structure.before += before.constant(op) ? 0U : 1U;
        results.before += before.constant(op) ? 0U : before.outputs(op).size();
    }
    for (id op = 0; op < after.operator_count(); ++op) {
        if (after.constant(op)) {
            continue;
        }
        ++structure.after;
        structure.common += found.of(op).kind == origin_kind::kept ? 1U : 0U;
        for (const auto v : after.outputs(op)) {
            ++results.after;
            const auto match = v == no_id ? no_id : found.values()[v];
            const bool same_name = match != no_id && !after.value_name(v).empty() &&
                                   before.value_name(match) == after.value_name(v);
            results.common += same_name ? 1U : 0U;
        }
    }
    return {detail::share_of_contents(before, after, found), detail::share_of_sizes(before, after),
            detail::share_of_parameters(before, after), results.share(), structure.share()};
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_GRAPH_OVERLAP_HPP
