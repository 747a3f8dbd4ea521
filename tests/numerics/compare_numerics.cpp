// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/compare_numerics.hpp>

#include "../catch.hpp"
#include "../numerics_scene.hpp"
#include "../written_text.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <map>
#include <string>
#include <vector>

namespace test::numerics_compare_numerics {

namespace {

using numbers = std::map<std::string, std::vector<float>>;
using stemma::numerics_report;

const numbers right{{"x", {1, 2}}, {"t", {1, 2}}, {"u", {1, 2}}, {"y", {2, 4}}};

struct scene {
    test::scratch_folder folder;
    test::observed a{folder, "a", test::two_modules(), right};

    [[nodiscard]] stemma::numerics_report compare(const numbers& other,
                                                  const stemma::numerics_options& how = {}) const {
        const test::observed b(folder, "b", test::two_modules(), other);
        return stemma::compare_numerics(a.get(), b.get(), how);
    }

    [[nodiscard]] std::map<std::string, numerics_report::module_verdict>
    verdicts(const stemma::numerics_report& report) const {
        std::map<std::string, numerics_report::module_verdict> verdicts;
        for (const auto& one : report.modules) {
            verdicts.emplace(a.opened.modules().path(one.module), one.verdict);
        }
        return verdicts;
    }

    [[nodiscard]] std::string first(const stemma::numerics_report& report) const {
        return report.first_module == stemma::no_id ? "none"
                                                    : a.opened.modules().path(report.first_module);
    }
};

} // namespace

TEST_CASE("compare_numerics: bounds that are no numbers are refused",
          "[numerics][compare_numerics]") {
    const scene s;
    constexpr auto nan = std::numeric_limits<double>::quiet_NaN();
    CHECK_THROWS_WITH(s.compare(right, {.bounds = {.max_rel = nan}}),
                      "max_rel: nan is not a finite number from 0");
}

TEST_CASE("compare_numerics: equal runs are within all bounds", "[numerics][compare_numerics]") {
    const scene s;
    const auto report = s.compare(right, {.bounds = {.max_abs = 0}});
    CHECK(s.first(report) == "none");
    CHECK(report.values.size() == 4);
    for (const auto& [path, verdict] : s.verdicts(report)) {
        INFO(path);
        CHECK(verdict == numerics_report::module_verdict::within);
    }
}

TEST_CASE(
    "compare_numerics: the first module beyond a bound is the deepest that produces the value",
    "[numerics][compare_numerics]") {
    const scene s;
    const auto report = s.compare({{"x", {1, 2}}, {"t", {1, 2}}, {"u", {1, 3}}, {"y", {2, 5}}});
    CHECK(s.first(report) == "a.act");
    CHECK(s.verdicts(report) == std::map<std::string, numerics_report::module_verdict>{
                                    {"", numerics_report::module_verdict::adds},
                                    {"a", numerics_report::module_verdict::adds},
                                    {"a.fc", numerics_report::module_verdict::within},
                                    {"a.act", numerics_report::module_verdict::adds},
                                    {"b", numerics_report::module_verdict::unclear}});
}

TEST_CASE("compare_numerics: omitted modules count for their parent",
          "[numerics][compare_numerics]") {
    const scene s;
    std::vector<bool> asked(s.a.opened.modules().size(), false);
    asked[0] = asked[1] = true; // the root and a
    const auto report = s.compare({{"x", {1, 2}}, {"t", {1, 9}}, {"u", {1, 9}}, {"y", {2, 18}}},
                                  {.modules = asked});
    CHECK(s.first(report) == "a");
    CHECK(report.modules.size() == 2);
}

TEST_CASE("compare_numerics: missing values and other shapes are reported",
          "[numerics][compare_numerics]") {
    const scene s;
    const auto report = s.compare({{"x", {1, 5}}, {"u", {1, 2, 3}}, {"y", {2, 4}}});
    CHECK(report.unequal_inputs == 1);
    CHECK(s.verdicts(report).at("a.fc") == numerics_report::module_verdict::not_compared);
    CHECK(s.first(report) == "a.act");
    CHECK_FALSE(report.values[report.first_value].difference);
    // What goes into `a.act` and `b` is unknown, so either may have begun.
    const auto ends = s.compare({{"x", {1, 2}}, {"y", {3, 3}}});
    CHECK(s.verdicts(ends).at("b") == numerics_report::module_verdict::unclear);
    CHECK(s.verdicts(ends).at("a.act") == numerics_report::module_verdict::not_compared);
}

TEST_CASE("compare_numerics: a module that computes weights can be the first",
          "[numerics][compare_numerics]") {
    const test::scratch_folder folder;
    const auto bytes = test::computed_weights();
    const test::observed a(folder, "a", bytes, {{"x", {1}}, {"w", {2}}, {"t", {2}}, {"y", {3}}});
    const auto compare = [&](const char* name, const numbers& other) {
        const test::observed b(folder, name, bytes, other);
        return stemma::compare_numerics(a.get(), b.get());
    };
    const auto verdict = [&](const stemma::numerics_report& report, const std::string& path) {
        for (const auto& one : report.modules) {
            if (a.opened.modules().path(one.module) == path) {
                return one.verdict;
            }
        }
        return numerics_report::module_verdict::not_compared;
    };
    const auto faulty = compare("b", {{"x", {1}}, {"w", {3}}, {"t", {3}}, {"y", {4}}});
    REQUIRE(faulty.first_module != stemma::no_id);
    CHECK(a.opened.modules().path(faulty.first_module) == "a");
    CHECK(verdict(faulty, "a") == numerics_report::module_verdict::adds);
    CHECK(verdict(faulty, "a.fc") == numerics_report::module_verdict::unclear);
    // An optimizer computed the weights in advance.
    const auto folded = compare("c", {{"x", {1}}, {"t", {3}}, {"y", {4}}});
    CHECK(verdict(folded, "a.fc") == numerics_report::module_verdict::adds);
}

TEST_CASE("compare_numerics: the JSON report agrees", "[numerics][compare_numerics]") {
    const scene s;
    const test::observed b(s.folder, "b", test::two_modules(),
                           {{"x", {1, 2}}, {"t", {0, 0}}, {"u", {1, 2}}, {"y", {2, 4}}});
    const auto report = stemma::compare_numerics(s.a.get(), b.get());
    const auto json = test::json_of(report, s.a.get(), b.get());
    CHECK(json["schema"] == "stemma.numerics/1");
    CHECK(json["first"]["module"] == "a.fc");
    CHECK(json["first"]["value"] == "t");
    CHECK(json["bounds"]["min_sqnr"] == 60);
    CHECK(json["modules"].size() == report.modules.size());
    CHECK(json["values"].size() == 4);
    CHECK(json["values"][1]["difference"]["sqnr"] == 0);
    CHECK(json["values"][0]["difference"]["sqnr"].is_null()); // no noise at all
    CHECK(json["modules"][0]["own"].is_null());
}

TEST_CASE("compare_numerics: differences are numbers in JSON, however large",
          "[numerics][compare_numerics]") {
    stemma::value_difference difference;
    difference.max_abs = std::numeric_limits<double>::infinity();
    difference.max_rel = difference.max_abs;
    stemma::string_sink sink;
    stemma::json_writer json(sink);
    stemma::detail::write_difference(json, difference);
    json.finish();
    const auto read = nlohmann::json::parse(sink.text);
    CHECK(read["max_abs"] == std::numeric_limits<double>::max());
    CHECK(read["max_rel"] == std::numeric_limits<double>::max());
}

} // namespace test::numerics_compare_numerics
