// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ANCHORED_HEADS_HPP
#define STEMMA_ALIGN_DETAIL_ANCHORED_HEADS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Which operators of the original those of a changed graph lead with, by the stored values that
/// both read.
class anchored_heads {
public:
    /// Requires: all outlive this.
    anchored_heads(const comparable_graph& before, const comparable_graph& after,
                   const type_pairs& types, const grouped_ids& before_readers,
                   const grouped_ids& after_readers)
        : before_(before)
        , after_(after)
        , types_(types)
        , before_readers_(before_readers)
        , after_readers_(after_readers)
        , head_(after.operator_count(), no_id)
        , several_(after.operator_count(), false) {}

    /// Pairs the readers of a stored value in order, if there are as many that fit, and at most
    /// `most`.
    /// Complexity: O(readers^2), bounded.
    void add(id after, id before, std::size_t most) {
        const auto readers = each_once(after_readers_[after]);
        auto heads = each_once(before_readers_[before]);
        if (readers.empty() || readers.size() > most || heads.size() > most) {
            return;
        }
        std::erase_if(heads, [&](id head) {
            return std::none_of(readers.begin(), readers.end(),
                                [&](id op) { return leads(head, op); });
        });
        for (std::size_t i = 0; heads.size() == readers.size() && i < heads.size(); ++i) {
            if (leads(heads[i], readers[i])) {
                auto& head = head_[readers[i]];
                several_[readers[i]] = several_[readers[i]] || (head != no_id && head != heads[i]);
                head = heads[i];
            }
        }
    }

    /// Returns: the one that an operator leads with; `no_id` for none or several.
    [[nodiscard]] id of(id op) const { return several_[op] ? no_id : head_[op]; }

private:
    [[nodiscard]] static std::vector<id> each_once(std::span<const id> readers) {
        return range::each_once(std::vector<id>(readers.begin(), readers.end()));
    }

    [[nodiscard]] bool leads(id before, id op) const {
        const auto makes = [](std::span<const id> outputs) {
            return !outputs.empty() && outputs[0] != no_id;
        };
        return types_.fit(before_.type(before), after_.type(op)) == correspondence::head &&
               makes(before_.outputs(before)) && makes(after_.outputs(op));
    }

    const comparable_graph& before_;
    const comparable_graph& after_;
    const type_pairs& types_;
    const grouped_ids& before_readers_;
    const grouped_ids& after_readers_;
    std::vector<id> head_; // by operator of the changed graph
    std::vector<bool> several_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ANCHORED_HEADS_HPP
