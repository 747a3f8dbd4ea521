// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_ANY_POLICY_HPP
#define STEMMA_TAGGING_ANY_POLICY_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/detail/held_policy.hpp>
#include <stemma/core/detail/policy_name.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/tagging/diagnostics.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/selection.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <utility>

// An empty one acts as the default of its role.
namespace stemma::inline STEMMA_ABI {

namespace detail {

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
concept held_diagnostics = other_than<P, Any> && diagnostics_policy<P>;

/// A policy whose `min_confidence` can be set.
template <class P>
concept has_min_confidence = requires(P& policy) {
    { policy.min_confidence } -> std::same_as<float&>;
};

} // namespace detail

/// Any selection policy for `Modules`.
template <module_view Modules>
class any_policy<selection_category, Modules> : public detail::held_name {
public:
    using policy_category = selection_category;

    /// Acts as `not_infrastructure`.
    any_policy() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_selection<any_policy, Modules> P>
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , selects_([chosen = std::move(chosen)](const Modules& modules, id m) -> bool {
            return chosen.selects(modules, m);
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!selection_policy<P, Modules>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<selection_category, P, Modules>());
    }

    /// Selects the modules for which `selects(modules, m)` holds.
    template <detail::held_function<any_policy, bool, const Modules&, id> F>
    any_policy(F selects) // NOLINT(google-explicit-constructor): as above
        : held_name(""), selects_(std::move(selects)) {}

    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        if (!selects_) {
            static const not_infrastructure standard;
            return standard.selects(modules, m);
        }
        return selects_(modules, m);
    }

private:
    std::function<bool(const Modules&, id)> selects_;
};

/// Any naming policy for `Modules`.
template <module_view Modules>
class any_policy<naming_category, Modules> : public detail::held_name {
public:
    using policy_category = naming_category;

    /// Acts as `class_paths`.
    any_policy() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_naming<any_policy, Modules> P>
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , name_([chosen = std::move(chosen)](const Modules& modules, tag_table& tags) {
            chosen.name_modules(modules, tags);
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!naming_policy<P, Modules>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<naming_category, P, Modules>());
    }

    /// Names modules by `name_modules(modules, tags)`.
    template <detail::held_function<any_policy, void, const Modules&, tag_table&> F>
    any_policy(F name_modules) // NOLINT(google-explicit-constructor): as above
        : held_name(""), name_(std::move(name_modules)) {}

    void name_modules(const Modules& modules, tag_table& tags) const {
        name_ ? name_(modules, tags) : class_paths{}.name_modules(modules, tags);
    }

private:
    std::function<void(const Modules&, tag_table&)> name_;
};

/// Any source of evidence about `Ops` and `Modules`. Claims of an unnamed source carry their own
/// provenance.
template <operator_view Ops, module_view Modules>
class any_policy<evidence_category, Ops, Modules> : public detail::held_name {
    using take = std::function<void(const claim&)>;
    using tell = std::function<void(operator_t<Ops>, const take&)>;

public:
    using policy_category = evidence_category;

    /// Holds a copy of `source`, which is prepared for every context.
    template <detail::held_evidence<any_policy, Ops, Modules> P>
    any_policy(P source) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(source))
        , prepare_([source = std::move(source)](evidence_context<Ops, Modules>& context) {
            return tell([made = source.prepare(context)](operator_t<Ops> v, const take& f) {
                made.for_each_claim(v, f);
            });
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!evidence_policy<P, Ops, Modules>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<evidence_category, P, Ops, Modules>());
    }

    class claims {
    public:
        template <class Function>
        void for_each_claim(operator_t<Ops> v, Function f) const {
            tell_(v, take(std::ref(f)));
        }

    private:
        friend any_policy;

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
template <>
class any_policy<resolution_category> : public detail::held_name {
public:
    using policy_category = resolution_category;

    /// Acts as `by_weight`.
    any_policy() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_resolution<any_policy> P>
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen)) {
        if constexpr (detail::has_min_confidence<P>) {
            min_confidence_ = chosen.min_confidence;
            resolve_ = [chosen = std::move(chosen)](const tree_index& modules,
                                                    std::span<const claim> claims,
                                                    float min_confidence) -> attribution {
                if (chosen.min_confidence == min_confidence) {
                    return chosen.resolve(modules, claims);
                }
                auto policy = chosen;
                policy.min_confidence = min_confidence;
                return policy.resolve(modules, claims);
            };
        } else {
            resolve_ = [chosen = std::move(chosen)](const tree_index& modules,
                                                    std::span<const claim> claims, float) {
                return attribution(chosen.resolve(modules, claims));
            };
        }
    }

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!resolution_policy<P>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<resolution_category, P>());
    }

    /// Resolves by `resolve(modules, claims)`.
    template <detail::held_function<any_policy, attribution, const tree_index&,
                                    std::span<const claim>>
                  F>
    any_policy(F resolve) // NOLINT(google-explicit-constructor): as above
        : held_name("")
        , resolve_([resolve = std::move(resolve)](
                       const tree_index& modules, std::span<const claim> claims,
                       float) -> attribution { return resolve(modules, claims); }) {}

    /// Ignores claims with less confidence from now on.
    void set_min_confidence(float least) noexcept { min_confidence_ = least; }

    /// Claims with less confidence are ignored.
    [[nodiscard]] float min_confidence() const noexcept { return min_confidence_; }

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return detail::resolve_sure(claims, min_confidence_, [&](std::span<const claim> sure) {
            return resolve_ ? resolve_(modules, sure, min_confidence_)
                            : by_weight{min_confidence_}.resolve(modules, sure);
        });
    }

private:
    using resolver = std::function<attribution(const tree_index&, std::span<const claim>, float)>;

    float min_confidence_ = 0;
    resolver resolve_;
};

/// Any propagation policy for `Ops`.
template <operator_view Ops>
class any_policy<propagation_category, Ops> : public detail::held_name {
public:
    using policy_category = propagation_category;

    /// Acts as `both_sides`.
    any_policy() = default;

    /// Holds a copy of `chosen`; whether it propagates at all is queried here, once.
    template <detail::held_propagation<any_policy, Ops> P>
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , propagates_(detail::propagates(chosen))
        , propagate_([chosen = std::move(chosen)](const propagation_problem<Ops>& problem,
                                                  std::span<attribution> result) {
            chosen.propagate(problem, result);
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!propagation_policy<P, Ops>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<propagation_category, P, Ops>());
    }

    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        propagate_ ? propagate_(problem, result) : both_sides{}.propagate(problem, result);
    }

    [[nodiscard]] bool propagates() const noexcept { return propagates_; }

private:
    bool propagates_ = true;
    std::function<void(const propagation_problem<Ops>&, std::span<attribution>)> propagate_;
};

/// Any diagnostics policy.
template <>
class any_policy<diagnostics_category> : public detail::held_name {
public:
    using policy_category = diagnostics_category;

    /// Acts as `as_found`.
    any_policy() = default;

    /// Holds a copy of `chosen`.
    template <detail::held_diagnostics<any_policy> P>
    any_policy(P chosen) // NOLINT(google-explicit-constructor): it stands for the policy
        : held_name(detail::name_of_policy(chosen))
        , judge_([chosen = std::move(chosen)](const finding& item) -> std::optional<severity> {
            return chosen.judge(item);
        }) {}

    /// Rejects other policies, with an explanation.
    template <detail::attempted_policy<any_policy> P>
        requires(!diagnostics_policy<P>)
    any_policy(const P& /*rejected*/) { // NOLINT(google-explicit-constructor): as above
        static_assert(explain_policy<diagnostics_category, P>());
    }

    /// Uses `judge(found)`.
    template <detail::held_function<any_policy, std::optional<severity>, const finding&> F>
    any_policy(F judge) // NOLINT(google-explicit-constructor): as above
        : held_name(""), judge_(std::move(judge)) {}

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return judge_ ? judge_(found) : as_found{}.judge(found);
    }

private:
    std::function<std::optional<severity>(const finding&)> judge_;
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_ANY_POLICY_HPP
