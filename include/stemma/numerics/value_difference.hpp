// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_VALUE_DIFFERENCE_HPP
#define STEMMA_NUMERICS_VALUE_DIFFERENCE_HPP

#include <stemma/numerics/tensor_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The difference of a value from its reference; for several values, the worst of each measure.
struct value_difference {
    std::uint64_t elements = 0; ///< compared numbers
    bool identical = true;      ///< all are equal
    double max_abs = 0;         ///< the largest difference
    double max_rel = 0;         ///< the largest relative to the reference, where that is not 0
    double cosine = 1;          ///< of the angle between the two as vectors
    /// 10 log10(sum a^2 / sum (a - b)^2), in dB; infinite if equal.
    double sqnr = std::numeric_limits<double>::infinity();
    /// Infinities and NaNs that differ; excluded above.
    std::uint64_t unequal_nonfinite = 0;

    /// Keeps the worse of each measure.
    void merge(const value_difference& other) noexcept {
        elements += other.elements;
        identical = identical && other.identical;
        max_abs = std::max(max_abs, other.max_abs);
        max_rel = std::max(max_rel, other.max_rel);
        cosine = std::min(cosine, other.cosine);
        sqnr = std::min(sqnr, other.sqnr);
        unequal_nonfinite += other.unequal_nonfinite;
    }
};

/// Bounds on differences. The default is a minimal SQNR of `usual_sqnr`.
struct difference_bounds {
    std::optional<double> max_abs{};    ///< the most
    std::optional<double> max_rel{};    ///< the most
    std::optional<double> min_cosine{}; ///< the least
    std::optional<double> min_sqnr{};   ///< the least, in dB

    /// Noise of a thousandth: float16 mostly meets it, int8 does not.
    static constexpr double usual_sqnr = 60;

    /// Returns: the minimal ratio, if any.
    [[nodiscard]] std::optional<double> least_sqnr() const noexcept {
        const bool others = max_abs || max_rel || min_cosine;
        return min_sqnr || others ? min_sqnr : std::optional(usual_sqnr);
    }

    /// Whether a difference exceeds a bound; numbers finite on one side only always do.
    [[nodiscard]] bool are_exceeded(const value_difference& by) const noexcept {
        const auto least = least_sqnr();
        return by.unequal_nonfinite > 0 || (max_abs && by.max_abs > *max_abs) ||
               (max_rel && by.max_rel > *max_rel) || (min_cosine && by.cosine < *min_cosine) ||
               (least && by.sqnr < *least);
    }
};

namespace detail {

/// Returns: the difference of `b` from `a`; nothing if their shapes differ. Complexity: O(numbers),
/// in constant memory.
[[nodiscard]] inline std::optional<value_difference> compare_values(const tensor_values& a,
                                                                    const tensor_values& b) {
    if (a.dims() != b.dims() || a.size() != b.size()) {
        return std::nullopt;
    }
    value_difference difference;
    difference.elements = a.size();
    if (a.is_same(b)) {
        return difference;
    }
    double signal = 0;
    double other = 0;
    double product = 0;
    double noise = 0;
    std::vector<double> of_a(std::min(a.size(), tensor_values::run_size));
    auto of_b = of_a;
    for (std::size_t at = 0; at < a.size(); at += of_a.size()) {
        of_a.resize(std::min(tensor_values::run_size, a.size() - at));
        of_b.resize(of_a.size());
        a.read(at, of_a);
        b.read(at, of_b);
        for (std::size_t i = 0; i < of_a.size(); ++i) {
            const auto x = of_a[i];
            const auto y = of_b[i];
            if (!std::isfinite(x) || !std::isfinite(y)) {
                const bool same = x == y || (std::isnan(x) && std::isnan(y));
                difference.unequal_nonfinite += same ? 0 : 1;
                continue;
            }
            const auto apart = std::abs(x - y);
            signal += x * x;
            other += y * y;
            product += x * y;
            noise += apart * apart;
            difference.max_abs = std::max(difference.max_abs, apart);
            if (x != 0) {
                difference.max_rel = std::max(difference.max_rel, apart / std::abs(x));
            }
        }
    }
    difference.identical = noise == 0 && difference.unequal_nonfinite == 0;
    const auto sizes = std::sqrt(signal) * std::sqrt(other);
    difference.cosine = noise == 0 ? 1 : sizes == 0 ? 0 : std::clamp(product / sizes, -1.0, 1.0);
    if (noise > 0) {
        difference.sqnr = 10 * std::log10(signal / noise); // minus infinity where all should be 0
    }
    return difference;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_VALUE_DIFFERENCE_HPP
