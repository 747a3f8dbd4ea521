// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_SLICE_FINDER_HPP
#define STEMMA_ALIGN_DETAIL_SLICE_FINDER_HPP

#include <stemma/align/comparable_graph.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Operators of a graph that lead from some values to others.
struct graph_slice {
    std::vector<id> operators; ///< ascending
    bool begins_met = true;    ///< every path back ends at a given value
    bool whole = true;         ///< else it was cut off for its size
};

/// Finds what lies between values of an original that are still in a changed graph.
class slice_finder {
public:
    /// `kept` is by value: whether the changed graph has it. Requires: all arguments outlive this.
    slice_finder(const comparable_graph& graph, const value_numbers& numbers,
                 const std::vector<bool>& kept)
        : graph_(graph), numbers_(numbers), surviving_(kept), seen_(graph.value_count(), 0) {}

    /// Returns: what computes the values `ends` from `begins` and nothing else, going back through
    /// data if an end is data; if other values are needed too, what computes them from remaining
    /// values. Complexity: O(operators found and their inputs), up to a constant.
    [[nodiscard]] graph_slice find(std::span<const id> begins, std::span<const id> ends) {
        begin_numbers_.clear();
        for (const auto v : begins) {
            begin_numbers_.push_back(numbers_.of_value(v));
        }
        std::sort(begin_numbers_.begin(), begin_numbers_.end());
        auto result = walk(ends, true);
        if (!result.begins_met) {
            auto further = walk(ends, false);
            if (further.begins_met && further.whole) {
                return further;
            }
        }
        return result;
    }

    /// Whether a value is one of the last slice's begins, or computed alike.
    [[nodiscard]] bool is_begin(id value) const {
        return std::binary_search(begin_numbers_.begin(), begin_numbers_.end(),
                                  numbers_.of_value(value));
    }

private:
    static constexpr std::size_t most = 1024;

    [[nodiscard]] graph_slice walk(std::span<const id> ends, bool stop_at_left) {
        graph_slice result;
        const bool only_data =
            std::any_of(ends.begin(), ends.end(), [&](id v) { return numbers_.is_data(v); });
        ++round_;
        work_.assign(ends.begin(), ends.end());
        const auto end_count = work_.size();
        for (const auto v : ends) {
            seen_[v] = round_;
        }
        for (std::size_t at = 0; at < work_.size(); ++at) {
            const auto v = work_[at];
            if (at >= end_count) {
                if (is_begin(v)) {
                    continue;
                }
                if (stop_at_left && surviving_[v]) {
                    result.begins_met = false;
                    continue;
                }
            }
            const auto maker = graph_.maker(v);
            if (maker == no_id) {
                result.begins_met =
                    result.begins_met && graph_.role(v) != comparable_graph::value_role::given;
                continue;
            }
            const auto place =
                std::lower_bound(result.operators.begin(), result.operators.end(), maker);
            if (place != result.operators.end() && *place == maker) {
                continue;
            }
            if (result.operators.size() == most) {
                result.whole = false;
                break;
            }
            result.operators.insert(place, maker);
            for (const auto input : graph_.inputs(maker)) {
                if (input != no_id && seen_[input] != round_ &&
                    (!only_data || numbers_.is_data(input))) {
                    seen_[input] = round_;
                    work_.push_back(input);
                }
            }
        }
        return result;
    }

    const comparable_graph& graph_;
    const value_numbers& numbers_;
    const std::vector<bool>& surviving_;
    std::vector<std::uint32_t> seen_; // by value: the round
    std::uint32_t round_ = 0;
    std::vector<id> work_;
    std::vector<std::uint64_t> begin_numbers_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_SLICE_FINDER_HPP
