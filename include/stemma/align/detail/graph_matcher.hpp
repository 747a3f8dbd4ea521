// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP
#define STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/absorbed_readers.hpp>
#include <stemma/align/detail/known_values.hpp>
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

/// Matches values of a changed graph with those of the original.
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
        , contents_(before)
        , before_readers_(readers_in(before))
        , after_readers_(readers_in(after))
        , value_(after.value_count(), no_id)
        , basis_(after.value_count(), match_basis::none)
        , partner_(after.operator_count(), no_id)
        , taken_(before.operator_count(), false)
        , next_free_(before.operator_count(), no_id) {}

    /// Complexity: O(operators + values + inputs) of both graphs, expected.
    void run() {
        source_matcher(before_, after_, names_, contents_, value_, basis_).run();
        sweep(false);
        grow();
        if (are_names_kept(before_, after_,
                           {numbers_, types_, names_, contents_, value_, basis_})) {
            forget();
            source_matcher(before_, after_, names_, contents_, value_, basis_).run();
            sweep(true);
            absorbed_readers(before_, after_, numbers_, types_, before_readers_, after_readers_,
                             value_)
                .follow(hinted_);
            hinted_.clear();
            grow();
        }
    }

    [[nodiscard]] std::vector<id> take_values() { return std::move(value_); }
    [[nodiscard]] std::vector<match_basis> take_bases() { return std::move(basis_); }
    /// Returns: the matching value of the original, or `no_id`.
    [[nodiscard]] id value(id after) const noexcept { return value_[after]; }
    /// Returns: how it was matched.
    [[nodiscard]] match_basis basis(id after) const noexcept { return basis_[after]; }
    /// Returns: the matching operator of the same type, or `no_id`.
    [[nodiscard]] id partner(id after) const noexcept { return partner_[after]; }
    [[nodiscard]] const grouped_ids& before_readers() const noexcept { return before_readers_; }
    [[nodiscard]] const grouped_ids& after_readers() const noexcept { return after_readers_; }
    [[nodiscard]] const value_names& names() const noexcept { return names_; }
    [[nodiscard]] bool uses_names() const noexcept { return uses_names_; }

private:
    void set(id after, id before, match_basis basis) {
        value_[after] = before;
        basis_[after] = basis;
    }

    /// Returns: the number of an operator of the changed graph in terms of the original, 0 if one
    /// of its inputs is unknown.
    [[nodiscard]] std::uint64_t number_of(id op) const {
        bool is_known = !after_.opaque(op);
        for (const auto v : after_.inputs(op)) {
            is_known = is_known && (v == no_id || value_[v] != no_id);
        }
        return !is_known
                   ? 0
                   : value_numbers::number_of(after_, op, types_.hash(after_.type(op)),
                                              [&](id v) { return numbers_.of_value(value_[v]); });
    }

    /// Returns: an operator with the number, preferably one that is not taken.
    [[nodiscard]] id take_equal(id first) {
        auto& free = next_free_[first];
        free = free == no_id ? first : free;
        while (taken_[free] && numbers_.next_equal(free) != no_id) {
            free = numbers_.next_equal(free);
        }
        return taken_[free] ? first : free;
    }

    /// Visits all operators in order, matching them by computation and by name.
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

    /// Tools name the results of new operators after the operator they replace, or after its
    /// result.
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

    /// The output of an inserted operator stands for its input, unless the original has such an
    /// operator.
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

    /// Extends matches to neighbours until nothing more is found.
    void grow() {
        grow(true);
        grow(false);
    }

    void grow(bool only_anchored) {
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
            if (grow_from(op, only_anchored)) {
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

    /// Returns: whether any of an operator's values was matched.
    [[nodiscard]] bool grow_from(id op, bool only_anchored) {
        grown_ = false;
        if (partner_[op] == no_id) {
            const auto match =
                only_anchored && !is_anchored(after_, op, contents_) ? no_id : find_partner(op);
            if (match == no_id) {
                return false;
            }
            pair_unset(op, match);
        } else if (basis_of(op) == match_basis::computed) {
            return false; // and so was everything it reads
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

    /// Returns: the operator of the original with the same type that produces what this one
    /// produces, or else reads what it reads; `no_id` for none or several.
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
                const auto match = agreement(reader, op);
                several = match == most || (several && match < most);
                best = match > most ? reader : best;
                most = std::max(most, match);
            }
        }
        return several ? no_id : best;
    }

    /// Whether an operator may be one of the original: of the same type, without inputs known to be
    /// different.
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
        int result = before_.attributes(before) == after_.attributes(op) ? 1 : 0;
        for (const auto v : after_.inputs(op)) {
            if (v != no_id && value_[v] != no_id &&
                std::find(others.begin(), others.end(), value_[v]) != others.end()) {
                result += 2;
            }
        }
        return result;
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
    stored_contents contents_;
    grouped_ids before_readers_; // by value
    grouped_ids after_readers_;
    std::vector<id> value_; // by value of the changed graph
    std::vector<match_basis> basis_;
    std::vector<id> partner_;   // by operator of the changed graph: its match
    std::vector<bool> taken_;   // by operator of the original: whether it is matched
    std::vector<id> next_free_; // by the first operator of a number
    std::vector<id> hinted_;    // operators found by their own names
    bool uses_names_ = false;
    bool grown_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP
