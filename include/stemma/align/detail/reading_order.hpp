// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_READING_ORDER_HPP
#define STEMMA_ALIGN_DETAIL_READING_ORDER_HPP

#include <stemma/align/captured_operations.hpp>
#include <stemma/align/detail/visit_inputs_first.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// Captured operations in another order, in which sources still come first.
struct reordered_operations {
    captured_operations operations;
    std::vector<id> number; ///< by number in `operations`: that in the original order
};

/// Puts operations in the order in which they read each other: everything the first source needs
/// before what the second one needs. That order depends on data flow alone, so an optimizer that
/// reorders the operators of a model does not change it.
class reading_order {
public:
    /// Requires: `captured` outlives it.
    explicit reading_order(const captured_operations& captured)
        : captured_(captured)
        , readers_(captured.size(), 0)
        , lookers_(captured.size())
        , missing_(captured.size(), 0)
        , place_(captured.size(), no_id) {
        for (id i = 0; i < captured.size(); ++i) {
            for (const auto source : captured.sources_of(i)) {
                ++readers_[source];
            }
        }
    }

    /// Complexity: O(operations + what they read).
    [[nodiscard]] reordered_operations find() {
        // Results of the model come first, as in a file; others may have left nothing.
        const auto results = captured_.results();
        std::vector<id> ends(results.begin(), results.end());
        for (id i = 0; i < captured_.size(); ++i) {
            if (i + 1 < captured_.size() && only_looks(i)) {
                for (const auto source : captured_.sources_of(i)) {
                    lookers_[source].push_back(i);
                    ++missing_[i];
                }
            } else if (readers_[i] == 0) {
                ends.push_back(i);
            }
        }
        // What nothing but lookers read comes last.
        for (id i = 0; i < captured_.size(); ++i) {
            ends.push_back(i);
        }
        visit_inputs_first(
            ends, captured_.size(), [](id i) { return i; },
            [&](id i, std::vector<id>& inputs) {
                const auto sources = captured_.sources_of(i);
                inputs.assign(sources.begin(), sources.end());
                if (inputs.size() > 1 && reads_first_last(captured_, i)) {
                    std::rotate(inputs.begin(), inputs.begin() + 1, inputs.end());
                }
            },
            [&](id i) { append(i); });
        for (const auto i : results) {
            result_.operations.add_result(place_[i]);
        }
        for (const auto& fault : captured_.faults()) {
            result_.operations.add_fault(fault);
        }
        return std::move(result_);
    }

private:
    /// Whether nothing reads an operation, and all that it reads is read by others too: it looks at
    /// a tensor in passing, as `size` does, and is no result.
    [[nodiscard]] bool only_looks(id i) const {
        const auto sources = captured_.sources_of(i);
        return readers_[i] == 0 && !sources.empty() &&
               std::all_of(sources.begin(), sources.end(),
                           [&](id source) { return readers_[source] > 1; });
    }

    /// Appends an operation after its sources, and then those that look at nothing still to come.
    void append(id i) {
        if (place_[i] != no_id) {
            return;
        }
        const auto names = captured_.names_of(i);
        auto& to = result_.operations;
        place_[i] = to.add(captured_[i], captured_.names()[names[0]]);
        for (const auto name : names.subspan(1)) {
            to.add_name(captured_.names()[name]);
        }
        for (const auto& p : captured_.parameters_of(i)) {
            to.add_parameter(captured_.parameter_names()[p.name], p.shape);
        }
        for (const auto source : captured_.sources_of(i)) {
            to.add_source(place_[source]);
        }
        result_.number.push_back(i);
        for (const auto looker : lookers_[i]) {
            if (--missing_[looker] == 0) {
                append(looker);
            }
        }
    }

    const captured_operations& captured_;
    std::vector<std::size_t> readers_;     // by operation: their number
    std::vector<std::vector<id>> lookers_; // by operation: those that look at it
    std::vector<std::size_t> missing_;     // by operation that looks: sources without a place
    std::vector<id> place_;                // by operation: its new number
    reordered_operations result_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_READING_ORDER_HPP
