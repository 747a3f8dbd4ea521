// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ABSORBED_READERS_HPP
#define STEMMA_ALIGN_DETAIL_ABSORBED_READERS_HPP

#include <stemma/align/comparable_graph.hpp>
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

/// Finds values of a changed graph that kept the name of what their operators computed before more
/// was fused into them.
class absorbed_readers {
public:
    /// `values` is by value of the changed graph the one of the original, or `no_id`.
    absorbed_readers(const comparable_graph& before, const comparable_graph& after,
                     const value_numbers& numbers, const type_pairs& types,
                     const grouped_ids& before_readers, const grouped_ids& after_readers,
                     std::vector<id>& values)
        : before_(before)
        , after_(after)
        , numbers_(numbers)
        , types_(types)
        , before_readers_(before_readers)
        , after_readers_(after_readers)
        , value_(values) {}

    /// The operator of such a value may have absorbed its successors, now missing: as long as there
    /// is just one reader, which reads nothing that the new operator does not read too.
    void follow(std::span<const id> hinted) {
        std::vector<bool> left(before_.value_count(), false);
        for (const auto v : value_) {
            if (v != no_id) {
                left[v] = true;
            }
        }
        for (const auto op : hinted) {
            const auto out = after_.outputs(op)[0];
            for (auto next = only_reader(value_[out]); next != no_id;
                 next = only_reader(value_[out])) {
                const auto results = before_.outputs(next);
                if (results.size() != 1 || results[0] == no_id || left[results[0]] ||
                    types_.fit(before_.type(next), after_.type(op)) < correspondence::part ||
                    is_read_on(out, next) || !reads_all_of(op, next, value_[out])) {
                    break;
                }
                value_[out] = results[0];
                left[results[0]] = true;
            }
        }
    }

private:
    [[nodiscard]] id only_reader(id before) const {
        const auto readers = before_readers_[before];
        const bool one = !readers.empty() && readers.size() <= most_readers &&
                         std::all_of(readers.begin(), readers.end(),
                                     [&](id other) { return other == readers.front(); });
        return one ? readers.front() : no_id;
    }

    /// Whether a value has a reader with the type of an operator of the original.
    [[nodiscard]] bool is_read_on(id value, id before) const {
        const auto readers = after_readers_[value];
        return std::any_of(readers.begin(), readers.end(), [&](id reader) {
            return types_.fit(before_.type(before), after_.type(reader)) == correspondence::head;
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
    std::vector<id>& value_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ABSORBED_READERS_HPP
