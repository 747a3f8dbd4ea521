// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_DETAIL_PARAMETER_READS_HPP
#define STEMMA_ONNX_DETAIL_PARAMETER_READS_HPP

#include <stemma/core/detail/ranked_ids.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The parameters that nodes read. Frequently queried for all nodes, most of which read none.
class parameter_reads {
public:
    parameter_reads() = default;

    /// `append(node, reads)` appends the parameters a node reads, and returns how many there are.
    /// Requires: it may be called concurrently if a `thread_scope` allows it.
    /// Complexity: O(nodes + reads).
    template <class Append>
    parameter_reads(std::size_t nodes, Append append) : readers_(nodes) {
        struct part {
            std::vector<id> count; // by node with any
            std::vector<id> reads;
        };
        constexpr auto word = ranked_ids::word_size;
        const auto count = thread_limit::current().parts_of_operators(nodes);
        std::vector<part> parts(count);
        for_each_range((nodes + word - 1) / word, count,
                       [&](std::size_t i, std::size_t first, std::size_t last) {
                           const auto end = std::min(last * word, nodes);
                           part result;
                           for (auto node = static_cast<id>(first * word); node < end; ++node) {
                               if (const id read = append(node, result.reads); read > 0) {
                                   readers_.insert(node);
                                   result.count.push_back(read);
                               }
                           }
                           parts[i] = std::move(result);
                       });
        first_.reserve(readers_.count() + std::size_t{1});
        for (const auto& entry : parts) {
            for (const auto read : entry.count) {
                first_.push_back(first_.back() + read);
            }
        }
        reads_ = std::move(parts[0].reads);
        reads_.reserve(first_.back());
        for (std::size_t i = 1; i < count; ++i) {
            reads_.insert(reads_.end(), parts[i].reads.begin(), parts[i].reads.end());
        }
    }

    /// Returns: the parameters that a node reads, in the order of its inputs. Complexity: O(1).
    [[nodiscard, gnu::always_inline]] std::span<const id> of(id node) const noexcept {
        return readers_.contains(node) ? of_reader(readers_.rank(node)) : std::span<const id>();
    }

private:
    [[nodiscard, gnu::noinline]] std::span<const id> of_reader(id rank) const noexcept {
        return {reads_.data() + first_[rank], reads_.data() + first_[rank + 1]};
    }

    ranked_ids readers_;       // nodes
    std::vector<id> first_{0}; // by rank of the reader, plus one
    std::vector<id> reads_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ONNX_DETAIL_PARAMETER_READS_HPP
