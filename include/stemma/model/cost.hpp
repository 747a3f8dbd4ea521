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

/// A value that an operator reads or produces, as far as it is known.
struct load_value {
    std::string_view name{};         ///< "" for an omitted input
    std::string_view element_type{}; ///< as PyTorch prints it, `float32`; "" where unknown
    std::optional<std::vector<std::int64_t>> shape{}; ///< -1 for an unknown extent
    bool is_weight = false;                           ///< stored in the file

    /// Returns: the number of elements; nothing if some extent is unknown.
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

/// The work of an operator in one run of the model, including everything nested in it.
struct operator_work {
    std::uint64_t macs = 0;        ///< multiply-accumulates
    std::uint64_t flops = 0;       ///< two per multiply-accumulate, plus all other operations
    std::uint64_t activations = 0; ///< bytes of the values it produces
};

/// Details of operators for cost policies, computed on demand; results are valid as long as the
/// reader. Not thread-safe.
class load_reader {
public:
    virtual ~load_reader() = default;

    /// Returns: the operator type of a node.
    [[nodiscard]] virtual std::string_view op_type(id node) const = 0;
    /// Returns: "" for the standard domain.
    [[nodiscard]] virtual std::string_view domain(id node) const = 0;

    /// Returns: the name of a node, possibly "".
    [[nodiscard]] virtual std::string_view name(id node) const = 0;

    /// Returns: the module it came from; `no_id` if unknown.
    [[nodiscard]] virtual id module(id node) const = 0;
    /// Returns: the path of that module; "" if unknown.
    [[nodiscard]] virtual std::string module_path(id node) const = 0;

    /// Returns: the values it reads, by position.
    [[nodiscard]] virtual std::vector<load_value> inputs(id node) const = 0;
    /// Returns: the values it produces, by slot.
    [[nodiscard]] virtual std::vector<load_value> outputs(id node) const = 0;

    /// Returns: an INT attribute, if the node has it.
    [[nodiscard]] virtual std::optional<std::int64_t> whole(id node,
                                                            std::string_view name) const = 0;
    [[nodiscard]] virtual std::optional<std::vector<std::int64_t>>
    /// Returns: an INTS attribute, if the node has it.
    wholes(id node, std::string_view name) const = 0;
    /// Returns: a FLOAT attribute, if the node has it.
    [[nodiscard]] virtual std::optional<float> real(id node, std::string_view name) const = 0;
    /// Returns: a STRING attribute; "" if the node does not have it.
    [[nodiscard]] virtual std::string_view text(id node, std::string_view name) const = 0;

    /// Returns: the nodes that run within it: those directly in its bodies, or in a function it
    /// calls.
    [[nodiscard]] virtual std::vector<id> inside(id node) const = 0;

    /// Returns: its work; zero if unknown.
    [[nodiscard]] virtual operator_work work(id) const { return {}; }
};

/// What an operator adds to the cost of its part.
struct operator_load {
    std::uint64_t operators = 1;          ///< itself and those in its bodies
    std::uint64_t parameters = 0;         ///< elements of parameters read by no earlier operator
    std::uint64_t weight_bytes = 0;       ///< bytes of initializers read by no earlier operator
    std::uint64_t message_bytes = 0;      ///< bytes of its message
    id node = no_id;                      ///< its node, for `details`
    const load_reader* details = nullptr; ///< possibly null

    /// Returns: the operator type; "" without `details`, as for everything below.
    [[nodiscard]] std::string_view op_type() const {
        return details == nullptr ? std::string_view() : details->op_type(node);
    }
    /// Returns: the path of the module it came from.
    [[nodiscard]] std::string module_path() const {
        return details == nullptr ? std::string() : details->module_path(node);
    }
    /// Returns: the values it reads, by position, weights included.
    [[nodiscard]] std::vector<load_value> inputs() const {
        return details == nullptr ? std::vector<load_value>() : details->inputs(node);
    }
    /// Returns: the values it produces, by position.
    [[nodiscard]] std::vector<load_value> outputs() const {
        return details == nullptr ? std::vector<load_value>() : details->outputs(node);
    }
    /// Returns: its work in one run of the model.
    [[nodiscard]] operator_work work() const {
        return details == nullptr ? operator_work() : details->work(node);
    }
    /// Returns: an INT attribute, if there is one.
    [[nodiscard]] std::optional<std::int64_t> whole(std::string_view name) const {
        return details == nullptr ? std::nullopt : details->whole(node, name);
    }
    /// Returns: an INTS attribute, if there is one.
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

/// Computes what an operator costs, so that parts of a model can be balanced.
///
/// `cost(load)` returns it in the policy's own units, from the counts in the load and from its
/// operator, attributes, types, shapes, weights and module.
///
/// Requires: the costs of all operators of a model add up to less than 2^63.
template <class P>
concept cost_policy = detail::policy_for<P, cost_category> && detail::has_cost<P>;

namespace detail {

/// A cost policy, or a function that serves as its `cost`.
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

/// The size of a part on disk.
struct cost_in_bytes {
    using policy_category = cost_category;
    static constexpr std::string_view name = "bytes";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.weight_bytes + load.message_bytes;
    }
};

/// The number of parameters of a part.
struct cost_in_parameters {
    using policy_category = cost_category;
    static constexpr std::string_view name = "parameters";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.parameters;
    }
};

/// The number of operators of a part.
struct cost_in_operators {
    using policy_category = cost_category;
    static constexpr std::string_view name = "operators";
    [[nodiscard]] constexpr std::uint64_t cost(const operator_load& load) const noexcept {
        return load.operators;
    }
};

/// The number of multiply-accumulates in a part.
struct cost_in_macs {
    using policy_category = cost_category;
    static constexpr std::string_view name = "macs";
    [[nodiscard]] std::uint64_t cost(const operator_load& load) const { return load.work().macs; }
};

/// The number of floating-point operations in a part, two per multiply-accumulate.
struct cost_in_flops {
    using policy_category = cost_category;
    static constexpr std::string_view name = "flops";
    [[nodiscard]] std::uint64_t cost(const operator_load& load) const { return load.work().flops; }
};

/// The number of bytes of values that the operators of a part produce.
struct cost_in_activations {
    using policy_category = cost_category;
    static constexpr std::string_view name = "activations";
    [[nodiscard]] std::uint64_t cost(const operator_load& load) const {
        return load.work().activations;
    }
};

/// Put `static_assert(explain_policy<cost_category, mine>());` next to a policy that is rejected.
template <std::same_as<cost_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "cost policy: make the class copyable");
    static_assert(detail::declares<P, cost_category>,
                  "cost policy: add `using policy_category = stemma::cost_category;`");
    static_assert(detail::has_cost<P>,
                  "cost policy: add `std::uint64_t cost(const stemma::operator_load&) const`");
    return cost_policy<P>;
}

/// Any cost policy.
template <>
class any_policy<cost_category> : public detail::held_name {
public:
    using policy_category = cost_category;

    /// Acts as `cost_in_bytes`.
    any_policy() = default;

    /// Holds a copy of `chosen`.
    template <class P>
        requires(detail::other_than<P, any_policy>&& cost_policy<P>)
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , cost_([chosen = std::move(chosen)](const operator_load& load) -> std::uint64_t {
            return chosen.cost(load);
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!cost_policy<P>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<cost_category, P>());
    }

    /// Uses `cost(load)`.
    template <detail::held_function<any_policy, std::uint64_t, const operator_load&> F>
    any_policy(F cost) // NOLINT(google-explicit-constructor): as above
        : held_name(""), cost_(std::move(cost)) {}

    [[nodiscard]] std::uint64_t cost(const operator_load& load) const {
        return cost_ ? cost_(load) : cost_in_bytes{}.cost(load);
    }

private:
    std::function<std::uint64_t(const operator_load&)> cost_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_MODEL_COST_HPP
