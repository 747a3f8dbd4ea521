// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_ALIGNMENT_HPP
#define STEMMA_ALIGN_ALIGNMENT_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/confidence.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// An alignment as a whole.
struct alignment {
    /// Which captured operation an operator comes from.
    struct aligned {
        id module = no_id;    ///< the module that ran the operation; `no_id` for excluded operators
        id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
        id operation = no_id; ///< `no_id` where no operation explains the operator
        float confidence = 0; ///< in [0, 1]; no more than the alignment as a whole deserves
        bool exact = true;    ///< otherwise the module, a descendant or an ancestor
    };

    std::vector<aligned> of;         ///< by vertex index
    std::size_t placed = 0;          ///< operators included
    std::size_t explained = 0;       ///< those explained by an operation
    std::size_t expected = 0;        ///< operations that should have produced operators
    std::size_t found = 0;           ///< those that did
    std::size_t links = 0;           ///< edges between placed operators
    std::size_t flows = 0;           ///< those that the operations have too
    std::size_t reads = 0;           ///< reads of parameters with known name or shape
    std::size_t agreed = 0;          ///< those that the operations have too
    std::size_t inside = 0;          ///< operators in bodies that ran
    std::size_t fitting_inside = 0;  ///< those that fit an operation
    std::size_t contradicted = 0;    ///< parameters that others should read, by name
    std::size_t denied = 0;          ///< operators that names state to come from elsewhere
    bool partial = false;            ///< operators in function bodies were excluded
    std::vector<std::string> doubts; ///< why it is not to be trusted, in words

    /// Returns: the share of both sides that fits, 0 to 1.
    [[nodiscard]] double quality() const noexcept {
        const auto share = [](std::size_t part, std::size_t whole) {
            return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
        };
        return std::min({share(explained, placed), share(found, expected), share(flows, links),
                         share(agreed, reads)});
    }

    /// Returns: the share of operators in bodies that fits, 0 to 1.
    [[nodiscard]] double share_inside() const noexcept {
        return inside == 0 ? 1.0
                           : static_cast<double>(fitting_inside) / static_cast<double>(inside);
    }

    /// Returns: whether the capture may be one of this model at all.
    [[nodiscard]] bool is_plausible() const noexcept { return quality() >= 0.5; }

    /// Returns: whether data flow between the operators matches that between their operations. If
    /// not, many operators were mistaken for others, as in a graph without names that an optimizer
    /// reordered.
    [[nodiscard]] bool is_consistent() const noexcept { return flows * 100 >= links * 85; }

    /// Returns: the most confidence that any operator deserves. If much of one side has no
    /// counterpart on the other, or parameters disagree, apparent matches may be due to chance.
    [[nodiscard]] float credibility() const noexcept {
        const float fitting = !is_plausible()    ? detail::confidence::capture_of_other
                              : quality() < 0.85 ? std::min(static_cast<float>(quality()),
                                                            detail::confidence::capture_doubt)
                                                 : 1;
        const float agreeing = contradicted == 0           ? 1
                               : contradicted * 20 > reads ? detail::confidence::capture_doubt
                                                           : detail::confidence::capture_flaw;
        return std::min(fitting, agreeing);
    }
};

namespace detail {

/// Whether `a` is a better alignment of the same operators than `b`: first the one to be believed
/// at all, then the one to be believed more, then the one with fewer misfits; a single one is
/// chance.
[[nodiscard]] inline bool is_better(const alignment& a, const alignment& b) noexcept {
    const auto belief = [](const alignment& one) {
        return std::tuple(one.contradicted * 20 <= one.reads,
                          one.is_plausible() && one.is_consistent(), one.credibility());
    };
    const auto misfits = [](const alignment& one) {
        return one.placed - one.explained + one.expected - one.found + one.links - one.flows +
               one.reads - one.agreed + one.inside - one.fitting_inside + one.denied;
    };
    const auto of_a = belief(a);
    const auto of_b = belief(b);
    return of_a > of_b || (of_a == of_b && misfits(a) + 1 < misfits(b));
}

/// Notes what is wrong with an alignment, and caps all confidences accordingly.
inline void doubt(alignment& result, std::span<const std::string> faults) {
    auto limit = result.credibility();
    if (!result.is_plausible()) {
        result.doubts.push_back(
            result.partial ? "most of it is not found outside functions, which are not searched"
                           : "it seems to belong to another model");
    } else if (result.quality() < 0.85) {
        result.doubts.push_back(
            result.partial ? "much of it is not found outside functions, which are not searched"
                           : "much of it does not fit the model");
    }
    if (result.contradicted > 0) {
        result.doubts.push_back(std::to_string(result.contradicted) +
                                " parameters are read by operations other than those it records");
    }
    for (const auto& fault : faults) {
        result.doubts.push_back(fault);
        limit = std::min(limit, confidence::capture_doubt);
    }
    for (auto& entry : result.of) {
        entry.confidence = std::round(std::min(entry.confidence, limit) * 100) / 100;
    }
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_ALIGN_ALIGNMENT_HPP
