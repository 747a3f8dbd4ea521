// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_POLICY_ANY_POLICY_HPP
#define STEMMA_POLICY_ANY_POLICY_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/policy/category.hpp>
#include <stemma/policy/cost.hpp>
#include <stemma/policy/diagnostics.hpp>
#include <stemma/policy/evidence.hpp>
#include <stemma/policy/naming.hpp>
#include <stemma/policy/propagation.hpp>
#include <stemma/policy/resolution.hpp>
#include <stemma/policy/selection.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

// One type for all policies of a role, over one kind of graph and tree: what a program holds that
// lets its users choose. A question costs an indirect call; what the policy does to answer it is
// compiled as one.
namespace stemma {

namespace detail {

/// Keeps a converting constructor from being taken for one that copies.
template <class P, class Any>
concept other_than = !std::same_as<std::remove_cvref_t<P>, Any>;

template <class P, class Any, class Modules>
concept held_selection = other_than<P, Any> && selection_policy<P, Modules>;
template <class P, class Any, class Modules>
concept held_naming = other_than<P, Any> && naming_policy<P, Modules>;
template <class P, class Any, class Ops, class Modules>
concept held_evidence = other_than<P, Any> && evidence_policy<P, Ops, Modules>;
template <class P, class Any>
concept held_resolution = other_than<P, Any> && resolution_policy<P>;
template <class P, class Any, class Ops>
concept held_propagation = other_than<P, Any> && propagation_policy<P, Ops>;
template <class P, class Any>
concept held_cost = other_than<P, Any> && cost_policy<P>;
template <class P, class Any>
concept held_diagnostics = other_than<P, Any> && diagnostics_policy<P>;

} // namespace detail

/// Any selection policy for `Modules`.
template <module_view Modules>
class any_selection {
public:
    using policy_category = selection_category;

    /// Holds a copy of `chosen`.
    template <detail::held_selection<any_selection, Modules> P>
    any_selection(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : selects_([chosen = std::move(chosen)](const Modules& modules, id m) -> bool {
            return chosen.selects(modules, m);
        }) {}

    [[nodiscard]] bool selects(const Modules& modules, id m) const { return selects_(modules, m); }

private:
    std::function<bool(const Modules&, id)> selects_;
};

/// Any naming policy for `Modules`.
template <module_view Modules>
class any_naming {
public:
    using policy_category = naming_category;

    /// Holds a copy of `chosen`.
    template <detail::held_naming<any_naming, Modules> P>
    any_naming(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : name_([chosen = std::move(chosen)](const Modules& modules, tag_table& tags) {
            chosen.name_modules(modules, tags);
        }) {}

    void name_modules(const Modules& modules, tag_table& tags) const { name_(modules, tags); }

private:
    std::function<void(const Modules&, tag_table&)> name_;
};

/// Any source of evidence about `Ops` and `Modules`.
template <operator_view Ops, module_view Modules>
class any_evidence {
    using take = std::function<void(const claim&)>;
    using tell = std::function<void(operator_t<Ops>, const take&)>;

public:
    using policy_category = evidence_category;

    /// Holds a copy of `source`, which prepares itself anew for every context.
    template <detail::held_evidence<any_evidence, Ops, Modules> P>
    any_evidence(P source) // NOLINT(google-explicit-constructor): it stands for the policy
        : prepare_([source = std::move(source)](evidence_context<Ops, Modules>& context) {
            return tell([made = source.prepare(context)](operator_t<Ops> v, const take& f) {
                made.for_each_claim(v, f);
            });
        }) {}

    class claims {
    public:
        template <class Function>
        void for_each_claim(operator_t<Ops> v, Function f) const {
            tell_(v, take(std::ref(f)));
        }

    private:
        friend class any_evidence;

        explicit claims(tell made) : tell_(std::move(made)) {}

        tell tell_;
    };

    [[nodiscard]] claims prepare(evidence_context<Ops, Modules>& context) const {
        return claims(prepare_(context));
    }

private:
    std::function<tell(evidence_context<Ops, Modules>&)> prepare_;
};

/// Any resolution policy.
class any_resolution {
public:
    using policy_category = resolution_category;

    /// Holds a copy of `chosen`.
    template <detail::held_resolution<any_resolution> P>
    any_resolution(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : resolve_([chosen = std::move(chosen)](const tree_index& modules,
                                                std::span<const claim> claims) -> attribution {
            return chosen.resolve(modules, claims);
        }) {}

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return resolve_(modules, claims);
    }

private:
    std::function<attribution(const tree_index&, std::span<const claim>)> resolve_;
};

/// Any propagation policy for `Ops`.
template <operator_view Ops>
class any_propagation {
public:
    using policy_category = propagation_category;

    /// Holds a copy of `chosen`; whether it spreads anything is asked here, once.
    template <detail::held_propagation<any_propagation, Ops> P>
    any_propagation(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : propagates_(detail::propagates(chosen))
        , propagate_([chosen = std::move(chosen)](const propagation_problem<Ops>& problem,
                                                  std::span<attribution> result) {
            chosen.propagate(problem, result);
        }) {}

    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        propagate_(problem, result);
    }

    [[nodiscard]] bool propagates() const noexcept { return propagates_; }

private:
    bool propagates_;
    std::function<void(const propagation_problem<Ops>&, std::span<attribution>)> propagate_;
};

/// Any cost policy.
class any_cost {
public:
    using policy_category = cost_category;

    /// Holds a copy of `chosen`.
    template <detail::held_cost<any_cost> P>
    any_cost(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : cost_([chosen = std::move(chosen)](const operator_load& load) -> std::uint64_t {
            return chosen.cost(load);
        }) {}

    [[nodiscard]] std::uint64_t cost(const operator_load& load) const { return cost_(load); }

private:
    std::function<std::uint64_t(const operator_load&)> cost_;
};

/// Any diagnostics policy.
class any_diagnostics {
public:
    using policy_category = diagnostics_category;

    /// Holds a copy of `chosen`.
    template <detail::held_diagnostics<any_diagnostics> P>
    any_diagnostics(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : judge_([chosen = std::move(chosen)](const finding& found) -> std::optional<severity> {
            return chosen.judge(found);
        }) {}

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return judge_(found);
    }

private:
    std::function<std::optional<severity>(const finding&)> judge_;
};

} // namespace stemma

#endif // STEMMA_POLICY_ANY_POLICY_HPP
