// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_KNOWN_VALUES_HPP
#define STEMMA_ALIGN_DETAIL_KNOWN_VALUES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_names.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/detail/flat_index.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the operators that read each value of a graph, repeated for each read.
/// Complexity: O(values + inputs).
[[nodiscard]] inline grouped_ids readers_in(const comparable_graph& graph) {
    return grouped_ids(graph.value_count(), [&](auto take) {
        for (id op = 0; op < graph.operator_count(); ++op) {
            for (const auto value : graph.inputs(op)) {
                value == no_id ? void() : take(value, op);
            }
        }
    });
}

/// The values of a graph by contents.
class stored_contents {
public:
    /// Requires: the graph outlives this. Complexity: O(values), and O(n log n) in stored ones.
    explicit stored_contents(const comparable_graph& graph) : graph_(graph) {
        for (id v = 0; v < graph.value_count(); ++v) {
            if (const auto content = graph.content(v); content != 0) {
                const auto existing = index_.insert(
                    content, v, [&](id other) { return graph.content(other) == content; });
                if (existing != v) {
                    shared_.push_back(content);
                }
            }
        }
        std::sort(shared_.begin(), shared_.end());
        for (const auto& [value, loose] : graph.loose_contents()) {
            loose_.emplace_back(loose, value);
        }
        std::sort(loose_.begin(), loose_.end());
    }

    /// Returns: the first value with some contents, or `no_id`; always for 0.
    [[nodiscard]] id find(std::uint64_t content) const {
        return content == 0 ? no_id : index_.find(content, [&](id other) {
            return graph_.content(other) == content;
        });
    }

    /// Whether exactly one value has these contents.
    [[nodiscard]] bool is_unique(std::uint64_t content) const {
        return !std::binary_search(shared_.begin(), shared_.end(), content);
    }

    /// Returns: the value with the same elements in any order, `no_id` for none or several.
    [[nodiscard]] id find_loose(std::uint64_t loose) const {
        const auto at = std::lower_bound(loose_.begin(), loose_.end(), std::pair(loose, id{0}));
        const bool has_match = at != loose_.end() && at->first == loose;
        const bool again = has_match && at + 1 != loose_.end() && (at + 1)->first == loose;
        return has_match && !again ? at->second : no_id;
    }

private:
    const comparable_graph& graph_;
    flat_index index_;
    std::vector<std::uint64_t> shared_; // of several values, ascending
    std::vector<std::pair<std::uint64_t, id>> loose_;
};

/// Matches values that no operator produces: inputs by name, else by position; stored ones by
/// contents.
class source_matcher {
public:
    source_matcher(const comparable_graph& before, const comparable_graph& after,
                   const value_names& names, const stored_contents& contents,
                   std::vector<id>& values, std::vector<match_basis>& bases)
        : before_(before)
        , after_(after)
        , names_(names)
        , contents_(contents)
        , value_(values)
        , basis_(bases) {}

    /// Complexity: O(values).
    void run() {
        std::vector<id> given_before;
        std::vector<id> given_after;
        for (id v = 0; v < before_.value_count(); ++v) {
            if (before_.role(v) == value_role::given) {
                given_before.push_back(v);
            }
        }
        for (id v = 0; v < after_.value_count(); ++v) {
            if (after_.role(v) == value_role::given) {
                given_after.push_back(v);
            }
        }
        const bool as_many = given_before.size() == given_after.size();
        for (std::size_t i = 0; i < given_after.size(); ++i) {
            const auto named = names_.find(after_.value_name(given_after[i]));
            if (named != no_id && before_.role(named) == value_role::given) {
                set(given_after[i], named, match_basis::named);
            } else if (as_many) {
                set(given_after[i], given_before[i], match_basis::neighbours);
            }
        }
        for (id v = 0; v < after_.value_count(); ++v) {
            if (after_.role(v) == value_role::stored) {
                match_stored(v);
            }
        }
        for (const auto& [v, loose] : after_.loose_contents()) {
            if (value_[v] == no_id) {
                if (const auto match = contents_.find_loose(loose); match != no_id) {
                    set(v, match, match_basis::derived);
                }
            }
        }
    }

private:
    void set(id after, id before, match_basis basis) {
        value_[after] = before;
        basis_[after] = basis;
    }

    void match_stored(id v) {
        const auto same = contents_.find(after_.content(v));
        if (same == no_id) {
            return;
        }
        const auto named = names_.find(after_.value_name(v));
        const bool confirmed = named != no_id && before_.content(named) == after_.content(v);
        set(v, confirmed ? named : same, match_basis::computed);
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const value_names& names_;
    const stored_contents& contents_;
    std::vector<id>& value_;
    std::vector<match_basis>& basis_;
};

/// Whether an operator of a changed graph reads something stored by exactly one value of the
/// original.
[[nodiscard]] inline bool is_anchored(const comparable_graph& after, id op,
                                      const stored_contents& contents) {
    const auto inputs = after.inputs(op);
    return std::any_of(inputs.begin(), inputs.end(), [&](id v) {
        return v != no_id && after.role(v) == value_role::stored && after.content(v) != 0 &&
               contents.is_unique(after.content(v)) && contents.find(after.content(v)) != no_id;
    });
}

/// Matches of the changed graph's values found without using names.
struct values_found {
    const value_numbers& numbers;
    const type_pairs& types;
    const value_names& names; ///< of the original
    const stored_contents& contents;
    const std::vector<id>& values;
    const std::vector<match_basis>& bases;
};

/// Whether names of values kept their meaning: tools that renumber all values reuse names for
/// others. Complexity: O(values).
[[nodiscard]] inline bool are_names_kept(const comparable_graph& before,
                                         const comparable_graph& after, const values_found& found) {
    struct votes {
        std::size_t yes = 0;
        std::size_t no = 0;

        void add(bool agrees) { (agrees ? yes : no) += 1; }
        [[nodiscard]] bool passed() const { return yes >= 3 * no; }
    };
    votes stored;
    votes counts;
    votes typed;
    for (id v = 0; v < after.value_count(); ++v) {
        const auto named = found.names.find(after.value_name(v));
        if (named == no_id || after.role(v) == value_role::given) {
            continue;
        }
        const bool is_stored = after.role(v) == value_role::stored;
        const auto content = after.content(v);
        const auto maker = after.maker(v);
        if (found.values[v] != no_id &&
            (is_stored ? content != 0 && found.contents.is_unique(content)
                       : found.bases[v] == match_basis::computed ||
                             is_anchored(after, maker, found.contents))) {
            (is_stored ? stored : counts)
                .add(found.numbers.of_value(named) == found.numbers.of_value(found.values[v]));
        }
        const auto then = before.maker(named);
        if (maker != no_id && then != no_id && found.types.had(after.type(maker))) {
            typed.add(found.types.fit(before.type(then), after.type(maker)) !=
                      correspondence::none);
        }
    }
    const bool enough = counts.yes + counts.no >= 3;
    return stored.passed() && (enough ? counts.passed() : typed.yes >= typed.no);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_KNOWN_VALUES_HPP
