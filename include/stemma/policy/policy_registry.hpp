// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_POLICY_POLICY_REGISTRY_HPP
#define STEMMA_POLICY_POLICY_REGISTRY_HPP

#include <stemma/config.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/policy/any_policy.hpp>
#include <stemma/policy/named_policies.hpp>

#include <algorithm>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stemma {

/// Policies of one role, by name: `all`, or with an argument, `depth:2`.
template <class Any>
class policies_by_name {
public:
    /// Adds a policy under a name.
    /// Requires: a name that is not there yet, without `:` and `,`.
    template <std::convertible_to<Any> P>
    void add(std::string name, P policy) {
        enter({std::move(name), "",
               [any = Any(std::move(policy))](std::string_view) { return std::optional(any); }});
    }

    /// Adds policies that take an argument: `make(text)` returns one, or nothing for a text that it
    /// does not understand. `argument` says in help what the text is: `N`.
    /// Requires: as above.
    template <class Make>
        requires std::invocable<const Make&, std::string_view>
    void add(std::string name, std::string argument, Make make) {
        enter(
            {std::move(name), std::move(argument), [make = std::move(make)](std::string_view text) {
                 auto made = make(text);
                 return made ? std::optional<Any>(Any(*std::move(made))) : std::nullopt;
             }});
    }

    /// Returns: the policy that `name` or `name:argument` asks for, if there is one; `default` for
    /// no text. Complexity: linear in the names.
    [[nodiscard]] std::optional<Any> find(std::string_view text) const {
        if (text.empty()) {
            text = "default";
        }
        const auto colon = text.find(':');
        const auto found = find_entry(text.substr(0, colon));
        const bool has_argument = colon != text.npos;
        if (found == entries_.end() || has_argument == found->argument.empty()) {
            return std::nullopt;
        }
        return found->make(has_argument ? text.substr(colon + 1) : std::string_view{});
    }

    /// Returns: what can be asked for, in the order in which it was added: `all, depth:N`.
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
                      "names of policies hold neither `:` nor `,`");
        STEMMA_ASSERT(find_entry(added.name) == entries_.end(),
                      "names of policies of one role differ");
        entries_.push_back(std::move(added));
    }

    std::vector<entry> entries_;
};

/// The policies that users of a program can choose by name, over one kind of graph and tree.
///
/// It starts with those in the box; a program adds its own. Sources of evidence of one's own are
/// asked beside those in the box.
template <operator_view Ops, module_view Modules>
struct policy_registry {
    policies_by_name<any_selection<Modules>> selections;  ///< which modules get tags
    policies_by_name<any_naming<Modules>> namings;        ///< what tags look like
    policies_by_name<any_evidence<Ops, Modules>> sources; ///< asked beside those in the box
    policies_by_name<any_resolution> resolutions;         ///< which claim is believed
    policies_by_name<any_propagation<Ops>> propagations;  ///< where other operators belong
    policies_by_name<any_cost> costs;                     ///< what a part weighs that is split off
    policies_by_name<any_diagnostics> diagnostics;        ///< which findings are told

    /// Holds the policies in the box, of sources none. Complexity: O(1).
    policy_registry() {
        for (const char* name : {"default", "all"}) {
            selections.add(name, *parse_selection(name));
        }
        const auto with_argument = [this](const char* name, const char* argument) {
            selections.add(name, argument, [name](std::string_view text) {
                return parse_selection(std::string(name).append(":").append(text));
            });
        };
        with_argument("package", "P");
        with_argument("class", "GLOB");
        with_argument("depth", "N");
        for (const char* name : {"default", "attribute-paths", "attributes-and-classes"}) {
            namings.add(name, *parse_naming(name));
        }
        for (const char* name : {"default", "trust", "cautious", "confidence"}) {
            resolutions.add(name, *parse_resolution(name));
        }
        for (const char* name :
             {"default", "residual", "consumers", "producers", "nearest", "off"}) {
            propagations.add(name, *parse_propagation(name));
        }
        for (const char* name : {"bytes", "parameters", "operators"}) {
            costs.add(name, *named_cost::parse(name));
        }
        for (const char* name : {"default", "strict", "errors"}) {
            diagnostics.add(name, *parse_diagnostics(name));
        }
        diagnostics.add("without", "GLOB,...", [](std::string_view text) {
            return parse_diagnostics(std::string("without:").append(text));
        });
    }

    /// Returns: the selection that `text` asks for, if there is one. The default one selects the
    /// classes in `keep` as well.
    [[nodiscard]] std::optional<any_selection<Modules>>
    find_selection(std::string_view text, const std::vector<std::string>& keep) const {
        if (auto named = parse_selection(text)) {
            if (auto* standard = std::get_if<not_infrastructure>(&named->chosen)) {
                standard->keep = keep;
            }
            return *named;
        }
        return selections.find(text);
    }
};

} // namespace stemma

#endif // STEMMA_POLICY_POLICY_REGISTRY_HPP
