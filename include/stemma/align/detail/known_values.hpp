// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_KNOWN_VALUES_HPP
#define STEMMA_ALIGN_DETAIL_KNOWN_VALUES_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/stored_contents.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: the operators that read each value of a graph, also by way of an Identity, as exporters
/// copy shared weights; repeated for each read. Complexity: O(values + inputs).
[[nodiscard]] inline grouped_ids readers_in(const comparable_graph& graph) {
    std::vector<id> copied(graph.value_count(), no_id);
    for (id op = 0; op < graph.operator_count(); ++op) {
        if (graph.type_text(graph.type(op)) == "Identity" && graph.inputs(op).size() == 1 &&
            graph.outputs(op).size() == 1 && graph.outputs(op)[0] != no_id) {
            copied[graph.outputs(op)[0]] = graph.inputs(op)[0];
        }
    }
    return grouped_ids(graph.value_count(), [&](auto take) {
        for (id op = 0; op < graph.operator_count(); ++op) {
            for (const auto value : graph.inputs(op)) {
                value == no_id ? void() : take(value, op);
                const auto source = value == no_id ? no_id : copied[value];
                source == no_id ? void() : take(source, op);
            }
        }
    });
}

/// Matches values that no operator produces: inputs by name, the others by position; stored ones by
/// contents. `named` has the values of the original with their names, or `no_id`.
class source_matcher {
public:
    source_matcher(const comparable_graph& before, const comparable_graph& after,
                   const std::vector<id>& named, const stored_contents& contents,
                   std::vector<id>& values, std::vector<graph_alignment::match_basis>& bases)
        : before_(before)
        , after_(after)
        , named_(named)
        , contents_(contents)
        , value_(values)
        , basis_(bases) {}

    /// Complexity: O(values).
    void run() {
        std::vector<id> given_before;
        std::vector<id> given_after;
        for (id v = 0; v < before_.value_count(); ++v) {
            if (before_.role(v) == comparable_graph::value_role::given) {
                given_before.push_back(v);
            }
        }
        for (id v = 0; v < after_.value_count(); ++v) {
            if (after_.role(v) == comparable_graph::value_role::given) {
                given_after.push_back(v);
            }
        }
        std::vector<bool> taken(before_.value_count(), false);
        std::erase_if(given_after, [&](id v) {
            const auto named = named_[v];
            if (named == no_id || before_.role(named) != comparable_graph::value_role::given) {
                return false;
            }
            set(v, named, graph_alignment::match_basis::named);
            taken[named] = true;
            return true;
        });
        std::erase_if(given_before, [&](id v) { return taken[v]; });
        for (std::size_t i = 0; i < given_after.size() && given_after.size() == given_before.size();
             ++i) {
            set(given_after[i], given_before[i], graph_alignment::match_basis::neighbours);
        }
        for (id v = 0; v < after_.value_count(); ++v) {
            if (after_.role(v) == comparable_graph::value_role::stored) {
                match_stored(v);
            }
        }
        for (const auto& [v, hash] : after_.loose_contents()) {
            set_derived(v, contents_.find_loose(hash));
        }
        for (const auto& [v, hash] : after_.scaled_contents()) {
            set_derived(v, contents_.find_scaled(hash));
        }
    }

private:
    void set(id after, id before, graph_alignment::match_basis basis) {
        value_[after] = before;
        basis_[after] = basis;
    }

    void set_derived(id after, id before) {
        if (value_[after] == no_id && before != no_id) {
            set(after, before, graph_alignment::match_basis::derived);
        }
    }

    void match_stored(id v) {
        const auto same = contents_.find(after_.content(v));
        if (same == no_id) {
            return;
        }
        const auto named = named_[v];
        const bool confirmed = named != no_id && before_.content(named) == after_.content(v);
        set(v, confirmed ? named : same, graph_alignment::match_basis::computed);
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const std::vector<id>& named_;
    const stored_contents& contents_;
    std::vector<id>& value_;
    std::vector<graph_alignment::match_basis>& basis_;
};

/// Whether an operator of a changed graph reads something stored by exactly one value of the
/// original.
[[nodiscard]] inline bool is_anchored(const comparable_graph& after, id op,
                                      const stored_contents& contents) {
    const auto inputs = after.inputs(op);
    return std::any_of(inputs.begin(), inputs.end(), [&](id v) {
        return v != no_id && after.role(v) == comparable_graph::value_role::stored &&
               after.content(v) != 0 && contents.is_unique(after.content(v)) &&
               contents.find(after.content(v)) != no_id;
    });
}

/// Matches of the changed graph's values found without using names.
struct values_found {
    const value_numbers& numbers;
    const type_pairs& types;
    const std::vector<id>& named;          ///< values of the original with their names
    const stored_contents& contents;       ///< of the original
    const stored_contents& after_contents; ///< of the changed graph
    const grouped_ids& before_readers;     ///< by value of the original
    const grouped_ids& after_readers;      ///< by value of the changed graph
    const std::vector<id>& values;
    const std::vector<graph_alignment::match_basis>& bases;

    /// Whether one value at most of each graph has these contents: others may be equal by chance,
    /// like shapes computed in advance.
    [[nodiscard]] bool is_unique(std::uint64_t content) const {
        return content != 0 && contents.is_unique(content) && after_contents.is_unique(content);
    }
};

/// Returns: the match of a value whose maker, of the same type in both graphs, alone reads
/// something stored; else `no_id`.
[[nodiscard]] inline id anchored_value(const comparable_graph& before,
                                       const comparable_graph& after, id value,
                                       const values_found& matched) {
    const auto maker = after.maker(value);
    if (maker == no_id) {
        return no_id;
    }
    const auto outputs = after.outputs(maker);
    const auto slot = static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), value) -
                                               outputs.begin());
    for (const auto v : after.inputs(maker)) {
        const auto content = v == no_id ? 0 : after.content(v);
        const auto same = matched.contents.find(content);
        if (same == no_id || !matched.is_unique(content) || matched.after_readers[v].size() != 1 ||
            matched.before_readers[same].size() != 1) {
            continue;
        }
        const auto reader = matched.before_readers[same].front();
        if (matched.types.equal(before.type(reader), after.type(maker)) &&
            slot < before.outputs(reader).size()) {
            return before.outputs(reader)[slot];
        }
    }
    return no_id;
}

/// Whether a graph computes `value` from `source` in a few steps, each by its first input: a tool
/// that does this in advance stores the result, with the name of `value` and contents that are
/// recognized as those of `source`.
[[nodiscard]] inline bool is_computed_from(const comparable_graph& graph, id value, id source,
                                           const value_numbers& numbers) {
    for (unsigned step = 0; step < 4 && value != no_id; ++step) {
        if (numbers.of_value(value) == numbers.of_value(source)) {
            return true;
        }
        const auto maker = graph.maker(value);
        value = maker == no_id || graph.inputs(maker).empty() ? no_id : graph.inputs(maker)[0];
    }
    return false;
}

/// Whether names of values kept their meaning: tools that renumber all values reuse names for
/// others. Complexity: O(values).
[[nodiscard]] inline bool are_names_kept(const comparable_graph& before,
                                         const comparable_graph& after,
                                         const values_found& matched) {
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
        const auto named = matched.named[v];
        if (named == no_id || after.role(v) == comparable_graph::value_role::given) {
            continue;
        }
        const bool is_stored = after.role(v) == comparable_graph::value_role::stored;
        const auto content = after.content(v);
        const auto maker = after.maker(v);
        const auto match = is_stored || matched.bases[v] == graph_alignment::match_basis::computed
                               ? matched.values[v]
                               : anchored_value(before, after, v, matched);
        if (match != no_id && (!is_stored || matched.is_unique(content))) {
            (is_stored ? stored : counts)
                .add(is_stored
                         ? is_computed_from(before, named, match, matched.numbers)
                         : matched.numbers.of_value(named) == matched.numbers.of_value(match));
        }
        const auto then = before.maker(named);
        if (maker != no_id && then != no_id && matched.types.had(after.type(maker)) &&
            !matched.types.lays_out(after.type(maker)) &&
            !matched.types.passes(after.type(maker))) {
            typed.add(matched.types.fit(before.type(then), after.type(maker)) !=
                      correspondence::none);
        }
    }
    const bool enough = counts.yes + counts.no >= 3;
    return stored.passed() && (enough ? counts.passed() : typed.yes >= typed.no);
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_KNOWN_VALUES_HPP
