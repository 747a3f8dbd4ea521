// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/diagnostics.hpp>

#include "../catch.hpp"
#include "../laws.hpp"

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/model/finding.hpp>

#include <optional>
#include <type_traits>
#include <vector>

namespace test::tagging_diagnostics {

using stemma::finding;
using stemma::severity;

namespace {

struct no_category {
    [[nodiscard]] std::optional<severity> judge(const finding&) const { return {}; }
};

struct no_answer {
    using policy_category = stemma::diagnostics_category;
};

std::vector<finding> one_of_each() {
    return {{"a.first", stemma::no_id, "is wrong", severity::error, "model"},
            {"a.second", 3, "is odd", severity::warning, "node 'x'"},
            {"b.first", 4, "is there", severity::information, "node 'y'"}};
}

/// Returns: the remaining levels, in order.
template <class Policy>
std::vector<severity> left(const Policy& policy) {
    std::vector<severity> levels;
    auto report = stemma::judged(policy, [&](const finding& one) { levels.push_back(one.level); });
    for (const auto& one : one_of_each()) {
        report(one);
    }
    return levels;
}

} // namespace

TEST_CASE("diagnostics_policy: accepts the built-in policies and rejects near misses",
          "[diagnostics]") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::diagnostics_category, stemma::as_found>());
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::diagnostics_category, stemma::warnings_as_errors>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::diagnostics_category, stemma::errors_only>());
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::diagnostics_category, stemma::without_findings>());
    STATIC_REQUIRE(!stemma::diagnostics_policy<no_category>);
    STATIC_REQUIRE(!stemma::diagnostics_policy<no_answer>);
    STATIC_REQUIRE(std::is_empty_v<stemma::as_found>);
    STATIC_REQUIRE(std::is_empty_v<stemma::warnings_as_errors>);
    STATIC_REQUIRE(std::is_empty_v<stemma::errors_only>);
}

TEST_CASE("diagnostics_policy: the built-in policies keep the laws", "[diagnostics][laws]") {
    const auto findings = one_of_each();
    CHECK(stemma::broken_diagnostics_laws(stemma::as_found{}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(stemma::warnings_as_errors{}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(stemma::errors_only{}, findings).empty());
    CHECK(stemma::broken_diagnostics_laws(stemma::without_findings{{"a.*"}}, findings).empty());
}

TEST_CASE("as_found: changes nothing", "[diagnostics]") {
    CHECK(left(stemma::as_found{}) ==
          std::vector{severity::error, severity::warning, severity::information});
}

TEST_CASE("warnings_as_errors: turns only warnings into errors", "[diagnostics]") {
    CHECK(left(stemma::warnings_as_errors{}) ==
          std::vector{severity::error, severity::error, severity::information});
}

TEST_CASE("errors_only: keeps only errors", "[diagnostics]") {
    CHECK(left(stemma::errors_only{}) == std::vector{severity::error});
}

TEST_CASE("without_findings: drops codes that match a pattern", "[diagnostics]") {
    CHECK(left(stemma::without_findings{}).size() == 3);
    CHECK(left(stemma::without_findings{{"a.*"}}) == std::vector{severity::information});
    CHECK(left(stemma::without_findings{{"a.second", "b.*"}}) == std::vector{severity::error});
    CHECK(left(stemma::without_findings{{"a"}}).size() == 3);
}

TEST_CASE("judged: passes findings on, changing only the level", "[diagnostics]") {
    std::vector<finding> findings;
    auto report = stemma::judged(stemma::warnings_as_errors{},
                                 [&](const finding& one) { findings.push_back(one); });
    report(one_of_each()[1]);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].code == "a.second");
    CHECK(findings[0].node == 3);
    CHECK(findings[0].text == "is odd");
    CHECK(findings[0].place == "node 'x'");
    CHECK(findings[0].level == severity::error);
}

TEST_CASE("judged: accepts a function in place of a policy", "[diagnostics]") {
    std::size_t count = 0;
    auto report = stemma::judged(
        [](auto&& one) {
            return one.level == severity::error ? std::optional(one.level) : std::nullopt;
        },
        [&](const finding&) { ++count; });
    for (auto level : {severity::error, severity::information}) {
        finding one;
        one.level = level;
        report(one);
    }
    CHECK(count == 1);
}

} // namespace test::tagging_diagnostics
