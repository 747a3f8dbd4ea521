// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TYPES_DETAIL_EXTENT_ALGEBRA_HPP
#define STEMMA_TYPES_DETAIL_EXTENT_ALGEBRA_HPP

#include <stemma/core/detail/range.hpp>
#include <stemma/core/detail/string_pool.hpp>
#include <stemma/core/id.hpp>
#include <stemma/types/detail/tensor_facts.hpp>
#include <stemma/types/polynomial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stemma::inline STEMMA_ABI::detail {

/// Arithmetic on extents, some of them named. A symbol of a polynomial is the number of a name in
/// the pool; a rounded quotient and a minimum are separate symbols.
class extent_algebra {
public:
    /// With `assumes`, it goes on as if a run found what a usual one does: differing names that
    /// broadcast are equal, and nothing is shorter than what is cut off. Requires: `names` outlives
    /// this.
    explicit extent_algebra(string_pool& names, bool assumes = false)
        : names_(names), assumes_(assumes) {}

    /// Whether extents need not hold in every run.
    [[nodiscard]] bool assumes() const noexcept { return assumes_; }

    /// Returns: the extent with a name.
    [[nodiscard]] std::int64_t named(std::string_view name) {
        return -2 - static_cast<std::int64_t>(names_.intern(name));
    }

    /// Returns: an extent as a polynomial, unknown if it is. Complexity: O(length).
    [[nodiscard]] polynomial value(std::int64_t extent) const {
        return extent >= 0                 ? polynomial(extent)
               : extent == any_extent      ? polynomial::unknown()
               : extent > computed_extents ? polynomial::of(static_cast<id>(-2 - extent))
                                           : computed_[at(extent)];
    }

    /// Returns: a polynomial as an extent; unknown if negative.
    /// Complexity: O(log extents computed so far).
    [[nodiscard]] std::int64_t extent(const polynomial& value) {
        if (!value.is_known()) {
            return any_extent;
        }
        if (const auto constant = value.constant()) {
            return std::max(*constant, any_extent);
        }
        const auto terms = value.terms();
        if (terms.size() == 1 && terms[0].factor == 1 && terms[0].symbols.size() == 1) {
            return -2 - static_cast<std::int64_t>(terms[0].symbols[0]);
        }
        if (computed_.size() >= most) {
            return any_extent;
        }
        const auto entry = numbers_.try_emplace(value.text(number_text), computed_.size());
        if (entry.second) {
            computed_.push_back(value);
        }
        return computed_extents - static_cast<std::int64_t>(entry.first->second);
    }

    /// Returns: as `extent`, where a negative number would mean 0: unknown if it may be negative,
    /// unless that is assumed not to happen.
    [[nodiscard]] std::int64_t length(const polynomial& value) {
        return assumes_ || is_natural(value) ? extent(value) : any_extent;
    }

    [[nodiscard]] std::int64_t add(std::int64_t a, std::int64_t b) {
        return a >= 0 && b >= 0 ? add_extents(a, b) : extent(value(a) + value(b));
    }
    [[nodiscard]] std::int64_t subtract(std::int64_t a, std::int64_t b) {
        return extent(value(a) - value(b));
    }
    [[nodiscard]] std::int64_t multiply(std::int64_t a, std::int64_t b) {
        return a >= 0 && b >= 0 ? multiply_extents(a, b) : extent(value(a) * value(b));
    }

    /// Returns: the quotient, rounded down; unknown unless the divisor is a number or a factor.
    [[nodiscard]] std::int64_t divide(std::int64_t a, std::int64_t b) {
        if (a >= 0 && b > 0) {
            return a / b;
        }
        if (b == any_extent || b == 0) {
            return any_extent;
        }
        if (const auto exact = value(a).divided_by(value(b))) {
            return extent(*exact);
        }
        return b > 0 ? extent(divide(value(a), b)) : any_extent;
    }

    /// Returns: a polynomial divided by a number, rounded down.
    /// Requires: `divisor > 0`.
    [[nodiscard]] polynomial divide(const polynomial& dividend, std::int64_t divisor) {
        if (!dividend.is_known()) {
            return dividend;
        }
        polynomial whole;
        polynomial rest;
        for (const auto& part : dividend.terms()) {
            polynomial product(1);
            for (auto name : part.symbols) {
                product *= polynomial::of(name);
            }
            // Rounded towards minus infinity, so that the remainder of a constant is not negative.
            const auto quotient =
                part.factor / divisor - (part.factor % divisor < 0 && part.symbols.empty() ? 1 : 0);
            const bool divides = part.factor % divisor == 0 || part.symbols.empty();
            whole += divides ? product * quotient : polynomial();
            rest += product * (divides ? part.factor - quotient * divisor : part.factor);
        }
        if (!rest.is_known() || rest.constant()) {
            return rest.constant() ? whole : polynomial::unknown();
        }
        const auto name = symbol({std::move(rest), divisor, true});
        return name == no_id ? polynomial::unknown() : whole + polynomial::of(name);
    }

    /// Returns: the smaller of a polynomial and a number.
    [[nodiscard]] polynomial least(const polynomial& value, std::int64_t number) {
        if (!value.is_known() || value.constant()) {
            return value.is_known() ? polynomial(std::min(*value.constant(), number)) : value;
        }
        const auto name = symbol({value, number, false});
        return name == no_id ? polynomial::unknown() : polynomial::of(name);
    }

    /// Returns: the product of extents.
    [[nodiscard]] polynomial product(const extents& dims) const {
        polynomial result(1);
        for (auto extent : dims) {
            result *= value(extent);
        }
        return result;
    }

    /// As `detail::broadcast`; if it assumes, also of names that differ.
    [[nodiscard]] std::optional<extents> broadcast(const std::optional<extents>& a,
                                                   const std::optional<extents>& b) const {
        auto result = detail::broadcast(a, b);
        for (std::size_t i = 0; assumes_ && result && i < result->size(); ++i) {
            auto& extent = (*result)[result->size() - 1 - i];
            const bool both = i < a->size() && i < b->size();
            if (extent == any_extent && both) {
                const auto x = (*a)[a->size() - 1 - i];
                const auto y = (*b)[b->size() - 1 - i];
                extent = x == any_extent || y == any_extent ? any_extent : std::max(x, y);
            }
        }
        return result;
    }

    /// Returns: the value of a symbol, given values `bound(name)` of names, if these suffice.
    /// Complexity: O(length of nested symbols).
    template <class Bound>
    [[nodiscard]] std::optional<std::int64_t> value_of(id symbol, Bound bound) const {
        const auto entry = operations_.find(symbol);
        if (entry == operations_.end()) {
            return bound(names_[symbol]);
        }
        const auto& [of, number, is_quotient] = entry->second;
        const auto value = of.evaluate([&](id inner) { return value_of(inner, bound); });
        return !value        ? std::nullopt
               : is_quotient ? std::optional((*value >= 0 ? *value : *value - number + 1) / number)
                             : std::optional(std::min(*value, number));
    }

    /// Calls `f(symbol)` for the named extents that the value of a symbol depends on.
    /// Complexity: O(length of nested symbols).
    template <class Function>
    void for_each_name_in(id symbol, Function f) const {
        const auto entry = operations_.find(symbol);
        if (entry == operations_.end()) {
            f(symbol);
            return;
        }
        for (const auto& part : entry->second.of.terms()) {
            for (auto inner : part.symbols) {
                for_each_name_in(inner, f);
            }
        }
    }

    [[nodiscard]] const string_pool& names() const noexcept { return names_; }

private:
    // More than any model has; bounds hostile ones.
    static constexpr std::size_t most = std::size_t{1} << 20U;
    static constexpr std::size_t max_text = 400;

    /// What a symbol stands for: a quotient, rounded down, or a minimum.
    struct operation {
        polynomial of;
        std::int64_t number = 0; // the divisor, or the other operand
        bool is_quotient = false;
    };

    /// Whether no extents make it negative.
    [[nodiscard]] bool is_natural(const polynomial& value) const {
        return range::all_of(value.terms(), [&](const polynomial::term& part) {
            return part.factor >= 0 && range::all_of(part.symbols, [&](id symbol) {
                       const auto entry = operations_.find(symbol);
                       return entry == operations_.end() ||
                              (entry->second.number >= 0 && is_natural(entry->second.of));
                   });
        });
    }

    /// Returns: the symbol for an operation; `no_id` if its text would be too long, or there are
    /// too many.
    [[nodiscard]] id symbol(operation what) {
        const auto of = what.of.text([&](id name) { return std::string(names_[name]); });
        if (of.size() > max_text || names_.size() >= most) {
            return no_id;
        }
        const auto number = std::to_string(what.number);
        const auto name =
            names_.intern(what.is_quotient ? "floor(" + enclosed(of) + "/" + number + ")"
                                           : "min(" + of + ", " + number + ")");
        operations_.try_emplace(name, std::move(what));
        return name;
    }

    /// Returns: an expression in parentheses; a name or a call without them.
    [[nodiscard]] static std::string enclosed(const std::string& text) {
        return polynomial::has_operators(text) ? "(" + text + ")" : text;
    }

    [[nodiscard]] static std::size_t at(std::int64_t extent) noexcept {
        return static_cast<std::size_t>(computed_extents - extent);
    }

    [[nodiscard]] static std::string number_text(id name) { return "#" + std::to_string(name); }

    string_pool& names_;
    bool assumes_;
    std::deque<polynomial> computed_;
    std::map<std::string, std::size_t> numbers_; // by text
    std::map<id, operation> operations_;         // by symbol
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_TYPES_DETAIL_EXTENT_ALGEBRA_HPP
