// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_NEIGHBOUR_MATCHER_HPP
#define STEMMA_ALIGN_DETAIL_NEIGHBOUR_MATCHER_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/absorbed_readers.hpp>
#include <stemma/align/detail/known_values.hpp>
#include <stemma/align/detail/stored_contents.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Which values and operators of two graphs match, and finds more of them beside known ones.
class neighbour_matcher {
public:
    neighbour_matcher(const comparable_graph& before, const comparable_graph& after,
                      const value_numbers& numbers, const type_pairs& types)
        : before_(before)
        , after_(after)
        , numbers_(numbers)
        , types_(types)
        , contents_(before)
        , before_readers_(readers_in(before))
        , after_readers_(readers_in(after))
        , value_(after.value_count(), no_id)
        , basis_(after.value_count(), graph_alignment::match_basis::none)
        , partner_(after.operator_count(), no_id)
        , taken_(before.operator_count(), false)
        , surviving_(before.value_count(), false)
        , absorbed_(before, after, numbers, types, before_readers_, after_readers_, contents_,
                    value_, surviving_) {}

    neighbour_matcher(const neighbour_matcher&) = delete;
    neighbour_matcher& operator=(const neighbour_matcher&) = delete;

    /// Returns: the matching value of the original, or `no_id`.
    [[nodiscard]] id value(id after) const noexcept { return value_[after]; }
    /// Returns: how it was matched.
    [[nodiscard]] graph_alignment::match_basis basis(id after) const noexcept {
        return basis_[after];
    }
    /// Returns: the matching operator of the same type, or `no_id`; valid as long as this.
    [[nodiscard]] const id& partner(id after) const noexcept { return partner_[after]; }
    [[nodiscard]] const grouped_ids& before_readers() const noexcept { return before_readers_; }
    [[nodiscard]] const grouped_ids& after_readers() const noexcept { return after_readers_; }

protected:
    void set(id after, id before, graph_alignment::match_basis basis) {
        value_[after] = before;
        basis_[after] = basis;
        surviving_[before] = true;
    }

    /// Sets what an operator makes that computes a value of the original, and maybe more.
    void follow(id op, id before) {
        set(after_.outputs(op)[0], absorbed_.follow(op, before),
            graph_alignment::match_basis::derived);
    }

    /// The output of an inserted operator stands for its input, and the reverse, unless the
    /// original has such an operator. Returns: whether a value was matched.
    bool pass_on(id op) {
        const auto inputs = after_.inputs(op);
        const auto outputs = after_.outputs(op);
        if (!types_.passes(after_.type(op)) || inputs.empty() || inputs[0] == no_id ||
            outputs.empty() || outputs[0] == no_id ||
            (value_[outputs[0]] == no_id) == (value_[inputs[0]] == no_id)) {
            return false;
        }
        if (value_[inputs[0]] == no_id) {
            const auto maker = before_.maker(value_[outputs[0]]);
            if (after_.maker(inputs[0]) == no_id || maker == no_id ||
                types_.equal(before_.type(maker), after_.type(op))) {
                return false;
            }
            set(inputs[0], value_[outputs[0]], graph_alignment::match_basis::passed);
            return true;
        }
        const auto readers = before_readers_[value_[inputs[0]]];
        const auto some = readers.first(std::min(readers.size(), most_readers));
        if (std::any_of(some.begin(), some.end(), [&](id reader) {
                return types_.equal(before_.type(reader), after_.type(op)) && !taken_[reader];
            })) {
            return false;
        }
        set(outputs[0], value_[inputs[0]], graph_alignment::match_basis::passed);
        return true;
    }

    /// Returns: the first input that is not stored, or `no_id`.
    [[nodiscard]] static id first_made(const comparable_graph& graph, id op) {
        const auto inputs = graph.inputs(op);
        const auto first = std::find_if(inputs.begin(), inputs.end(), [&](id v) {
            return v != no_id && graph.role(v) != comparable_graph::value_role::stored;
        });
        return first == inputs.end() ? no_id : *first;
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
                set(results[i], others[i], graph_alignment::match_basis::neighbours);
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
                return (!only_anchored && grow_over(op)) || pass_on(op);
            }
            pair_unset(op, match);
        } else if (basis_of(op) == graph_alignment::match_basis::computed) {
            return false; // and so was everything it reads
        }
        bool changed = false;
        const auto inputs = after_.inputs(op);
        const auto others = before_.inputs(partner_[op]);
        for (std::size_t i = 0; i < inputs.size() && inputs.size() == others.size(); ++i) {
            const auto other = others[slot_left(inputs, others, i)];
            if (inputs[i] != no_id && other != no_id && value_[inputs[i]] == no_id &&
                (after_.role(inputs[i]) == comparable_graph::value_role::stored) ==
                    (before_.role(other) == comparable_graph::value_role::stored)) {
                set(inputs[i], other, graph_alignment::match_basis::neighbours);
                changed = true;
            }
        }
        return changed || grown_;
    }

    /// Returns: the slot of an operator of the original that a slot corresponds to: of two, the
    /// other one if theirs were exchanged.
    [[nodiscard]] std::size_t slot_left(std::span<const id> inputs, std::span<const id> others,
                                        std::size_t slot) const {
        const auto beside = inputs.size() == 2 ? inputs[1 - slot] : no_id;
        const bool exchanged = beside != no_id && value_[beside] != no_id &&
                               value_[beside] == others[slot] && others[0] != others[1];
        return exchanged ? 1 - slot : slot;
    }

    /// Returns: whether an operator of another type or form was found to lead with the only one of
    /// the original that fits and reads all data that it reads.
    [[nodiscard]] bool grow_over(id op) {
        const auto outputs = after_.outputs(op);
        const auto read = first_made(after_, op);
        if (outputs.empty() || outputs[0] == no_id || value_[outputs[0]] != no_id ||
            read == no_id || !knows_inputs(op)) {
            return false;
        }
        return outputs.size() > 1 ? grow_over_all(op, value_[read])
                                  : grow_over_one(op, value_[read]);
    }

    /// Whether an operator of the original reads a value first, was not matched, and may be what
    /// another one leads with.
    [[nodiscard]] bool may_lead(id before, id op, id read) const {
        const auto outputs = before_.outputs(before);
        return !taken_[before] && !outputs.empty() && outputs[0] != no_id &&
               !surviving_[outputs[0]] && first_made(before_, before) == read &&
               types_.fit(before_.type(before), after_.type(op)) == correspondence::head;
    }

    /// Matches the result with that of the only reader of a value that fits and goes on in the same
    /// way, or the only one of them whose parameters are as large.
    [[nodiscard]] bool grow_over_one(id op, id read) {
        const auto result = after_.outputs(op)[0];
        const auto readers = before_readers_[read];
        auto head = no_id;
        auto end = no_id;
        bool is_alike = false;
        bool several = false;
        for (const auto reader : readers.first(std::min(readers.size(), most_readers))) {
            if (reader == head || !may_lead(reader, op, read)) {
                continue;
            }
            const auto last = absorbed_.follow(op, before_.outputs(reader)[0]);
            const bool alike = reads_as_much(reader, op);
            if (!goes_on(result, last) || (is_alike && !alike)) {
                continue;
            }
            several = head != no_id && alike == is_alike;
            head = reader;
            end = last;
            is_alike = alike;
        }
        if (head == no_id || several) {
            return false;
        }
        taken_[head] = true;
        set(result, end, graph_alignment::match_basis::neighbours);
        return true;
    }

    /// Matches all results of an operator with those of as many readers of a value, in order.
    [[nodiscard]] bool grow_over_all(id op, id read) {
        const auto outputs = after_.outputs(op);
        std::vector<id> heads;
        for (const auto reader : before_readers_[read]) {
            if (may_lead(reader, op, read) && (heads.empty() || heads.back() != reader)) {
                heads.push_back(reader);
            }
        }
        if (heads.size() != outputs.size()) {
            return false;
        }
        for (std::size_t i = 0; i < heads.size(); ++i) {
            if (outputs[i] != no_id && value_[outputs[i]] == no_id) {
                taken_[heads[i]] = true;
                set(outputs[i], before_.outputs(heads[i])[0],
                    graph_alignment::match_basis::neighbours);
            }
        }
        return true;
    }

    /// Whether two operators read stored values with as many elements.
    [[nodiscard]] bool reads_as_much(id before, id op) const {
        const auto size = [](const comparable_graph& graph, id reader) {
            std::uint64_t most = 0;
            for (const auto v : graph.inputs(reader)) {
                most = v == no_id ? most : std::max(most, graph.nonzero(v));
            }
            return most;
        };
        return size(before_, before) != 0 && size(before_, before) == size(after_, op);
    }

    /// Whether a reader of a value may be one of a value of the original, or part of what that
    /// became.
    [[nodiscard]] bool goes_on(id value, id before) const {
        const auto readers = after_readers_[value];
        const auto others = before_readers_[before];
        const auto some = others.first(std::min(others.size(), most_readers));
        return readers.empty() || std::any_of(readers.begin(), readers.end(), [&](id reader) {
                   const auto least = first_made(after_, reader) == value ? correspondence::head
                                                                          : correspondence::part;
                   return types_.passes(after_.type(reader)) ||
                          std::any_of(some.begin(), some.end(), [&](id other) {
                              return types_.fit(before_.type(other), after_.type(reader)) >= least;
                          });
               });
    }

    [[nodiscard]] bool knows_inputs(id op) const {
        const auto inputs = after_.inputs(op);
        return std::all_of(inputs.begin(), inputs.end(), [&](id v) {
            return v == no_id || value_[v] != no_id ||
                   after_.role(v) == comparable_graph::value_role::stored;
        });
    }

    [[nodiscard]] graph_alignment::match_basis basis_of(id op) const {
        const auto outputs = after_.outputs(op);
        return outputs.empty() || outputs[0] == no_id ? graph_alignment::match_basis::none
                                                      : basis_[outputs[0]];
    }

    void pair_unset(id op, id before) {
        partner_[op] = before;
        taken_[before] = true;
        const auto outputs = after_.outputs(op);
        const auto others = before_.outputs(before);
        for (std::size_t i = 0; i < std::min(outputs.size(), others.size()); ++i) {
            if (outputs[i] != no_id && others[i] != no_id && value_[outputs[i]] == no_id) {
                set(outputs[i], others[i], graph_alignment::match_basis::neighbours);
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
        std::vector<id> readers;
        for (const auto v : after_.inputs(op)) {
            // Of equal constants, the one that an operator reads is unknown.
            if (v != no_id && value_[v] != no_id &&
                (after_.content(v) == 0 || contents_.is_unique(after_.content(v)))) {
                const auto of_one = before_readers_[value_[v]];
                const auto last = of_one.size() > most_readers ? of_one.begin() : of_one.end();
                readers.insert(readers.end(), of_one.begin(), last);
            }
        }
        auto best = no_id;
        auto most = -1;
        bool several = false;
        for (const auto reader : range::each_once(std::move(readers))) {
            if (!taken_[reader] && fits(reader, op)) {
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
            return v == no_id || value_[v] == no_id ||
                   basis_[v] == graph_alignment::match_basis::neighbours ||
                   std::any_of(others.begin(), others.end(), [&](id other) {
                       return other != no_id &&
                              (other == value_[v] ||
                               numbers_.of_value(other) == numbers_.of_value(value_[v]));
                   });
        });
    }

    [[nodiscard]] int agreement(id before, id op) const {
        const auto others = before_.inputs(before);
        int result = (before_.attributes(before) == after_.attributes(op) ? 1 : 0) +
                     (reads_as_much(before, op) ? 1 : 0);
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
        std::fill(value_.begin(), value_.end(), no_id);
        std::fill(basis_.begin(), basis_.end(), graph_alignment::match_basis::none);
        std::fill(surviving_.begin(), surviving_.end(), false);
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const value_numbers& numbers_;
    const type_pairs& types_;
    stored_contents contents_;
    grouped_ids before_readers_; // by value
    grouped_ids after_readers_;
    std::vector<id> value_; // by value of the changed graph
    std::vector<graph_alignment::match_basis> basis_;
    std::vector<id> partner_;     // by operator of the changed graph: its match
    std::vector<bool> taken_;     // by operator of the original: whether it is matched
    std::vector<bool> surviving_; // by value of the original: whether it is still there
    absorbed_readers absorbed_;
    bool grown_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_NEIGHBOUR_MATCHER_HPP
