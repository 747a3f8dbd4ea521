// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_HANDED_PARAMETERS_HPP
#define STEMMA_EVIDENCE_DETAIL_HANDED_PARAMETERS_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// How far functions pass their arguments down: an operator in the body may read one, or a call in
/// it may pass it on.
class handed_parameters {
public:
    handed_parameters() = default;

    /// Complexity: linear in the inputs of operators in bodies, on average.
    template <calling_operators Ops>
    explicit handed_parameters(const Ops& ops) {
        std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> handed_by;
        std::vector<std::uint64_t> level;
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            const auto function = ops.enclosing_function(*it);
            if (function == no_id) {
                continue;
            }
            const auto callee = ops.callee(*it);
            id slot = 0;
            ops.for_each_argument(*it, [&](const operator_argument& argument) {
                if (argument.formal != no_id) {
                    const auto from = key(function, argument.formal);
                    if (callee != no_id) {
                        handed_by[key(callee, slot)].push_back(from);
                    } else if (calls_.emplace(from, 0).second) {
                        level.push_back(from);
                    }
                }
                ++slot;
            });
        }
        for (id calls = 1; !level.empty(); ++calls) {
            std::vector<std::uint64_t> next;
            for (auto to : level) {
                if (const auto entry = handed_by.find(to); entry != handed_by.end()) {
                    for (auto from : entry->second) {
                        if (calls_.emplace(from, calls).second) {
                            next.push_back(from);
                        }
                    }
                }
            }
            level = std::move(next);
        }
    }

    /// Returns: the least number of calls that an input of a function passes through before an
    /// operator other than a call reads it; 0 if none does. Complexity: O(1) on average.
    [[nodiscard]] id calls_below(id function, id formal) const {
        const auto entry = calls_.find(key(function, formal));
        return entry == calls_.end() ? 0 : entry->second;
    }

private:
    [[nodiscard]] static std::uint64_t key(id function, id formal) noexcept {
        return std::uint64_t{function} << 32U | formal;
    }

    std::unordered_map<std::uint64_t, id> calls_; // by function and input
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_HANDED_PARAMETERS_HPP
