// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_POLICY_REGISTRY_HPP
#define STEMMA_TAGGING_POLICY_REGISTRY_HPP

#include <stemma/config.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/error.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/tagging/any_policy.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Policies of one role by name: `all`, or with an argument, `depth:2`.
template <class Any>
class policies_by_name {
public:
    /// Adds a policy under a name.
    /// Requires: the name is new, and contains neither `:` nor `,`.
    void add(std::string name, Any policy) {
        enter({std::move(name), "",
               [any = std::move(policy)](std::string_view) { return std::optional(any); }});
    }

    /// Adds a policy under its own name.
    /// Requires: as above.
    template <detail::named_policy P>
        requires std::convertible_to<P, Any>
    void add(P policy) { add(detail::name_of_policy(policy), Any(std::move(policy))); }

    /// Adds policies that take an argument: `make(text)` returns one, or nothing for an invalid
    /// text. `argument` describes the text in help: `N`.
    /// Requires: as above.
    template <class Make>
        requires std::invocable<const Make&, std::string_view>
    void add(std::string name, std::string argument, Make make) {
        enter(
            {std::move(name), std::move(argument), [make = std::move(make)](std::string_view text) {
                 auto policy = make(text);
                 return policy ? std::optional<Any>(Any(*std::move(policy))) : std::nullopt;
             }});
    }

    /// Returns: the policy called `name` or `name:argument`, if there is one, with that as the name
    /// for records. For an empty text, the default, which records omit.
    /// Complexity: linear in the number of names.
    [[nodiscard]] std::optional<Any> find(std::string_view text) const {
        const auto colon = text.find(':');
        const auto match = find_entry(text.empty() ? "default" : text.substr(0, colon));
        const bool has_argument = colon != text.npos;
        if (match == entries_.end() || has_argument == match->argument.empty()) {
            return std::nullopt;
        }
        auto result = match->make(has_argument ? text.substr(colon + 1) : std::string_view{});
        if constexpr (std::default_initializable<Any>) {
            if (text.empty()) {
                return Any();
            }
            if (result) {
                result->set_name(std::string(text));
            }
        }
        return result;
    }

    /// Returns: the same. Throws: `error` (`refused`), naming `role` and the known policies, if
    /// there is none.
    [[nodiscard]] Any get(std::string_view role, std::string_view text) const {
        auto policy = find(text);
        if (!policy) {
            STEMMA_THROW(
                error(error_code::refused, "", "", detail::unknown_name_text(role, text, names())));
        }
        return *std::move(policy);
    }

    /// Returns: the known names, in the order in which they were added: `all, depth:N`.
    /// Complexity: O(names).
    [[nodiscard]] std::string names() const {
        std::string text;
        for (const auto& one : entries_) {
            text.append(text.empty() ? "" : ", ").append(one.name);
            text.append(one.argument.empty() ? "" : ":").append(one.argument);
        }
        return text;
    }

    /// Calls `f(name, policy)` for all that need no argument, in the order in which they were
    /// added.
    /// Complexity: O(names).
    template <class Function>
    void for_each(Function f) const {
        for (const auto& one : entries_) {
            if (one.argument.empty()) {
                f(one.name, *one.make({}));
            }
        }
    }

private:
    struct entry {
        std::string name;
        std::string argument;
        std::function<std::optional<Any>(std::string_view)> make;
    };

    [[nodiscard]] auto find_entry(std::string_view name) const {
        return std::find_if(entries_.begin(), entries_.end(),
                            [&](const entry& one) { return one.name == name; });
    }

    void enter(entry added) {
        STEMMA_ASSERT(added.name.find_first_of(":,") == std::string::npos,
                      "policy names contain neither `:` nor `,`");
        STEMMA_ASSERT(find_entry(added.name) == entries_.end(),
                      "policy names are unique within a role");
        entries_.push_back(std::move(added));
    }

    std::vector<entry> entries_;
};

namespace detail {

/// Returns: a policy made from a list of texts; nothing for an empty one.
template <class P>
[[nodiscard]] std::optional<P> policy_of_list(std::string_view text) {
    auto parts = split_list(text);
    return parts.empty() ? std::nullopt : std::optional<P>(P{std::move(parts)});
}

[[nodiscard]] inline std::optional<down_to_depth> depth_of_text(std::string_view text) {
    down_to_depth policy;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, policy.depth);
    return !text.empty() && read.ec == std::errc{} && read.ptr == end ? std::optional(policy)
                                                                      : std::nullopt;
}

template <class Any, class... Ps>
[[nodiscard]] policies_by_name<Any> policies_by_their_names(Ps... policies) {
    policies_by_name<Any> result;
    (result.add(std::move(policies)), ...);
    return result;
}

/// Returns: the library's selection policies: `default`, `all`, `package:a,b`, `class:Glob,...`,
/// `depth:N`.
template <module_view Modules>
[[nodiscard]] policies_by_name<any_policy<selection_category, Modules>> selections_by_name() {
    auto result = policies_by_their_names<any_policy<selection_category, Modules>>();
    result.add("default", not_infrastructure{});
    result.add(all_modules{});
    result.add("package", "P", policy_of_list<in_packages>);
    result.add("class", "GLOB", policy_of_list<of_classes>);
    result.add("depth", "N", depth_of_text);
    return result;
}

/// Returns: the library's naming policies: `default` (`class_paths`), `module-paths`,
/// `names-and-classes`.
template <module_view Modules>
[[nodiscard]] policies_by_name<any_policy<naming_category, Modules>> namings_by_name() {
    return policies_by_their_names<any_policy<naming_category, Modules>>(
        class_paths{}, module_paths{}, names_and_classes{});
}

/// Returns: the library's resolution policies: `default` (`by_weight`), `trust`, `cautious`,
/// `confidence`.
[[nodiscard]] inline policies_by_name<any_policy<resolution_category>> resolutions_by_name() {
    return policies_by_their_names<any_policy<resolution_category>>(by_weight{}, by_trust{},
                                                                    cautious{}, by_confidence{});
}

/// Returns: the library's propagation policies: `default` (`both_sides`), `residual`, `consumers`,
/// `producers`, `nearest`, `off`.
template <operator_view Ops>
[[nodiscard]] policies_by_name<any_policy<propagation_category, Ops>> propagations_by_name() {
    return policies_by_their_names<any_policy<propagation_category, Ops>>(
        both_sides{}, residual_aware{}, consumers_only{}, producers_only{}, nearest_evidence{},
        no_propagation{});
}

/// Returns: the library's cost policies: `bytes`, `parameters`, `operators`, `macs`, `flops`,
/// `activations`.
[[nodiscard]] inline policies_by_name<any_policy<cost_category>> costs_by_name() {
    return policies_by_their_names<any_policy<cost_category>>(
        cost_in_bytes{}, cost_in_parameters{}, cost_in_operators{}, cost_in_macs{}, cost_in_flops{},
        cost_in_activations{});
}

/// Returns: the library's diagnostics policies: `default` (`as_found`), `strict`, `errors`,
/// `without:GLOB,...`.
[[nodiscard]] inline policies_by_name<any_policy<diagnostics_category>> diagnostics_by_name() {
    auto result = policies_by_their_names<any_policy<diagnostics_category>>(
        as_found{}, warnings_as_errors{}, errors_only{});
    result.add("without", "GLOB,...", policy_of_list<without_findings>);
    return result;
}

} // namespace detail

/// The policies that users of a program can choose by name, over one kind of graph and tree: those
/// of the library, and any that the program adds. Sources of evidence add to those of the library.
template <operator_view Ops, module_view Modules>
struct policy_registry {
    /// Which modules get tags.
    policies_by_name<any_policy<selection_category, Modules>> selections =
        detail::selections_by_name<Modules>();
    /// What tags look like.
    policies_by_name<any_policy<naming_category, Modules>> namings =
        detail::namings_by_name<Modules>();
    policies_by_name<any_policy<evidence_category, Ops, Modules>> sources{}; ///< initially none
    /// Which claim is believed.
    policies_by_name<any_policy<resolution_category>> resolutions = detail::resolutions_by_name();
    /// Where operators without evidence belong.
    policies_by_name<any_policy<propagation_category, Ops>> propagations =
        detail::propagations_by_name<Ops>();
    /// What a part that is split off costs.
    policies_by_name<any_policy<cost_category>> costs = detail::costs_by_name();
    /// Which findings are reported.
    policies_by_name<any_policy<diagnostics_category>> diagnostics = detail::diagnostics_by_name();
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_POLICY_REGISTRY_HPP
