// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_COST_HPP
#define STEMMA_MODEL_COST_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/detail/held_policy.hpp>
#include <stemma/core/detail/policy_name.hpp>
#include <stemma/core/id.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// A value that an operator reads or makes, as far as it is known.
struct load_value {
    std::string_view name{};         ///< "" of an input that is left out
    std::string_view element_type{}; ///< as PyTorch prints it, `float32`; "" where unknown
    std::optional<std::vector<std::int64_t>> shape{}; ///< -1 for an unknown extent
    bool is_weight = false;                           ///< stored in the file

    /// Returns: how many elements it has; nothing where some extent is unknown.
    /// Complexity: O(rank).
    [[nodiscard]] std::optional<std::uint64_t> elements() const {
        std::uint64_t product = 1;
        for (auto extent : shape.value_or(std::vector<std::int64_t>{-1})) {
            if (extent < 0) {
                return std::nullopt;
            }
            product *= static_cast<std::uint64_t>(extent);
        }
        return product;
    }
};

/// What an operator does when a model runs once, with all that runs inside of it.
struct operator_work {
    std::uint64_t macs = 0;        ///< multiplications whose results are added up
    std::uint64_t flops = 0;       ///< two for each of these, and all other operations
    std::uint64_t activations = 0; ///< bytes of the values that it makes
};

/// What a cost policy may ask of operators beside their loads. It is read when it is asked for, and
/// what it answers is valid as long as the reader. By one thread at a time.
class load_reader {
public:
    virtual ~load_reader() = default;

    /// Returns: the operator of a node, and its domain; "" is the standard one.
    [[nodiscard]] virtual std::string_view op_type(id node) const = 0;
    /// Returns: "" for the standard domain.
    [[nodiscard]] virtual std::string_view domain(id node) const = 0;

    /// Returns: the name of a node, possibly "".
    [[nodiscard]] virtual std::string_view name(id node) const = 0;

    /// Returns: the module it came from, and the path of that; `no_id` and "" where unknown.
    [[nodiscard]] virtual id module(id node) const = 0;
    /// Returns: the path of the deepest module.
    [[nodiscard]] virtual std::string module_path(id node) const = 0;

    /// Returns: what it reads and makes, by position.
    [[nodiscard]] virtual std::vector<load_value> inputs(id node) const = 0;
    /// Returns: the values that it makes, by slot.
    [[nodiscard]] virtual std::vector<load_value> outputs(id node) const = 0;

    /// Returns: an attribute, where the node has one of that name and type.
    [[nodiscard]] virtual std::optional<std::int64_t> whole(id node,
                                                            std::string_view name) const = 0;
    [[nodiscard]] virtual std::optional<std::vector<std::int64_t>>
    /// Returns: a list of whole numbers, if the operator has such an attribute.
    wholes(id node, std::string_view name) const = 0;
    /// Returns: a real number, if the operator has such an attribute.
    [[nodiscard]] virtual std::optional<float> real(id node, std::string_view name) const = 0;
    /// Returns: a text, if the operator has such an attribute.
    [[nodiscard]] virtual std::string_view text(id node, std::string_view name) const = 0;

    /// Returns: the nodes that run when it does: directly in its bodies, or in a function it calls.
    [[nodiscard]] virtual std::vector<id> inside(id node) const = 0;

    /// Returns: what it does; nothing where that is unknown.
    [[nodiscard]] virtual operator_work work(id) const { return {}; }
};

/// What an operator adds to the part it is in.
struct operator_load {
    std::uint64_t operators = 1;     ///< itself, and what is in its bodies
    std::uint64_t parameters = 0;    ///< elements of parameters that no operator before it reads
    std::uint64_t weight_bytes = 0;  ///< bytes of initializers that no operator before it reads
    std::uint64_t message_bytes = 0; ///< bytes that describe it
    id node = no_id;                 ///< which one it is, for `details`
    const load_reader* details = nullptr; ///< null where there is none to ask

    /// Returns: the operator; "" where there is nobody to ask, as for all below.
    [[nodiscard]] std::string_view op_type() const {
        return details == nullptr ? std::string_view() : details->op_type(node);
    }
    /// Returns: the path of the module it came from.
    [[nodiscard]] std::string module_path() const {
        return details == nullptr ? std::string() : details->module_path(node);
    }
    /// Returns: what it reads, by position; weights are among it.
    [[nodiscard]] std::vector<load_value> inputs() const {
        return details == nullptr ? std::vector<load_value>() : details->inputs(node);
    }
    /// Returns: what it makes, by position.
    [[nodiscard]] std::vector<load_value> outputs() const {
        return details == nullptr ? std::vector<load_value>() : details->outputs(node);
    }
    /// Returns: what it does when the model runs.
    [[nodiscard]] operator_work work() const {
        return details == nullptr ? operator_work() : details->work(node);
    }
    /// Returns: an attribute of type INT; nothing where there is none.
    [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const {
        return details == nullptr ? std::nullopt : details->whole(node, name);
    }
    /// Returns: an attribute of type INTS; nothing where there is none.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(std::string_view name) const {
        return details == nullptr ? std::nullopt : details->wholes(node, name);
    }
};

namespace detail {

template <class P>
concept has_cost = requires(const P& p, const operator_load& load) {
    { p.cost(load) } -> std::convertible_to<std::uint64_t>;
};

} // namespace detail

/// Says what an operator costs, so that parts of a model can be made alike.
///
/// `cost(load)` returns it in units of the policy's own, by what the load counts and what it tells
/// of operator, attributes, types, shapes, weights and module.
///
/// Requires: the costs of all operators of a model have a sum below 2^63.
template <class P>
concept cost_policy = policy_for<P, cost_category> && detail::has_cost<P>;

namespace detail {

/// A cost policy, or a function as its `cost`.
template <class P>
concept costing = cost_policy<P> || answering<P, std::uint64_t, const operator_load&>;

template <class P>
[[nodiscard]] std::uint64_t cost(const P& chosen, const operator_load& load) {
    if constexpr (policy<P>) {
        return chosen.cost(load);
    } else {
        return chosen(load);
    }
}

} // namespace detail

/// What a part weighs on disk.
struct cost_in_bytes {
    using policy_category = cost_category;
    static constexpr std::string_view name = "bytes";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.weight_bytes + load.message_bytes;
    }
};

/// How many parameters a part holds.
struct cost_in_parameters {
    using policy_category = cost_category;
    static constexpr std::string_view name = "parameters";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.parameters;
    }
};

/// How many operators a part holds.
struct cost_in_operators {
    using policy_category = cost_category;
    static constexpr std::string_view name = "operators";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.operators;
    }
};

/// How many multiplications a part computes whose results are added up.
struct cost_in_macs {
    using policy_category = cost_category;
    static constexpr std::string_view name = "macs";
    [[nodiscard]] std::uint64_t cost(const operator_load& load) const { return load.work().macs; }
};

/// How many operations a part computes, two for each of these.
struct cost_in_flops {
    using policy_category = cost_category;
    static constexpr std::string_view name = "flops";
    [[nodiscard]] std::uint64_t cost(const operator_load& load) const { return load.work().flops; }
};

/// How many bytes of values the operators of a part make.
struct cost_in_activations {
    using policy_category = cost_category;
    static constexpr std::string_view name = "activations";
    [[nodiscard]] std::uint64_t cost(const operator_load& load) const {
        return load.work().activations;
    }
};

/// Any cost policy.
class any_cost : public detail::held_name {
public:
    using policy_category = cost_category;

    /// Acts as `cost_in_bytes`.
    any_cost() = default;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(detail::other_than<P, any_cost>&& cost_policy<P>)
    any_cost(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , cost_([chosen = std::move(chosen)](const operator_load& load) -> std::uint64_t {
            return chosen.cost(load);
        }) {}

    /// Costs are what `cost(load)` says.
    template <detail::held_function<any_cost, std::uint64_t, const operator_load&> F>
    any_cost(F cost) // NOLINT(google-explicit-constructor): as above
        : held_name(""), cost_(std::move(cost)) {}

    [[nodiscard]] std::uint64_t cost(const operator_load& load) const {
        return cost_ ? cost_(load) : cost_in_bytes{}.cost(load);
    }

private:
    std::function<std::uint64_t(const operator_load&)> cost_;
};

/// Put `static_assert(explain_cost_policy<mine>());` beside a policy that is refused.
template <class P>
consteval bool explain_cost_policy() {
    static_assert(std::copy_constructible<P>, "cost policy: make the class copyable");
    static_assert(detail::declares<P, cost_category>,
                  "cost policy: add `using policy_category = stemma::cost_category;`");
    static_assert(detail::has_cost<P>,
                  "cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`");
    return cost_policy<P>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_COST_HPP
