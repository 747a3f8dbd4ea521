// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ABSORBED_READERS_HPP
#define STEMMA_ALIGN_DETAIL_ABSORBED_READERS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/stored_contents.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// A value with more readers says little, and costs much.
inline constexpr std::size_t most_readers = 64;

/// Finds how far an operator of a changed graph goes on computing beyond a value of the original
/// that it is known to compute: it may have absorbed what came next.
class absorbed_readers {
public:
    /// `values` maps values of the changed graph to those of the original, or to `no_id`; `kept`
    /// says which values of the original are still there. Requires: all outlive this.
    absorbed_readers(const comparable_graph& before, const comparable_graph& after,
                     const value_numbers& numbers, const type_pairs& types,
                     const grouped_ids& before_readers, const grouped_ids& after_readers,
                     const stored_contents& contents, const std::vector<id>& values,
                     const std::vector<bool>& kept)
        : before_(before)
        , after_(after)
        , numbers_(numbers)
        , types_(types)
        , before_readers_(before_readers)
        , after_readers_(after_readers)
        , contents_(contents)
        , value_(values)
        , surviving_(kept) {}

    /// Returns: the last value that `op` may compute by way of `value`: as long as there is just
    /// one reader, which is gone, and reads nothing that `op` does not read too.
    [[nodiscard]] id follow(id op, id value) const {
        const auto out = after_.outputs(op)[0];
        auto next = only_reader(value);
        // As many steps as operators: an invalid graph may have a cycle.
        for (id step = 0; next != no_id && step < before_.operator_count();
             ++step, next = only_reader(value)) {
            const auto results = before_.outputs(next);
            if (results.size() != 1 || results[0] == no_id ||
                (surviving_[results[0]] && !is_passed_on(out, results[0])) ||
                types_.fit(before_.type(next), after_.type(op)) < correspondence::part ||
                (!reads_stored_of(op, next) &&
                 (is_read_on(out, next, value) || reads_what_is_left(next))) ||
                !reads_all_of(op, next, value)) {
                break;
            }
            value = results[0];
        }
        return value;
    }

private:
    static constexpr int most_passed = 4;

    [[nodiscard]] id only_reader(id before) const {
        const auto readers = before_readers_[before];
        const bool one = !readers.empty() && readers.size() <= most_readers &&
                         std::all_of(readers.begin(), readers.end(),
                                     [&](id other) { return other == readers.front(); });
        return one ? readers.front() : no_id;
    }

    /// Whether a reader of a value only passes it on, as a value of the original.
    [[nodiscard]] bool is_passed_on(id value, id before) const {
        const auto readers = after_readers_[value];
        return std::any_of(readers.begin(), readers.end(), [&](id reader) {
            const auto outputs = after_.outputs(reader);
            return types_.passes(after_.type(reader)) && !outputs.empty() && outputs[0] != no_id &&
                   value_[outputs[0]] == before;
        });
    }

    /// Whether an operator of the original reads something stored, of its own, that is still there.
    [[nodiscard]] bool reads_what_is_left(id before) const {
        const auto inputs = before_.inputs(before);
        return std::any_of(inputs.begin(), inputs.end(), [&](id v) {
            return v != no_id && before_.content(v) != 0 && surviving_[v] &&
                   contents_.is_unique(before_.content(v));
        });
    }

    /// Whether an operator reads something stored that one of the original reads.
    [[nodiscard]] bool reads_stored_of(id op, id before) const {
        const auto inputs = after_.inputs(op);
        const auto others = before_.inputs(before);
        return std::any_of(inputs.begin(), inputs.end(), [&](id v) {
            return v != no_id && value_[v] != no_id &&
                   before_.role(value_[v]) == comparable_graph::value_role::stored &&
                   std::find(others.begin(), others.end(), value_[v]) != others.end();
        });
    }

    /// Whether a value, or one that it is passed on as, has a reader that may be one of `reads` in
    /// the original.
    [[nodiscard]] bool is_read_on(id value, id before, id reads, int passed = 0) const {
        const auto readers = after_readers_[value];
        return std::any_of(readers.begin(), readers.end(), [&](id reader) {
            const auto outputs = after_.outputs(reader);
            return (types_.fit(before_.type(before), after_.type(reader)) == correspondence::head &&
                    reads_all_of(reader, before, reads)) ||
                   (passed < most_passed && types_.passes(after_.type(reader)) &&
                    !outputs.empty() && outputs[0] != no_id &&
                    is_read_on(outputs[0], before, reads, passed + 1));
        });
    }

    /// Whether an operator reads all data that one of the original reads, apart from one value.
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

    const comparable_graph& before_;
    const comparable_graph& after_;
    const value_numbers& numbers_;
    const type_pairs& types_;
    const grouped_ids& before_readers_;
    const grouped_ids& after_readers_;
    const stored_contents& contents_;
    const std::vector<id>& value_;
    const std::vector<bool>& surviving_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ABSORBED_READERS_HPP
