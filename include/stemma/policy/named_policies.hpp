// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_POLICY_NAMED_POLICIES_HPP
#define STEMMA_POLICY_NAMED_POLICIES_HPP

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/policy/carrier.hpp>
#include <stemma/policy/category.hpp>
#include <stemma/policy/diagnostics.hpp>
#include <stemma/policy/naming.hpp>
#include <stemma/policy/propagation.hpp>
#include <stemma/policy/resolution.hpp>
#include <stemma/policy/selection.hpp>

#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stemma {

/// Any of the selection policies in the box, chosen at run time.
struct named_selection {
    using policy_category = selection_category;

    /// At first what the facade takes by default.
    std::variant<not_infrastructure, all_modules, in_packages, of_classes, down_to_depth> chosen;

    template <module_view Modules>
    [[nodiscard]] bool selects(const Modules& modules, id m) const {
        return std::visit([&](const auto& policy) { return policy.selects(modules, m); }, chosen);
    }
};

/// Any of the naming policies in the box, chosen at run time.
struct named_naming {
    using policy_category = naming_category;

    /// At first what the facade takes by default.
    std::variant<class_paths, attribute_paths, attributes_and_classes> chosen;

    template <module_view Modules>
    void name_modules(const Modules& modules, tag_table& tags) const {
        std::visit([&](const auto& policy) { policy.name_modules(modules, tags); }, chosen);
    }
};

/// Any of the resolution policies in the box, chosen at run time.
struct named_resolution {
    using policy_category = resolution_category;

    /// At first what the facade takes by default.
    std::variant<by_weight, by_trust, cautious, by_confidence> chosen;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return std::visit([&](const auto& policy) { return policy.resolve(modules, claims); },
                          chosen);
    }
};

/// Any of the propagation policies in the box, chosen at run time.
struct named_propagation {
    using policy_category = propagation_category;

    /// At first what the facade takes by default.
    std::variant<both_sides, residual_aware, consumers_only, producers_only, nearest_evidence,
                 no_propagation>
        chosen;

    template <operator_view Ops>
    void propagate(const propagation_problem<Ops>& problem, std::span<attribution> result) const {
        std::visit([&](const auto& policy) { policy.propagate(problem, result); }, chosen);
    }

    [[nodiscard]] bool propagates() const {
        return !std::holds_alternative<no_propagation>(chosen);
    }
};

/// Any of the diagnostics policies in the box, chosen at run time.
struct named_diagnostics {
    using policy_category = diagnostics_category;

    /// At first what the facade takes by default.
    std::variant<as_found, warnings_as_errors, errors_only, without_findings> chosen;

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return std::visit([&](const auto& policy) { return policy.judge(found); }, chosen);
    }
};

/// Returns: the parts of a list separated by commas, without empty ones. Complexity: O(length).
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (comma != 0) {
            parts.emplace_back(text.substr(0, comma));
        }
        text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    }
    return parts;
}

/// Returns: the policy called `default`, `all`, `package:a,b`, `class:Glob,...` or `depth:N`.
[[nodiscard]] inline std::optional<named_selection> parse_selection(std::string_view text) {
    const auto colon = text.find(':');
    const auto name = text.substr(0, colon);
    const auto rest = colon == text.npos ? std::string_view{} : text.substr(colon + 1);
    if (text.empty() || text == "default") {
        return named_selection{not_infrastructure{}};
    }
    if (text == "all") {
        return named_selection{all_modules{}};
    }
    if (name == "package" && !split_list(rest).empty()) {
        return named_selection{in_packages{split_list(rest)}};
    }
    if (name == "class" && !split_list(rest).empty()) {
        return named_selection{of_classes{split_list(rest)}};
    }
    if (name == "depth") {
        down_to_depth policy;
        const auto end = rest.data() + rest.size();
        const auto read = std::from_chars(rest.data(), end, policy.depth);
        if (!rest.empty() && read.ec == std::errc{} && read.ptr == end) {
            return named_selection{policy};
        }
    }
    return std::nullopt;
}

/// Returns: the policy called `default` (`class_paths`), `attribute-paths` or
/// `attributes-and-classes`.
[[nodiscard]] inline std::optional<named_naming> parse_naming(std::string_view name) {
    if (name.empty() || name == "default") {
        return named_naming{class_paths{}};
    }
    if (name == "attribute-paths") {
        return named_naming{attribute_paths{}};
    }
    if (name == "attributes-and-classes") {
        return named_naming{attributes_and_classes{}};
    }
    return std::nullopt;
}

/// Returns: the policy called `default` (`by_weight`), `trust`, `cautious` or `confidence`, which
/// believes no claim below `min_confidence`.
[[nodiscard]] inline std::optional<named_resolution> parse_resolution(std::string_view name,
                                                                      float min_confidence = 0) {
    if (name.empty() || name == "default") {
        return named_resolution{by_weight{min_confidence}};
    }
    if (name == "trust") {
        return named_resolution{by_trust{min_confidence}};
    }
    if (name == "cautious") {
        return named_resolution{cautious{min_confidence}};
    }
    if (name == "confidence") {
        return named_resolution{by_confidence{min_confidence}};
    }
    return std::nullopt;
}

/// Returns: the policy called `default`, `residual`, `consumers`, `producers`, `nearest` or `off`.
[[nodiscard]] inline std::optional<named_propagation> parse_propagation(std::string_view name) {
    if (name.empty() || name == "default") {
        return named_propagation{both_sides{}};
    }
    if (name == "residual") {
        return named_propagation{residual_aware{}};
    }
    if (name == "consumers") {
        return named_propagation{consumers_only{}};
    }
    if (name == "producers") {
        return named_propagation{producers_only{}};
    }
    if (name == "nearest") {
        return named_propagation{nearest_evidence{}};
    }
    if (name == "off") {
        return named_propagation{no_propagation{}};
    }
    return std::nullopt;
}

/// Returns: the policy called `default`, `strict`, `errors` or `without:GLOB,...`.
[[nodiscard]] inline std::optional<named_diagnostics> parse_diagnostics(std::string_view text) {
    constexpr std::string_view without = "without:";
    if (text.empty() || text == "default") {
        return named_diagnostics{as_found{}};
    }
    if (text == "strict") {
        return named_diagnostics{warnings_as_errors{}};
    }
    if (text == "errors") {
        return named_diagnostics{errors_only{}};
    }
    if (text.starts_with(without)) {
        auto codes = split_list(text.substr(without.size()));
        if (!codes.empty()) {
            return named_diagnostics{without_findings{std::move(codes)}};
        }
    }
    return std::nullopt;
}

/// Returns: the set of the carriers `metadata`, `mark`, `attribute`, `doc-string`, `namespace` and
/// `model` that a list separated by commas names.
/// Complexity: O(length).
[[nodiscard]] inline std::optional<carrier_set> parse_carriers(std::string_view text) {
    carrier_set carriers{.metadata = false};
    const auto names = split_list(text);
    for (const auto& name : names) {
        if (name == "metadata") {
            carriers.metadata = true;
        } else if (name == "mark") {
            carriers.mark = true;
        } else if (name == "attribute") {
            carriers.attribute = true;
        } else if (name == "doc-string") {
            carriers.doc_string = true;
        } else if (name == "namespace") {
            carriers.name_space = true;
        } else if (name == "model") {
            carriers.model = true;
        } else {
            return std::nullopt;
        }
    }
    return names.empty() ? std::nullopt : std::optional(carriers);
}

} // namespace stemma

#endif // STEMMA_POLICY_NAMED_POLICIES_HPP
