// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_ACCURACY_HPP
#define STEMMA_MODEL_ACCURACY_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace stemma::inline STEMMA_ABI {

/// How an inferred module relates to the true one.
enum class relation : std::uint8_t {
    exact,        ///< the same
    ancestor,     ///< above it
    descendant,   ///< below it
    contaminated, ///< neither: the two sit in different children of their common ancestor
};

/// Returns: how the inferred module relates to the true one.
[[nodiscard]] inline relation relate(const tree_index& modules, id inferred, id truth) noexcept {
    return inferred == truth                      ? relation::exact
           : modules.is_ancestor(inferred, truth) ? relation::ancestor
           : modules.is_ancestor(truth, inferred) ? relation::descendant
                                                  : relation::contaminated;
}

/// The same for dotted paths of modules that need not be in one tree.
[[nodiscard]] inline relation relate(std::string_view inferred, std::string_view truth) noexcept {
    const auto is_above = [](std::string_view above, std::string_view below) {
        return above.empty() || (below.starts_with(above) && below.size() > above.size() &&
                                 below[above.size()] == '.');
    };
    return inferred == truth           ? relation::exact
           : is_above(inferred, truth) ? relation::ancestor
           : is_above(truth, inferred) ? relation::descendant
                                       : relation::contaminated;
}

/// Counts of operators by relation to the truth.
struct accuracy {
    std::size_t exact = 0;        ///< at the true module
    std::size_t ancestor = 0;     ///< above it
    std::size_t descendant = 0;   ///< below it
    std::size_t contaminated = 0; ///< elsewhere
    std::size_t missing = 0;      ///< operators with a truth but no inferred module

    /// Counts an operator for which a module was inferred.
    void add(relation r) noexcept {
        (r == relation::exact        ? exact
         : r == relation::ancestor   ? ancestor
         : r == relation::descendant ? descendant
                                     : contaminated) += 1;
    }

    /// Adds the counts of other operators.
    accuracy& operator+=(const accuracy& other) noexcept {
        exact += other.exact;
        ancestor += other.ancestor;
        descendant += other.descendant;
        contaminated += other.contaminated;
        missing += other.missing;
        return *this;
    }

    /// Returns: the operators with a truth.
    [[nodiscard]] std::size_t total() const noexcept {
        return exact + ancestor + descendant + contaminated + missing;
    }

    friend bool operator==(const accuracy&, const accuracy&) = default;
};

/// Compares inferred modules with an oracle; both are by vertex index, `no_id` where unknown.
/// Operators without a truth are not counted. Complexity: O(n).
[[nodiscard]] inline accuracy measure_accuracy(const tree_index& modules,
                                               std::span<const id> inferred,
                                               std::span<const id> truth) {
    accuracy result;
    for (std::size_t v = 0; v < truth.size(); ++v) {
        if (truth[v] == no_id) {
            continue;
        }
        if (inferred[v] == no_id) {
            ++result.missing;
        } else {
            result.add(relate(modules, inferred[v], truth[v]));
        }
    }
    return result;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_ACCURACY_HPP
