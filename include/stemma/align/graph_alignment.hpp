// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_GRAPH_ALIGNMENT_HPP
#define STEMMA_ALIGN_GRAPH_ALIGNMENT_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/node_origins.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Which operators of an original graph those of a changed one came from.
class graph_alignment {
public:
    /// How a value or operator of a changed graph was matched with the original, from worst to
    /// best.
    enum class match_basis : std::uint8_t {
        none,       ///< unmatched
        neighbours, ///< by its neighbours
        passed,     ///< passed on by an inserted operator
        derived,    ///< by a name with a tool's suffix, or by content in another layout
        named,      ///< by its name
        computed,   ///< same computation on the same inputs
    };

    /// What was found for one operator of the changed graph.
    struct found_origins {
        origin_kind kind = origin_kind::unknown; ///< its relation to them
        float confidence = 0;                    ///< 0 to 1
    };

    /// Returns: the number of operators of the changed graph.
    [[nodiscard]] id size() const noexcept { return static_cast<id>(per_operator_.size()); }

    /// Returns: what was found for an operator.
    [[nodiscard]] const found_origins& of(id op) const noexcept { return per_operator_[op]; }

    /// Returns: the operators of the original, ascending; only those that compute with data, if
    /// any.
    [[nodiscard]] std::span<const id> origins(id op) const noexcept {
        return std::span(origins_).subspan(first_[op], first_[op + 1] - first_[op]);
    }

    /// Returns: by value of the changed graph the one of the original, or `no_id`.
    [[nodiscard]] std::span<const id> values() const noexcept { return values_; }

    /// Returns: how a value was matched.
    [[nodiscard]] match_basis basis(id value) const noexcept { return bases_[value]; }

    /// Reserves room for that many operators.
    void reserve(std::size_t operators) {
        per_operator_.reserve(operators);
        origins_.reserve(operators);
        first_.reserve(operators + 1);
    }

    /// Appends what was found for the next operator.
    void add(const found_origins& one, std::span<const id> origins) {
        per_operator_.push_back(one);
        origins_.insert(origins_.end(), origins.begin(), origins.end());
        first_.push_back(static_cast<id>(origins_.size()));
    }

    /// Sets the matches of all values.
    void set_values(std::vector<id> values, std::vector<match_basis> bases) {
        values_ = std::move(values);
        bases_ = std::move(bases);
    }

private:
    std::vector<found_origins> per_operator_;
    std::vector<id> first_{0};
    std::vector<id> origins_;
    std::vector<id> values_;
    std::vector<match_basis> bases_;
};

/// Returns: the name used in reports.
[[nodiscard]] constexpr std::string_view to_string(graph_alignment::match_basis basis) noexcept {
    constexpr std::string_view names[]{"none",    "neighbours", "passed",
                                       "derived", "named",      "computed"};
    return names[static_cast<std::size_t>(basis)];
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_GRAPH_ALIGNMENT_HPP
