// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_DIAGNOSTICS_HPP
#define STEMMA_TAGGING_DIAGNOSTICS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/glob.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/model/finding.hpp>

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P>
concept has_judge = requires(const P& p, const finding& found) {
    { p.judge(found) } -> std::convertible_to<std::optional<severity>>;
};

} // namespace detail

/// Decides which findings about a model are reported, and with what severity.
///
/// `judge(found)` returns the severity; nothing to suppress the finding.
///
/// Requires: the same answer for equal findings.
/// Complexity: callers ask once per finding.
template <class P>
concept diagnostics_policy = detail::policy_for<P, diagnostics_category> && detail::has_judge<P>;

namespace detail {

/// A diagnostics policy, or a function that serves as its `judge`.
template <class P>
concept judging = diagnostics_policy<P> || answering < P,
        std::optional<severity>,
const finding& > ;

template <class P>
[[nodiscard]] std::optional<severity> judge(const P& chosen, const finding& found) {
    if constexpr (policy<P>) {
        return chosen.judge(found);
    } else {
        return chosen(found);
    }
}

} // namespace detail

/// All findings, with the severity they were found with.
struct as_found {
    using policy_category = diagnostics_category;
    static constexpr std::string_view name = "default";

    [[nodiscard]] std::optional<severity> judge(const finding& found) const { return found.level; }
};

/// Warnings become errors: for models about to be released.
struct warnings_as_errors {
    using policy_category = diagnostics_category;
    static constexpr std::string_view name = "strict";

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return found.level == severity::warning ? severity::error : found.level;
    }
};

/// Errors only: for models made by somebody else.
struct errors_only {
    using policy_category = diagnostics_category;
    static constexpr std::string_view name = "errors";

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        return found.level == severity::error ? std::optional(severity::error) : std::nullopt;
    }
};

/// All findings except those with some codes, by glob: `onnx.checker`, `tags.*`.
struct without_findings {
    using policy_category = diagnostics_category;

    std::vector<std::string> codes{}; ///< globs of `finding::code`

    /// Returns: `without:GLOB,...`. Complexity: O(length).
    [[nodiscard]] std::string name() const { return "without:" + detail::join_list(codes); }

    [[nodiscard]] std::optional<severity> judge(const finding& found) const {
        const bool unwanted = std::any_of(codes.begin(), codes.end(), [&](const auto& pattern) {
            return detail::glob_match(pattern, found.code);
        });
        return unwanted ? std::nullopt : std::optional(found.level);
    }
};

/// Returns: a callback that passes findings on to `report(finding)` as judged by the policy, or a
/// function; for code that searches for findings.
template <detail::judging P, class Report>
[[nodiscard]] auto judged(P policy, Report report) {
    return [policy = std::move(policy), report = std::move(report)](finding item) mutable {
        if (const std::optional<severity> level = detail::judge(policy, item)) {
            item.level = *level;
            report(std::move(item));
        }
    };
}

/// Put `static_assert(explain_policy<diagnostics_category, mine>());` next to a policy that is
/// rejected.
template <std::same_as<diagnostics_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "diagnostics policy: make the class copyable");
    static_assert(detail::declares<P, diagnostics_category>,
                  "diagnostics policy: add `using policy_category = "
                  "stemma::diagnostics_category;`");
    static_assert(detail::has_judge<P>,
                  "diagnostics policy: add `std::optional<stemma::severity> judge(const "
                  "stemma::finding&) const`");
    return diagnostics_policy<P>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_DIAGNOSTICS_HPP
