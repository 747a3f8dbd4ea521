// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP
#define STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_names.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/core/flat_index.hpp>
#include <stemma/core/grouped_ids.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::detail {

/// Returns: the operators that read each value of a graph, one as often as it does.
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

/// Finds for the values of a changed graph those of the original that they are.
class graph_matcher {
public:
    graph_matcher(const comparable_graph& before, const comparable_graph& after,
                  const value_numbers& numbers, const type_pairs& types)
        : before_(before)
        , after_(after)
        , numbers_(numbers)
        , types_(types)
        , names_(before)
        , operators_(before)
        , before_readers_(readers_in(before))
        , after_readers_(readers_in(after))
        , value_(after.value_count(), no_id)
        , basis_(after.value_count(), match_basis::none)
        , partner_(after.operator_count(), no_id)
        , taken_(before.operator_count(), false)
        , next_free_(before.operator_count(), no_id) {
        index_contents();
    }

    /// Complexity: O(operators + values + inputs) of both graphs, expected.
    void run() {
        match_sources();
        sweep(false);
        grow();
        if (names_are_kept()) {
            forget();
            match_sources();
            sweep(true);
            absorb();
            grow();
        }
    }

    [[nodiscard]] std::vector<id> take_values() { return std::move(value_); }
    [[nodiscard]] std::vector<match_basis> take_bases() { return std::move(basis_); }
    /// Returns: the value of the original that one is, or `no_id`.
    [[nodiscard]] id value(id after) const noexcept { return value_[after]; }
    /// Returns: by what it was found.
    [[nodiscard]] match_basis basis(id after) const noexcept { return basis_[after]; }
    /// Returns: the operator of the same type that an operator is, or `no_id`.
    [[nodiscard]] id partner(id after) const noexcept { return partner_[after]; }
    [[nodiscard]] const grouped_ids& before_readers() const noexcept { return before_readers_; }
    [[nodiscard]] const grouped_ids& after_readers() const noexcept { return after_readers_; }
    [[nodiscard]] const value_names& names() const noexcept { return names_; }
    [[nodiscard]] bool uses_names() const noexcept { return uses_names_; }

private:
    // What so many read tells little, and costs much.
    static constexpr std::size_t most_readers = 64;

    void index_contents() {
        contents_.reserve(before_.value_count() / 4);
        for (id v = 0; v < before_.value_count(); ++v) {
            if (const auto content = before_.content(v); content != 0) {
                const auto known = contents_.insert(
                    content, v, [&](id other) { return before_.content(other) == content; });
                if (known != v) {
                    shared_content_.push_back(content);
                }
            }
        }
        for (const auto& [value, loose] : before_.loose_contents()) {
            loose_.emplace_back(loose, value);
        }
        std::sort(loose_.begin(), loose_.end());
        std::sort(shared_content_.begin(), shared_content_.end());
    }

    [[nodiscard]] id find_content(std::uint64_t content) const {
        return content == 0 ? no_id : contents_.find(content, [&](id other) {
            return before_.content(other) == content;
        });
    }

    /// Whether one value of the original alone holds what it holds.
    [[nodiscard]] bool is_unique(std::uint64_t content) const {
        return !std::binary_search(shared_content_.begin(), shared_content_.end(), content);
    }

    void set(id after, id before, match_basis basis) {
        value_[after] = before;
        basis_[after] = basis;
    }

    /// Inputs, results and what is stored.
    void match_sources() {
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
                const auto at =
                    std::lower_bound(loose_.begin(), loose_.end(), std::pair(loose, id{0}));
                const bool found = at != loose_.end() && at->first == loose;
                if (found && (at + 1 == loose_.end() || (at + 1)->first != loose)) {
                    set(v, at->second, match_basis::derived);
                }
            }
        }
    }

    void match_stored(id v) {
        const auto same = find_content(after_.content(v));
        if (same == no_id) {
            return;
        }
        const auto named = names_.find(after_.value_name(v));
        const bool confirmed = named != no_id && before_.content(named) == after_.content(v);
        set(v, confirmed ? named : same, match_basis::computed);
    }

    /// Returns: the number of an operator of the changed graph in terms of the original, 0 where
    /// something that it reads is not known.
    [[nodiscard]] std::uint64_t number_of(id op) const {
        bool known = !after_.opaque(op);
        for (const auto v : after_.inputs(op)) {
            known = known && (v == no_id || value_[v] != no_id);
        }
        return !known
                   ? 0
                   : value_numbers::number_of(after_, op, types_.hash(after_.type(op)),
                                              [&](id v) { return numbers_.of_value(value_[v]); });
    }

    /// Returns: an operator of the number, one that no other stands for if there is any.
    [[nodiscard]] id take_equal(id first) {
        auto& free = next_free_[first];
        free = free == no_id ? first : free;
        while (taken_[free] && numbers_.next_equal(free) != no_id) {
            free = numbers_.next_equal(free);
        }
        return taken_[free] ? first : free;
    }

    /// Goes through all operators in order, and asks of each what it computes and how that is
    /// called.
    void sweep(bool with_names) {
        uses_names_ = with_names;
        for (id v = 0; with_names && v < after_.value_count(); ++v) {
            if (value_[v] == no_id && after_.maker(v) == no_id) {
                match_by_name(v);
            }
        }
        for (id op = 0; op < after_.operator_count(); ++op) {
            const auto number = number_of(op);
            const auto equal = number == 0 ? no_id : numbers_.find(number);
            if (equal != no_id) {
                match_computed(op, equal, with_names);
            }
            for (const auto v : after_.outputs(op)) {
                if (v != no_id && value_[v] == no_id && with_names) {
                    match_by_name(v);
                }
            }
            if (with_names) {
                match_by_own_name(op);
            }
            pass_on(op);
        }
    }

    /// Tools call what they make of an operator after it, or after the value that it made.
    void match_by_own_name(id op) {
        const auto outputs = after_.outputs(op);
        if (outputs.empty() || outputs[0] == no_id || value_[outputs[0]] != no_id) {
            return;
        }
        const auto name = after_.name(op);
        const auto within = names_.find_within(name);
        if (within != no_id && before_.maker(within) != no_id) {
            set(outputs[0], within, match_basis::derived);
            hinted_.push_back(op);
            return;
        }
        const auto same = operators_.find(name);
        if (same != no_id && types_.equal(before_.type(same), after_.type(op))) {
            const auto others = before_.outputs(same);
            for (std::size_t i = 0; i < std::min(outputs.size(), others.size()); ++i) {
                if (outputs[i] != no_id && others[i] != no_id && value_[outputs[i]] == no_id) {
                    set(outputs[i], others[i], match_basis::derived);
                }
            }
            hinted_.push_back(op);
        }
    }

    /// What is called after a value may have taken in what came next and is gone: as long as one
    /// operator alone reads it, and nothing that the new one does not read as well.
    void absorb() {
        std::vector<bool> left(before_.value_count(), false);
        for (const auto v : value_) {
            if (v != no_id) {
                left[v] = true;
            }
        }
        for (const auto op : hinted_) {
            const auto out = after_.outputs(op)[0];
            for (auto next = only_reader(value_[out]); next != no_id;
                 next = only_reader(value_[out])) {
                const auto made = before_.outputs(next);
                if (made.size() != 1 || made[0] == no_id || left[made[0]] ||
                    types_.fit(before_.type(next), after_.type(op)) < correspondence::part ||
                    is_read_on(out, next) || !reads_all_of(op, next, value_[out])) {
                    break;
                }
                set(out, made[0], match_basis::derived);
                left[made[0]] = true;
            }
        }
        hinted_.clear();
    }

    [[nodiscard]] id only_reader(id before) const {
        const auto readers = before_readers_[before];
        const bool one = !readers.empty() && readers.size() <= most_readers &&
                         std::all_of(readers.begin(), readers.end(),
                                     [&](id other) { return other == readers.front(); });
        return one ? readers.front() : no_id;
    }

    /// Whether a reader of a value is of the type of an operator of the original.
    [[nodiscard]] bool is_read_on(id value, id before) const {
        const auto readers = after_readers_[value];
        return std::any_of(readers.begin(), readers.end(), [&](id reader) {
            return types_.fit(before_.type(before), after_.type(reader)) == correspondence::head;
        });
    }

    /// Whether an operator reads all data that one of the original reads besides a value.
    [[nodiscard]] bool reads_all_of(id op, id before, id besides) const {
        const auto inputs = after_.inputs(op);
        const auto others = before_.inputs(before);
        return std::all_of(others.begin(), others.end(), [&](id v) {
            return v == no_id || v == besides || !numbers_.is_data(v) ||
                   std::any_of(inputs.begin(), inputs.end(), [&](id input) {
                       return input != no_id && value_[input] != no_id &&
                              numbers_.of_value(value_[input]) == numbers_.of_value(v);
                   });
        });
    }

    void match_computed(id op, id equal, bool with_names) {
        const auto outputs = after_.outputs(op);
        auto named = no_id;
        for (std::size_t i = 0; with_names && i < outputs.size() && named == no_id; ++i) {
            const auto v = outputs[i] == no_id ? no_id : names_.find(after_.value_name(outputs[i]));
            named = v == no_id ? no_id : before_.maker(v);
        }
        if (named != no_id && numbers_.of_operator(named) == numbers_.of_operator(equal)) {
            pair(op, named, match_basis::computed);
        } else if (named == no_id || !types_.equal(before_.type(named), after_.type(op))) {
            pair(op, take_equal(equal), match_basis::computed);
        }
    }

    void match_by_name(id v) {
        const auto name = after_.value_name(v);
        if (const auto named = names_.find(name); named != no_id) {
            set(v, named, match_basis::named);
        } else if (const auto within = names_.find_within(name); within != no_id) {
            set(v, within, match_basis::derived);
        }
    }

    /// What an inserted operator makes is what it reads, unless the original has such an operator.
    void pass_on(id op) {
        const auto inputs = after_.inputs(op);
        const auto outputs = after_.outputs(op);
        if (!types_.passes(after_.type(op)) || inputs.empty() || inputs[0] == no_id ||
            outputs.empty() || outputs[0] == no_id || value_[outputs[0]] != no_id ||
            value_[inputs[0]] == no_id) {
            return;
        }
        const auto readers = before_readers_[value_[inputs[0]]];
        const auto end =
            readers.begin() + static_cast<std::ptrdiff_t>(std::min(readers.size(), most_readers));
        const bool had = std::any_of(readers.begin(), end, [&](id reader) {
            return types_.equal(before_.type(reader), after_.type(op)) && !taken_[reader];
        });
        if (!had) {
            set(outputs[0], value_[inputs[0]], match_basis::passed);
        }
    }

    void pair(id op, id before, match_basis basis) {
        partner_[op] = before;
        taken_[before] = true;
        const auto outputs = after_.outputs(op);
        const auto others = before_.outputs(before);
        for (std::size_t i = 0; i < std::min(outputs.size(), others.size()); ++i) {
            if (outputs[i] != no_id && others[i] != no_id) {
                set(outputs[i], others[i], basis);
            }
        }
    }

    /// Goes from what is known to what is around it, until nothing more is found.
    void grow() {
        const auto& results = after_.results();
        const auto& others = before_.results();
        for (std::size_t i = 0; results.size() == others.size() && i < results.size(); ++i) {
            if (results[i] != no_id && value_[results[i]] == no_id && others[i] != no_id) {
                set(results[i], others[i], match_basis::neighbours);
            }
        }
        std::vector<id> work(after_.operator_count());
        for (id op = 0; op < work.size(); ++op) {
            work[op] = after_.operator_count() - 1 - op;
        }
        std::vector<bool> waits(after_.operator_count(), true);
        while (!work.empty()) {
            const auto op = work.back();
            work.pop_back();
            waits[op] = false;
            const auto add = [&](id other) {
                if (other != no_id && !waits[other]) {
                    waits[other] = true;
                    work.push_back(other);
                }
            };
            if (grow_from(op)) {
                for (const auto v : after_.inputs(op)) {
                    v == no_id ? void() : add(after_.maker(v));
                }
                for (const auto v : after_.outputs(op)) {
                    if (v != no_id) {
                        const auto readers = after_readers_[v];
                        std::for_each(readers.begin(), readers.end(), add);
                    }
                }
            }
        }
    }

    /// Returns: whether something was found of an operator's values.
    [[nodiscard]] bool grow_from(id op) {
        grown_ = false;
        if (partner_[op] == no_id) {
            const auto found = find_partner(op);
            if (found == no_id) {
                return false;
            }
            pair_unset(op, found);
        } else if (basis_of(op) == match_basis::computed) {
            return false; // and so was all that it reads
        }
        bool changed = false;
        const auto inputs = after_.inputs(op);
        const auto others = before_.inputs(partner_[op]);
        for (std::size_t i = 0; i < inputs.size() && inputs.size() == others.size(); ++i) {
            if (inputs[i] != no_id && others[i] != no_id && value_[inputs[i]] == no_id &&
                (after_.role(inputs[i]) == value_role::stored) ==
                    (before_.role(others[i]) == value_role::stored)) {
                set(inputs[i], others[i], match_basis::neighbours);
                changed = true;
            }
        }
        return changed || grown_;
    }

    [[nodiscard]] match_basis basis_of(id op) const {
        const auto outputs = after_.outputs(op);
        return outputs.empty() || outputs[0] == no_id ? match_basis::none : basis_[outputs[0]];
    }

    void pair_unset(id op, id before) {
        partner_[op] = before;
        taken_[before] = true;
        const auto outputs = after_.outputs(op);
        const auto others = before_.outputs(before);
        for (std::size_t i = 0; i < std::min(outputs.size(), others.size()); ++i) {
            if (outputs[i] != no_id && others[i] != no_id && value_[outputs[i]] == no_id) {
                set(outputs[i], others[i], match_basis::neighbours);
                grown_ = true;
            }
        }
    }

    /// Returns: the operator of the original that makes what this one makes, or else reads what it
    /// reads, of the same type; `no_id` for none or several.
    [[nodiscard]] id find_partner(id op) {
        for (const auto v : after_.outputs(op)) {
            const auto maker = v == no_id || value_[v] == no_id ? no_id : before_.maker(value_[v]);
            if (maker != no_id) {
                return fits(maker, op) ? maker : no_id;
            }
        }
        auto best = no_id;
        auto most = -1;
        bool several = false;
        for (const auto v : after_.inputs(op)) {
            if (v == no_id || value_[v] == no_id) {
                continue;
            }
            const auto readers = before_readers_[value_[v]];
            if (readers.size() > most_readers) {
                continue;
            }
            for (const auto reader : readers) {
                if (taken_[reader] || reader == best || !fits(reader, op)) {
                    continue;
                }
                const auto found = agreement(reader, op);
                several = found == most || (several && found < most);
                best = found > most ? reader : best;
                most = std::max(most, found);
            }
        }
        return several ? no_id : best;
    }

    /// Whether an operator may be one of the original: of the same type, and nothing that it reads
    /// is known to be something else.
    [[nodiscard]] bool fits(id before, id op) const {
        const auto inputs = after_.inputs(op);
        const auto others = before_.inputs(before);
        if (!types_.equal(before_.type(before), after_.type(op)) ||
            inputs.size() != others.size()) {
            return false;
        }
        return std::all_of(inputs.begin(), inputs.end(), [&](id v) {
            return v == no_id || value_[v] == no_id || basis_[v] == match_basis::neighbours ||
                   std::any_of(others.begin(), others.end(), [&](id other) {
                       return other != no_id &&
                              (other == value_[v] ||
                               numbers_.of_value(other) == numbers_.of_value(value_[v]));
                   });
        });
    }

    [[nodiscard]] int agreement(id before, id op) const {
        const auto others = before_.inputs(before);
        int found = before_.attributes(before) == after_.attributes(op) ? 1 : 0;
        for (const auto v : after_.inputs(op)) {
            if (v != no_id && value_[v] != no_id &&
                std::find(others.begin(), others.end(), value_[v]) != others.end()) {
                found += 2;
            }
        }
        return found;
    }

    /// Tools that number all values anew give them names that others had: then they say nothing.
    [[nodiscard]] bool names_are_kept() const {
        std::size_t same = 0;
        std::size_t other = 0;
        std::size_t typed = 0;
        std::size_t mistyped = 0;
        for (id v = 0; v < after_.value_count(); ++v) {
            const auto named = names_.find(after_.value_name(v));
            if (named == no_id || after_.role(v) == value_role::given) {
                continue;
            }
            const auto content = after_.content(v);
            const bool sure = after_.role(v) == value_role::stored
                                  ? value_[v] != no_id && content != 0 && is_unique(content)
                                  : basis_[v] == match_basis::computed;
            if (sure) {
                (numbers_.of_value(named) == numbers_.of_value(value_[v]) ? same : other) += 1;
            }
            const auto maker = after_.maker(v);
            const auto then = before_.maker(named);
            if (maker != no_id && then != no_id && types_.had(after_.type(maker))) {
                (types_.fit(before_.type(then), after_.type(maker)) != correspondence::none
                     ? typed
                     : mistyped) += 1;
            }
        }
        return same >= 3 * other && (same >= 3 || typed >= mistyped);
    }

    void forget() {
        std::fill(partner_.begin(), partner_.end(), no_id);
        std::fill(taken_.begin(), taken_.end(), false);
        std::fill(next_free_.begin(), next_free_.end(), no_id);
        std::fill(value_.begin(), value_.end(), no_id);
        std::fill(basis_.begin(), basis_.end(), match_basis::none);
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const value_numbers& numbers_;
    const type_pairs& types_;
    value_names names_;
    operator_names operators_;
    grouped_ids before_readers_; // by value
    grouped_ids after_readers_;
    std::vector<id> value_; // by value of the changed graph
    std::vector<match_basis> basis_;
    std::vector<id> partner_;   // by operator of the changed graph: one of the same type
    std::vector<bool> taken_;   // by operator of the original: whether it is a partner
    std::vector<id> next_free_; // by the first operator of a number
    flat_index contents_;
    std::vector<std::uint64_t> shared_content_; // of several values, ascending
    std::vector<std::pair<std::uint64_t, id>> loose_;
    std::vector<id> hinted_; // operators found by their own names
    bool uses_names_ = false;
    bool grown_ = false;
};

} // namespace stemma::detail

#endif // STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP
