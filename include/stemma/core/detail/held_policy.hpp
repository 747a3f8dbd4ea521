// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_CORE_DETAIL_HELD_POLICY_HPP
#define STEMMA_CORE_DETAIL_HELD_POLICY_HPP

#include <stemma/core/category.hpp>

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

// Common parts of the types that hold any policy of a role.
namespace stemma::inline STEMMA_ABI::detail {

/// Keeps a converting constructor from hijacking copies.
template <class P, class Any>
concept other_than = !std::same_as<std::remove_cvref_t<P>, Any>;

/// A policy of whatever role, perhaps incomplete.
template <class P, class Any>
concept attempted_policy = other_than<P, Any> && requires {
    typename P::policy_category;
};

/// A function that answers the one question of a role, in place of a policy.
template <class F, class Any, class Result, class... Arguments>
concept held_function = other_than<F, Any> && answering<F, Result, Arguments...>;

/// What is stored about a policy besides its behaviour.
class held_name {
public:
    held_name() = default;
    explicit held_name(std::string name) : name_(std::move(name)), chosen_(true) {}

    /// The policy's own name, or the one it was registered under; "" if neither.
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Whether it holds a policy; otherwise it acts as the default.
    [[nodiscard]] bool is_chosen() const noexcept { return chosen_; }

    /// Sets the name that records use.
    void set_name(std::string name) { name_ = std::move(name); }

private:
    std::string name_;
    bool chosen_ = false;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_CORE_DETAIL_HELD_POLICY_HPP
