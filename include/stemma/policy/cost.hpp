// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_POLICY_COST_HPP
#define STEMMA_POLICY_COST_HPP

#include <stemma/policy/category.hpp>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma {

/// What an operator adds to the part it is in.
struct operator_load {
    std::uint64_t operators = 1;     ///< itself, and what is in its bodies
    std::uint64_t parameters = 0;    ///< elements of parameters that no operator before it reads
    std::uint64_t weight_bytes = 0;  ///< bytes of initializers that no operator before it reads
    std::uint64_t message_bytes = 0; ///< bytes that describe it
};

namespace detail {

template <class P>
concept has_cost = requires(const P& p, const operator_load& load) {
    { p.cost(load) } -> std::convertible_to<std::uint64_t>;
};

} // namespace detail

/// Says what an operator costs, so that parts of a model can be made alike.
///
/// `cost(load)` returns it in units of the policy's own.
///
/// Requires: the costs of all operators of a model have a sum below 2^63.
template <class P>
concept cost_policy = policy_for<P, cost_category> && detail::has_cost<P>;

/// What a part weighs on disk.
struct cost_in_bytes {
    using policy_category = cost_category;
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.weight_bytes + load.message_bytes;
    }
};

/// How many parameters a part holds.
struct cost_in_parameters {
    using policy_category = cost_category;
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.parameters;
    }
};

/// How many operators a part holds.
struct cost_in_operators {
    using policy_category = cost_category;
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.operators;
    }
};

/// A cost chosen while the program runs.
class named_cost {
public:
    using policy_category = cost_category;

    /// Returns: `bytes`, `parameters` or `operators`.
    [[nodiscard]] static constexpr std::optional<named_cost> parse(std::string_view name) noexcept {
        return name == "bytes"        ? std::optional(named_cost(kind::bytes))
               : name == "parameters" ? std::optional(named_cost(kind::parameters))
               : name == "operators"  ? std::optional(named_cost(kind::operators))
                                      : std::nullopt;
    }

    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        switch (kind_) {
        case kind::parameters:
            return cost_in_parameters().cost(load);
        case kind::operators:
            return cost_in_operators().cost(load);
        case kind::bytes:
            break;
        }
        return cost_in_bytes().cost(load);
    }

private:
    enum class kind : std::uint8_t { bytes, parameters, operators };

    explicit constexpr named_cost(kind what) noexcept : kind_(what) {}

    kind kind_;
};

/// Put `static_assert(explain_cost_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_cost_policy() {
    static_assert(std::copyable<P>, "cost policy: make the class copyable");
    static_assert(policy_for<P, cost_category>,
                  "cost policy: add `using policy_category = stemma::cost_category;`");
    static_assert(detail::has_cost<P>,
                  "cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`");
    return cost_policy<P>;
}

} // namespace stemma

#endif // STEMMA_POLICY_COST_HPP
