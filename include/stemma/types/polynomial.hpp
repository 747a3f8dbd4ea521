// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_POLYNOMIAL_HPP
#define STEMMA_TYPES_POLYNOMIAL_HPP

#include <stemma/config.hpp>
#include <stemma/core/detail/range.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A polynomial in symbols with 64-bit coefficients: numbers of elements, bytes or operations with
/// symbolic extents. Exact or unknown: overflow is unknown, and so is everything computed from it.
class polynomial {
public:
    using symbol = std::uint32_t; ///< the user knows its meaning

    /// A product of symbols, ascending, repeated by power.
    struct term {
        std::vector<symbol> symbols; ///< none for a constant
        std::int64_t factor = 0;     ///< not 0

        bool operator==(const term&) const = default;
    };

    /// Zero.
    polynomial() = default;

    /// A constant.
    polynomial(std::int64_t constant) { // NOLINT(google-explicit-constructor): it is one
        if (constant != 0) {
            terms_.push_back({{}, constant});
        }
    }

    /// Returns: a symbol.
    [[nodiscard]] static polynomial of(symbol name) {
        polynomial result;
        result.terms_.push_back({{name}, 1});
        return result;
    }

    /// Returns: unknown.
    [[nodiscard]] static polynomial unknown() {
        polynomial result;
        result.known_ = false;
        return result;
    }

    /// Whether it is known.
    [[nodiscard]] bool is_known() const noexcept { return known_; }
    /// Whether it is known to be 0.
    [[nodiscard]] bool is_zero() const noexcept { return known_ && terms_.empty(); }

    /// Returns: its value if it has no symbols.
    [[nodiscard]] std::optional<std::int64_t> constant() const noexcept {
        if (!known_ || terms_.size() > 1 || (terms_.size() == 1 && !terms_[0].symbols.empty())) {
            return std::nullopt;
        }
        return terms_.empty() ? 0 : terms_[0].factor;
    }

    /// In the order of their symbols; the constant comes first.
    [[nodiscard]] std::span<const term> terms() const noexcept { return terms_; }

    /// Adds, subtracts and multiplies exactly. Complexity: O(terms).
    polynomial& operator+=(const polynomial& other) { return add(other, 1); }
    /// As `+=`.
    polynomial& operator-=(const polynomial& other) { return add(other, -1); }

    /// Complexity: O(product of the numbers of terms).
    polynomial& operator*=(const polynomial& other) { return *this = *this * other; }

    /// As `+=`.
    [[nodiscard]] friend polynomial operator+(polynomial a, const polynomial& b) { return a += b; }
    /// As `+=`.
    [[nodiscard]] friend polynomial operator-(polynomial a, const polynomial& b) { return a -= b; }
    /// Complexity: O(product of the numbers of terms).
    [[nodiscard]] friend polynomial operator*(const polynomial& a, const polynomial& b) {
        polynomial result;
        result.known_ = a.known_ && b.known_;
        for (const auto& x : a.terms_) {
            for (const auto& y : b.terms_) {
                result.add_term(product(x, y, result.known_));
            }
        }
        return result.checked();
    }

    /// Whether all terms are the same; unknown equals unknown.
    bool operator==(const polynomial&) const = default;

    /// Returns: the quotient, if this is a multiple of `divisor`.
    /// Complexity: O(terms of the result times those of the divisor).
    [[nodiscard]] std::optional<polynomial> divided_by(const polynomial& divisor) const {
        if (!known_ || !divisor.known_ || divisor.terms_.empty()) {
            return std::nullopt;
        }
        polynomial rest = *this;
        polynomial result;
        const auto& lead = divisor.terms_.back();
        while (!rest.terms_.empty()) {
            const auto& from = rest.terms_.back();
            term part;
            if (!std::includes(from.symbols.begin(), from.symbols.end(), lead.symbols.begin(),
                               lead.symbols.end()) ||
                !divides(lead.factor, from.factor)) {
                return std::nullopt;
            }
            std::set_difference(from.symbols.begin(), from.symbols.end(), lead.symbols.begin(),
                                lead.symbols.end(), std::back_inserter(part.symbols));
            part.factor = from.factor / lead.factor;
            polynomial step;
            step.terms_.push_back(std::move(part));
            result += step;
            const auto before = rest.terms_.size();
            const auto top = rest.terms_.back();
            rest -= step * divisor;
            if (!rest.known_ || !result.known_ || result.terms_.size() > max_terms ||
                (rest.terms_.size() >= before && !rest.terms_.empty() &&
                 !less(rest.terms_.back(), top))) {
                return std::nullopt;
            }
        }
        return result;
    }

    /// Returns: its value for values `value_of(symbol)`; nothing if one of these is unknown or the
    /// result overflows. Complexity: O(length).
    template <class Values>
    [[nodiscard]] std::optional<std::int64_t> evaluate(Values value_of) const {
        if (!known_) {
            return std::nullopt;
        }
        std::int64_t sum = 0;
        for (const auto& part : terms_) {
            auto value = part.factor;
            for (auto name : part.symbols) {
                const std::optional<std::int64_t> number = value_of(name);
                if (!number || __builtin_mul_overflow(value, *number, &value)) {
                    return std::nullopt;
                }
            }
            if (__builtin_add_overflow(sum, value, &sum)) {
                return std::nullopt;
            }
        }
        return sum;
    }

    /// Returns: its approximate value, for values of the symbols. Complexity: O(length).
    template <class Values>
    [[nodiscard]] double estimate(Values value_of) const {
        double sum = 0;
        for (const auto& part : terms_) {
            auto value = static_cast<double>(part.factor);
            for (auto name : part.symbols) {
                value *= static_cast<double>(value_of(name));
            }
            sum += value;
        }
        return sum;
    }

    /// Returns: its text, highest powers first: `12*batch*sequence^2 + 5`; `?` if unknown.
    /// `name_of(symbol)` and `number(factor)` write the parts; names that are expressions
    /// themselves are enclosed in parentheses. Complexity: O(length).
    template <class Names, class Numbers>
    [[nodiscard]] std::string text(Names name_of, Numbers number) const {
        if (!known_) {
            return "?";
        }
        if (terms_.empty()) {
            return number(std::int64_t{0});
        }
        std::string result;
        std::vector<const term*> order;
        for (const auto& part : terms_) {
            order.push_back(&part);
        }
        detail::range::stable_sort(order, [](const term* a, const term* b) {
            return a->symbols.size() > b->symbols.size();
        });
        for (const auto* part : order) {
            const bool minus = part->factor < 0;
            result.append(result.empty() ? (minus ? "-" : "") : (minus ? " - " : " + "));
            const auto size = minus && part->factor != std::numeric_limits<std::int64_t>::min()
                                  ? -part->factor
                                  : part->factor;
            if (size != 1 || part->symbols.empty()) {
                result.append(number(size));
            }
            const bool alone = terms_.size() == 1 && part->factor == 1 && part->symbols.size() == 1;
            append_symbols(part->symbols, name_of, alone, result);
        }
        return result;
    }

    /// The same with integers.
    template <class Names>
    [[nodiscard]] std::string text(Names name_of) const {
        return text(name_of, [](std::int64_t number) { return std::to_string(number); });
    }

    /// Whether a name is an expression; arguments of a function call do not count.
    /// Complexity: O(length).
    [[nodiscard]] static bool has_operators(std::string_view name) noexcept {
        std::size_t depth = 0;
        for (const char c : name) {
            depth += c == '(' ? 1U : 0U;
            depth -= c == ')' && depth > 0 ? 1U : 0U;
            if (depth == 0 && std::string_view(" +-*/^%").find(c) != std::string_view::npos) {
                return true;
            }
        }
        return false;
    }

private:
    // More than any model has; bounds hostile ones.
    static constexpr std::size_t max_terms = 256;
    static constexpr std::size_t max_degree = 32;

    [[nodiscard]] static bool less(const term& a, const term& b) noexcept {
        return a.symbols.size() != b.symbols.size() ? a.symbols.size() < b.symbols.size()
                                                    : a.symbols < b.symbols;
    }

    [[nodiscard]] static bool divides(std::int64_t divisor, std::int64_t number) noexcept {
        return divisor == -1 ? number != std::numeric_limits<std::int64_t>::min()
                             : number % divisor == 0;
    }

    [[nodiscard]] static term product(const term& a, const term& b, bool& fits) {
        term result;
        std::merge(a.symbols.begin(), a.symbols.end(), b.symbols.begin(), b.symbols.end(),
                   std::back_inserter(result.symbols));
        fits = fits && !__builtin_mul_overflow(a.factor, b.factor, &result.factor) &&
               result.symbols.size() <= max_degree;
        return result;
    }

    template <class Names>
    static void append_symbols(const std::vector<symbol>& symbols, Names name_of, bool alone,
                               std::string& text) {
        for (std::size_t i = 0, end = 0; i < symbols.size(); i = end) {
            end = i + 1;
            while (end < symbols.size() && symbols[end] == symbols[i]) {
                ++end;
            }
            const bool first = text.empty() || text.back() == ' ' || text == "-";
            const std::string name(name_of(symbols[i]));
            const bool enclosed = !alone && has_operators(name);
            text.append(first ? "" : "*").append(enclosed ? "(" + name + ")" : name);
            if (end - i > 1) {
                text.append("^").append(std::to_string(end - i));
            }
        }
    }

    void add_term(term more) {
        const auto at = std::lower_bound(terms_.begin(), terms_.end(), more, less);
        if (at == terms_.end() || at->symbols != more.symbols) {
            if (more.factor != 0) {
                terms_.insert(at, std::move(more));
            }
            return;
        }
        known_ = known_ && !__builtin_add_overflow(at->factor, more.factor, &at->factor);
        if (at->factor == 0) {
            terms_.erase(at);
        }
    }

    polynomial& add(const polynomial& other, std::int64_t sign) {
        if (&other == this) {
            return add(polynomial(other), sign);
        }
        known_ = known_ && other.known_;
        for (const auto& part : other.terms_) {
            auto more = part;
            known_ = known_ && !__builtin_mul_overflow(more.factor, sign, &more.factor);
            add_term(std::move(more));
        }
        return checked();
    }

    polynomial& checked() {
        known_ = known_ && terms_.size() <= max_terms;
        if (!known_) {
            terms_.clear();
        }
        return *this;
    }

    std::vector<term> terms_; // by length, then by symbols; none of factor 0
    bool known_ = true;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TYPES_POLYNOMIAL_HPP
