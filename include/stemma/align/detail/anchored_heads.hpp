// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_ANCHORED_HEADS_HPP
#define STEMMA_ALIGN_DETAIL_ANCHORED_HEADS_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/absorbed_readers.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/lexicon.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Returns: by operator, the value given to the graph to which the first of its inputs that depend
/// on any leads back in this way; `no_id` for none. Complexity: O(values + inputs).
[[nodiscard]] inline std::vector<id> given_behind(const comparable_graph& graph) {
    std::vector<id> of_value(graph.value_count(), no_id);
    for (id v = 0; v < of_value.size(); ++v) {
        of_value[v] = graph.role(v) == comparable_graph::value_role::given ? v : no_id;
    }
    std::vector<id> result(graph.operator_count(), no_id);
    for (id op = 0; op < result.size(); ++op) {
        for (const auto v : graph.inputs(op)) {
            result[op] = result[op] == no_id && v != no_id ? of_value[v] : result[op];
        }
        for (const auto v : graph.outputs(op)) {
            v == no_id ? void() : void(of_value[v] = result[op]);
        }
    }
    return result;
}

/// Which operators of the original those of a changed graph lead with, by the stored values that
/// both read.
class anchored_heads {
public:
    /// `values` has the values of the original that those of the changed graph match.
    /// Requires: all outlive this.
    anchored_heads(const comparable_graph& before, const comparable_graph& after,
                   const type_pairs& types, const grouped_ids& before_readers,
                   const grouped_ids& after_readers, const std::vector<id>& values)
        : before_(before)
        , after_(after)
        , types_(types)
        , before_readers_(before_readers)
        , after_readers_(after_readers)
        , values_(values)
        , head_(after.operator_count(), no_id)
        , several_(after.operator_count(), false) {}

    /// Pairs the readers of a stored value, if there are as many that fit: those that depend on the
    /// same input of the graph, if there are as many of each, in order. More than `most` are only
    /// paired if each depends on another input.
    /// Complexity: O(readers^2), bounded; once, that of `given_behind`.
    void add(id after, id before, std::size_t most) {
        auto readers = each_once(after_readers_[after]);
        auto heads = each_once(before_readers_[before]);
        if (readers.empty() || std::max(readers.size(), heads.size()) > most_readers) {
            return;
        }
        std::erase_if(heads, [&](id head) {
            return std::none_of(readers.begin(), readers.end(),
                                [&](id op) { return leads(head, op); });
        });
        if (heads.size() != readers.size() ||
            (heads.size() > 1 && !order_by_inputs(heads, readers) && heads.size() > most)) {
            return;
        }
        for (std::size_t i = 0; i < heads.size(); ++i) {
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

    /// Returns: whether each of either depends on another input.
    [[nodiscard]] bool order_by_inputs(std::vector<id>& heads, std::vector<id>& readers) {
        if (before_given_.empty()) {
            before_given_ = given_behind(before_);
            after_given_ = given_behind(after_);
            for (auto& given : after_given_) {
                given = given == no_id ? no_id : values_[given];
            }
        }
        const auto ordered = [](std::vector<id> operators, const std::vector<id>& given) {
            std::stable_sort(operators.begin(), operators.end(),
                             [&](id a, id b) { return given[a] < given[b]; });
            return operators;
        };
        auto of_before = ordered(heads, before_given_);
        auto of_after = ordered(readers, after_given_);
        if (!std::equal(of_before.begin(), of_before.end(), of_after.begin(),
                        [&](id head, id op) { return before_given_[head] == after_given_[op]; })) {
            return false;
        }
        heads = std::move(of_before);
        readers = std::move(of_after);
        return std::adjacent_find(heads.begin(), heads.end(), [&](id a, id b) {
                   return before_given_[a] == before_given_[b];
               }) == heads.end();
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
    const std::vector<id>& values_;
    std::vector<id> before_given_; // by operator, once needed: an input of the graph
    std::vector<id> after_given_;  // the same, of the original
    std::vector<id> head_;         // by operator of the changed graph
    std::vector<bool> several_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_ANCHORED_HEADS_HPP
