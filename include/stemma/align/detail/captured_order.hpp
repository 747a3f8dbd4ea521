// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_CAPTURED_ORDER_HPP
#define STEMMA_ALIGN_DETAIL_CAPTURED_ORDER_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// What an alignment and the positions of operands tell about the order in which operators ran.
struct captured_order {
    std::size_t crossed = 0;   ///< operators that read two results of others in swapped positions
    std::vector<id> operation; ///< by vertex index: the operation that its position stands for;
                               ///< without a position that of the alignment, `no_id` if unknown
};

/// Compares the operands of operators with those of their operations. Two equal branches that a
/// file holds in a different order than they ran align with each other's operations as well as with
/// their own; only an operator that reads both tells them apart.
template <operator_view Ops>
class captured_order_finder {
public:
    /// Requires: all arguments outlive it.
    captured_order_finder(const Ops& ops, const captured_operations& captured,
                          const alignment& aligned)
        : graph_(ops.graph()), captured_(captured), aligned_(aligned), used_(captured.size()) {
        for (const auto& entry : aligned_.of) {
            if (entry.operation != no_id) {
                used_[entry.operation] = true;
            }
        }
    }

    /// Complexity: O(operators + edges), times the operations in between that left no operator.
    [[nodiscard]] captured_order find() {
        order_.operation.resize(aligned_.of.size(), no_id);
        for (std::size_t v = 0; v < aligned_.of.size(); ++v) {
            order_.operation[v] = aligned_.of[v].operation;
        }
        for (auto [it, last] = vertices(graph_); it != last; ++it) {
            compare(*it);
        }
        return std::move(order_);
    }

private:
    static constexpr std::size_t max_passed = 24;

    template <class Vertex>
    void compare(const Vertex& v) {
        const auto reader = aligned_.of[index_of(graph_, v)].operation;
        if (reader == no_id || captured_.sources_of(reader).size() < 2 ||
            reads_first_last(captured_, reader)) {
            return;
        }
        operands_.clear();
        places_.clear();
        for (auto [in, last] = in_edges(v, graph_); in != last; ++in) {
            const auto u = static_cast<id>(index_of(graph_, source(*in, graph_)));
            const auto made_by = aligned_.of[u].operation;
            const auto place =
                made_by == no_id || made_by == reader ? no_id : place_of(made_by, reader);
            if (place != no_id &&
                std::find(places_.begin(), places_.end(), place) == places_.end()) {
                operands_.push_back(u);
                places_.push_back(place);
            }
        }
        if (std::is_sorted(places_.begin(), places_.end())) {
            return;
        }
        ++order_.crossed;
        std::sort(places_.begin(), places_.end());
        for (std::size_t k = 0; k < operands_.size(); ++k) {
            order_.operation[operands_[k]] = captured_.sources_of(reader)[places_[k]];
        }
    }

    /// Returns: the first operand of an operation that comes from another one, possibly through
    /// operations that left no operator.
    [[nodiscard]] id place_of(id from, id reader) {
        const auto sources = captured_.sources_of(reader);
        for (id k = 0; k < sources.size(); ++k) {
            passed_.assign(1, sources[k]);
            for (std::size_t next = 0; next < passed_.size(); ++next) {
                const auto operation = passed_[next];
                if (operation == from) {
                    return k;
                }
                if (!used_[operation] && passed_.size() < max_passed) {
                    const auto further = captured_.sources_of(operation);
                    passed_.insert(passed_.end(), further.begin(), further.end());
                }
            }
        }
        return no_id;
    }

    const graph_of<Ops>& graph_;
    const captured_operations& captured_;
    const alignment& aligned_;
    std::vector<bool> used_; // by operation: an operator comes from it
    captured_order order_;
    std::vector<id> operands_;
    std::vector<id> places_;
    std::vector<id> passed_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_CAPTURED_ORDER_HPP
