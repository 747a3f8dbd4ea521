// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_NUMERICS_VALUE_DIFFERENCE_HPP
#define STEMMA_NUMERICS_VALUE_DIFFERENCE_HPP

#include <stemma/config.hpp>
#include <stemma/error.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/numerics/tensor_values.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
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

/// Bounds on differences. The default is a minimum SQNR of `usual_sqnr`.
struct difference_bounds {
    std::optional<double> max_abs{};    ///< the most
    std::optional<double> max_rel{};    ///< the most
    std::optional<double> min_cosine{}; ///< the least
    std::optional<double> min_sqnr{};   ///< the least, in dB

    /// Noise of a thousandth: float16 mostly meets it, int8 does not.
    static constexpr double usual_sqnr = 60;

    /// Returns: the minimum ratio, if any.
    [[nodiscard]] std::optional<double> least_sqnr() const noexcept {
        const bool others = max_abs || max_rel || min_cosine;
        return min_sqnr || others ? min_sqnr : std::optional(usual_sqnr);
    }

    /// Throws: `error` of `error_code::refused` if a bound is not finite, or one of a magnitude is
    /// negative.
    void check() const {
        constexpr auto any = std::numeric_limits<double>::lowest();
        const auto check_one = [](std::string_view name, const std::optional<double>& bound,
                                  double least) {
            if (bound && !(std::isfinite(*bound) && *bound >= least)) {
                STEMMA_THROW(error(error_code::refused, "", name,
                                   detail::real_text(*bound) + " is not a finite number" +
                                       (least == 0 ? " from 0" : "")));
            }
        };
        check_one("max_abs", max_abs, 0);
        check_one("max_rel", max_rel, 0);
        check_one("min_cosine", min_cosine, any);
        check_one("min_sqnr", min_sqnr, any);
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

/// Sums over two values, of numbers times a scale and their differences times another.
struct difference_sums {
    double scale = 1;       ///< of the reference
    double other_scale = 1; ///< of the other
    double noise_scale = 1; ///< of differences
    double signal = 0;      ///< of squares of the reference
    double other = 0;       ///< of squares of the other
    double product = 0;     ///< of both
    double noise = 0;       ///< of squares of the difference

    void add(double x, double y, double apart) noexcept {
        const auto a = x * scale;
        const auto b = y * other_scale;
        const auto n = std::isfinite(apart) ? apart * noise_scale
                                            : std::abs(x * noise_scale - y * noise_scale);
        signal += a * a;
        other += b * b;
        product += a * b;
        noise += n * n;
    }

    /// Whether squares of numbers up to `most` and `most_other`, with differences up to
    /// `most_apart`, overflowed, or were too small to count.
    [[nodiscard]] bool fail(double most, double most_other, double most_apart) const noexcept {
        constexpr auto least = std::numeric_limits<double>::min();
        return !(std::isfinite(signal) && std::isfinite(other) && std::isfinite(noise)) ||
               (most > 0 && signal < least) || (most_other > 0 && other < least) ||
               (most_apart > 0 && noise < least);
    }

    /// Returns: a scale for numbers up to `most`, which makes that about 1, if it is not denormal.
    [[nodiscard]] static double scale_for(double most) noexcept {
        constexpr int largest = 1000;
        return most > 0 ? std::ldexp(1.0, std::min(-std::ilogb(most), largest)) : 1;
    }
};

/// Calls `f(x, y, |x - y|)` for all pairs of numbers, 64-bit integers subtracted exactly.
template <class Function>
void for_each_pair(const tensor_values& a, const tensor_values& b, Function f) {
    std::vector<double> of_a(std::min(a.size(), tensor_values::run_size));
    auto of_b = of_a;
    const bool rounded = a.is_rounded() || b.is_rounded();
    std::vector<double> rest_of_a(rounded ? of_a.size() : 0);
    auto rest_of_b = rest_of_a;
    for (std::size_t at = 0; at < a.size(); at += of_a.size()) {
        const auto count = std::min(tensor_values::run_size, a.size() - at);
        of_a.resize(count);
        of_b.resize(count);
        a.read(at, of_a);
        b.read(at, of_b);
        if (rounded) {
            rest_of_a.resize(count);
            rest_of_b.resize(count);
            a.read_rest(at, rest_of_a);
            b.read_rest(at, rest_of_b);
        }
        for (std::size_t i = 0; i < count; ++i) {
            const auto rest = rounded ? rest_of_a[i] - rest_of_b[i] : 0.0;
            f(of_a[i], of_b[i], std::abs(of_a[i] - of_b[i] + rest));
        }
    }
}

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
    double most = 0;
    double most_other = 0;
    difference_sums sums;
    for_each_pair(a, b, [&](double x, double y, double apart) {
        if (!std::isfinite(x) || !std::isfinite(y)) {
            const bool same = x == y || (std::isnan(x) && std::isnan(y));
            difference.unequal_nonfinite += same ? 0 : 1;
            return;
        }
        sums.add(x, y, apart);
        most = std::max(most, std::abs(x));
        most_other = std::max(most_other, std::abs(y));
        difference.max_abs = std::max(difference.max_abs, apart);
        if (x != 0) {
            difference.max_rel = std::max(difference.max_rel, apart / std::abs(x));
        }
    });
    difference.identical = difference.max_abs == 0 && difference.unequal_nonfinite == 0;
    if (difference.max_abs == 0) {
        return difference;
    }
    if (sums.fail(most, most_other, difference.max_abs)) {
        // The largest difference may be twice the largest number, and beyond all.
        const auto most_apart = std::min(difference.max_abs, std::max(most, most_other));
        sums = {difference_sums::scale_for(most), difference_sums::scale_for(most_other),
                difference_sums::scale_for(most_apart)};
        for_each_pair(a, b, [&](double x, double y, double apart) {
            if (std::isfinite(x) && std::isfinite(y)) {
                sums.add(x, y, apart);
            }
        });
    }
    const auto sizes = std::sqrt(sums.signal) * std::sqrt(sums.other);
    difference.cosine = sizes == 0 ? 0 : std::clamp(sums.product / sizes, -1.0, 1.0);
    const auto ratio = sums.signal / sums.noise;
    const auto decades = ratio > 0 && std::isfinite(ratio)
                             ? std::log10(ratio)
                             : std::log10(sums.signal) - std::log10(sums.noise);
    // Minus infinity where all should be 0.
    difference.sqnr = 10 * decades + 20 * std::log10(sums.noise_scale / sums.scale);
    return difference;
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_NUMERICS_VALUE_DIFFERENCE_HPP
