// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP
#define STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/anchored_heads.hpp>
#include <stemma/align/detail/known_values.hpp>
#include <stemma/align/detail/neighbour_matcher.hpp>
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
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Matches values of a changed graph with those of the original.
class graph_matcher : private neighbour_matcher {
public:
    graph_matcher(const comparable_graph& before, const comparable_graph& after,
                  const value_numbers& numbers, const type_pairs& types)
        : neighbour_matcher(before, after, numbers, types)
        , names_(std::in_place, before)
        , named_(names_->find_all(after))
        , next_free_(before.operator_count(), no_id) {}

    /// Complexity: O(operators + values + inputs) of both graphs, expected.
    void run() {
        source_matcher(before_, after_, named_, contents_, value_, basis_).run();
        sweep(false);
        if (are_names_kept(before_, after_,
                           {numbers_, types_, named_, contents_, stored_contents(after_),
                            before_readers_, after_readers_, value_, basis_})) {
            forget();
            std::fill(next_free_.begin(), next_free_.end(), no_id);
            source_matcher(before_, after_, named_, contents_, value_, basis_).run();
            sweep(true);
        }
        find_surviving();
        for (const auto op : hinted_) {
            follow(op, value_[after_.outputs(op)[0]]);
        }
        match_anchored(1);
        grow();
        match_anchored(most_readers); // calls that share parameters, in order
        grow();
        match_constants();
        names_.reset();
        named_ = {};
        operators_.reset();
        next_free_ = {};
    }

    [[nodiscard]] std::vector<id> take_values() { return std::move(value_); }
    [[nodiscard]] std::vector<graph_alignment::match_basis> take_bases() {
        return std::move(basis_);
    }
    using neighbour_matcher::after_readers;
    using neighbour_matcher::basis;
    using neighbour_matcher::before_readers;
    using neighbour_matcher::partner;
    using neighbour_matcher::value;
    [[nodiscard]] bool uses_names() const noexcept { return uses_names_; }

private:
    void find_surviving() {
        for (const auto v : value_) {
            if (v != no_id) {
                surviving_[v] = true;
            }
        }
    }

    /// Of equal constants without a name of the original, each is the one that the counterpart of
    /// its first reader reads.
    void match_constants() {
        std::vector<bool> matched(after_.operator_count(), false);
        for (id reader = 0; reader < after_.operator_count(); ++reader) {
            const auto inputs = after_.inputs(reader);
            const auto before = partner_[reader];
            const auto others = before == no_id ? inputs.first(0) : before_.inputs(before);
            for (std::size_t i = 0; i < std::min(inputs.size(), others.size()); ++i) {
                const auto constant = nameless_constant(inputs[i]);
                const auto maker = others[i] == no_id ? no_id : before_.maker(others[i]);
                if (constant != no_id && !matched[constant] && maker != no_id &&
                    before_.constant(maker) &&
                    numbers_.of_operator(maker) == numbers_.of_operator(partner_[constant])) {
                    partner_[constant] = maker;
                    value_[inputs[i]] = others[i];
                    matched[constant] = true;
                }
            }
        }
    }

    /// Returns: the constant with a counterpart that makes a value, if its name tells nothing.
    [[nodiscard]] id nameless_constant(id value) const {
        const auto maker = value == no_id ? no_id : after_.maker(value);
        return maker != no_id && after_.constant(maker) && partner_[maker] != no_id &&
                       named_[value] == no_id
                   ? maker
                   : no_id;
    }

    /// Operators that read the same stored value stand for each other.
    void match_anchored(std::size_t most) {
        anchored_heads heads(before_, after_, types_, before_readers_, after_readers_, value_);
        for (id v = 0; v < after_.value_count(); ++v) {
            if (value_[v] != no_id && after_.role(v) == comparable_graph::value_role::stored &&
                (basis_[v] == graph_alignment::match_basis::derived ||
                 contents_.is_unique(after_.content(v)))) {
                heads.add(v, value_[v], most);
            }
        }
        for (id op = 0; op < after_.operator_count(); ++op) {
            const auto head = heads.of(op);
            if (head != no_id && value_[after_.outputs(op)[0]] == no_id) {
                follow(op, before_.outputs(head)[0]);
                const auto other = first_made(before_, head);
                const auto read = before_reshape(first_made(after_, op), other, op);
                if (read != no_id && other != no_id && value_[read] == no_id &&
                    !absorbs(op, other)) {
                    set(read, other, graph_alignment::match_basis::neighbours);
                }
            }
        }
    }

    /// Returns: what an operator reads in place of a value of the original: if it takes matrices
    /// and something was inserted to make one, the input of that.
    [[nodiscard]] id before_reshape(id read, id before, id op) const {
        const auto maker = read == no_id ? no_id : after_.maker(read);
        if (maker == no_id || before == no_id || !types_.takes_matrices(after_.type(op)) ||
            !types_.lays_out(after_.type(maker))) {
            return read;
        }
        const auto old = before_.maker(before);
        return old != no_id && types_.equal(before_.type(old), after_.type(maker))
                   ? read
                   : first_made(after_, maker);
    }

    /// Whether an operator may have absorbed the one that joins data into a value of the original.
    [[nodiscard]] bool absorbs(id op, id before) const {
        const auto reads = [](const comparable_graph& graph, id reader) {
            const auto inputs = graph.inputs(reader);
            return std::count_if(inputs.begin(), inputs.end(), [&](id v) {
                return v != no_id && graph.role(v) != comparable_graph::value_role::stored;
            });
        };
        const auto maker = before_.maker(before);
        return maker != no_id && reads(before_, maker) > 1 &&
               reads(before_, maker) <= reads(after_, op) &&
               types_.fit(before_.type(maker), after_.type(op)) != correspondence::none;
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
        const auto within = names_->find_within(name);
        if (within != no_id && before_.maker(within) != no_id) {
            set(outputs[0], within, graph_alignment::match_basis::derived);
            hinted_.push_back(op);
            return;
        }
        if (!operators_) {
            operators_.emplace(before_);
        }
        const auto same = operators_->find(name);
        if (same != no_id && types_.equal(before_.type(same), after_.type(op))) {
            const auto others = before_.outputs(same);
            for (std::size_t i = 0; i < std::min(outputs.size(), others.size()); ++i) {
                if (outputs[i] != no_id && others[i] != no_id && value_[outputs[i]] == no_id) {
                    set(outputs[i], others[i], graph_alignment::match_basis::derived);
                }
            }
            if (value_[outputs[0]] != no_id) {
                hinted_.push_back(op);
            }
        }
    }

    void match_computed(id op, id equal, bool with_names) {
        const auto outputs = after_.outputs(op);
        auto named = no_id;
        for (std::size_t i = 0; with_names && i < outputs.size() && named == no_id; ++i) {
            const auto v = outputs[i] == no_id ? no_id : named_[outputs[i]];
            named = v == no_id ? no_id : before_.maker(v);
        }
        if (named != no_id && numbers_.of_operator(named) == numbers_.of_operator(equal)) {
            pair(op, named, graph_alignment::match_basis::computed);
        } else if (named == no_id || !types_.equal(before_.type(named), after_.type(op))) {
            pair(op, take_equal(equal), graph_alignment::match_basis::computed);
        }
    }

    void match_by_name(id v) {
        if (named_[v] != no_id) {
            set(v, named_[v], graph_alignment::match_basis::named);
        } else if (const auto within = names_->find_within(after_.value_name(v)); within != no_id) {
            set(v, within, graph_alignment::match_basis::derived);
        }
    }

    void pair(id op, id before, graph_alignment::match_basis basis) {
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

    // Until values are matched:
    std::optional<value_names> names_;
    std::vector<id> named_;                   // by value: the one of the original with its name
    std::optional<operator_names> operators_; // once needed
    std::vector<id> next_free_;               // by the first operator of a number
    std::vector<id> hinted_;                  // operators found by their own names
    bool uses_names_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_GRAPH_MATCHER_HPP
