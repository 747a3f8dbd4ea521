// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/pair_values.hpp>

#include "../catch.hpp"
#include "../numerics_scene.hpp"

#include <map>
#include <string>
#include <vector>

namespace test::numerics_pair_values {

namespace {

using numbers = std::map<std::string, std::vector<float>>;

std::map<std::string, std::string> pairs_of(const test::observed& a, const test::observed& b,
                                            const stemma::detail::given_pairs& given = {}) {
    std::map<std::string, std::string> names;
    for (const auto& one : stemma::detail::pair_values(a.get(), b.get(), given)) {
        names.emplace(a.opened.model().value_name(one.value),
                      one.other + " " + std::string(to_string(one.how)));
    }
    return names;
}

const numbers all{{"x", {1}}, {"t", {1}}, {"u", {1}}, {"y", {1}}};

} // namespace

TEST_CASE("pair_values: pairs values by name", "[numerics][pair_values]") {
    const test::scratch_folder folder;
    const test::observed a(folder, "a", test::two_modules(), all);
    const test::observed b(folder, "b", test::two_modules(), all);
    CHECK(pairs_of(a, b) ==
          std::map<std::string, std::string>{
              {"x", "x name"}, {"t", "t name"}, {"u", "u name"}, {"y", "y name"}});
}

TEST_CASE("pair_values: pairs renamed values by computation", "[numerics][pair_values]") {
    const test::scratch_folder folder;
    const test::observed a(folder, "a", test::two_modules(), all);
    const test::observed b(folder, "b", test::two_modules("other_"),
                           {{"x", {1}}, {"other_t", {1}}, {"other_u", {1}}, {"y", {1}}});
    CHECK(pairs_of(a, b) == std::map<std::string, std::string>{{"x", "x name"},
                                                               {"t", "other_t carried"},
                                                               {"u", "other_u carried"},
                                                               {"y", "y name"}});
    const test::observed less(folder, "c", test::two_modules("other_"), {{"other_u", {1}}});
    CHECK(pairs_of(a, less) == std::map<std::string, std::string>{{"u", "other_u carried"}});
}

TEST_CASE("pair_values: pairs values computed differently in order, within a module",
          "[numerics][pair_values]") {
    const auto two = [](const char* op, const char* first, const char* second) {
        return test::model(
                   test::graph({test::node(op, {"x"}, {first}, "/a/" + std::string(op)),
                                test::node(op, {first}, {second}, "/a/" + std::string(op) + "_1"),
                                test::node(op, {second}, {"y"}, "/b/" + std::string(op))},
                               {"x"}, {"y"}))
            .bytes();
    };
    const test::scratch_folder folder;
    const numbers one{{"s", {1}}, {"t", {1}}, {"y", {1}}};
    const numbers other{{"v", {1}}, {"w", {1}}, {"y", {1}}};
    const test::observed a(folder, "a", two("Relu", "s", "t"), one);
    const test::observed b(folder, "b", two("Relu", "v", "w"), other);
    CHECK(pairs_of(a, b).at("t") == "w carried");
    const test::observed c(folder, "c", two("Sigmoid", "v", "w"), other);
    CHECK(pairs_of(a, c).at("t") == "w order");
}

TEST_CASE("pair_values: does not pair different shapes or kinds of numbers",
          "[numerics][pair_values]") {
    const test::scratch_folder folder;
    const test::observed a(folder, "a", test::two_modules(), all);
    const test::observed b(folder, "b", test::two_modules("other_"),
                           {{"x", {1}}, {"other_t", {1, 2}}, {"other_u", {1}}, {"y", {1}}});
    CHECK_FALSE(pairs_of(a, b).contains("t"));
    CHECK(pairs_of(a, b).at("u") == "other_u carried");
}

TEST_CASE("pair_values: does not pair values of another layout", "[numerics][pair_values]") {
    const auto convolution = [](const std::string& name, const char* domain) {
        return test::model(test::graph({test::node("Conv", {"x", "w"}, {name}, "/a/Conv", domain),
                                        test::node("Relu", {name}, {"y"}, "/b/Relu")},
                                       {"x", "w"}, {"y"}))
            .bytes();
    };
    const test::scratch_folder folder;
    const numbers values{{"v", {1}}, {"y", {1}}};
    const test::observed a(folder, "a", convolution("t", ""), {{"t", {1}}, {"y", {1}}});
    CHECK(pairs_of(a, test::observed(folder, "b", convolution("v", ""), values)).contains("t"));
    const test::observed blocked(folder, "c", convolution("v", "com.microsoft.nchwc"), values);
    CHECK_FALSE(pairs_of(a, blocked).contains("t"));
    CHECK_FALSE(pairs_of(blocked, a).contains("v"));
}

TEST_CASE("pair_values: does not pair values in order that the other model computes elsewhere",
          "[numerics][pair_values]") {
    const auto layer = [](const std::string& prefix, const std::string& first) {
        return test::node(first, {"x", "w"}, {prefix + "m"}, "/a/" + first);
    };
    const auto plain = [&](const std::string& prefix, const std::string& first) {
        return test::model(
                   test::graph({layer(prefix, first),
                                test::node("Add", {prefix + "m", "v"}, {prefix + "s"}, "/a/Add"),
                                test::node("Gelu", {prefix + "s"}, {"y"}, "/b/Gelu")},
                               {"x", "w", "v"}, {"y"}))
            .bytes();
    };
    const auto fused =
        test::model(test::graph({layer("", "MatMul"), test::node("BiasGelu", {"m", "v"}, {"y"},
                                                                 "/b/BiasGelu", "com.microsoft")},
                                {"x", "w", "v"}, {"y"}))
            .bytes();
    const numbers sums{{"s", {1}}, {"other_s", {1}}, {"y", {1}}};
    const test::scratch_folder folder;
    const test::observed b(folder, "b", fused, {{"m", {1}}, {"y", {1}}});
    const std::map<std::string, std::string> expected{{"y", "y name"}};
    for (const auto* prefix : {"", "other_"}) {
        const test::observed a(folder, "a", plain(prefix, "MatMul"), sums);
        CHECK(pairs_of(a, b) == expected);
        CHECK(pairs_of(b, a) == expected);
    }
    // A value of the same name, however computed.
    const test::observed a(folder, "a", plain("", "FusedMatMul"), sums);
    CHECK(pairs_of(a, b) == expected);
    CHECK(pairs_of(b, a) == expected);
}

TEST_CASE("pair_values: given pairs take precedence over names", "[numerics][pair_values]") {
    const test::scratch_folder folder;
    const test::observed a(folder, "a", test::two_modules(), all);
    const test::observed b(folder, "b", test::two_modules(), all);
    const auto pairs = pairs_of(a, b, {{"t", "u"}, {"u", "missing"}});
    CHECK(pairs.at("t") == "u given");
    CHECK(pairs.at("u") == "u name");
}

TEST_CASE("pair_values: numeric names only count within a module", "[numerics][pair_values]") {
    const auto numbered = [](const char* first, const char* second) {
        return test::model(test::graph({test::node("Relu", {"x"}, {first}, "/a/Relu"),
                                        test::node("Relu", {first}, {second}, "/b/Relu"),
                                        test::node("Relu", {second}, {"y"}, "/c/Relu")},
                                       {"x"}, {"y"}))
            .bytes();
    };
    const test::scratch_folder folder;
    const numbers values{{"1", {1}}, {"2", {1}}, {"y", {1}}};
    const test::observed a(folder, "a", numbered("1", "2"), values);
    const test::observed b(folder, "b", numbered("2", "1"), values);
    const auto pairs = pairs_of(a, b);
    CHECK(pairs.at("1") == "2 carried");
    CHECK(pairs.at("2") == "1 carried");
}

TEST_CASE("pair_values: keeps execution order", "[numerics][pair_values]") {
    const test::scratch_folder folder;
    const test::observed a(folder, "a", test::two_modules(), all);
    std::string order;
    for (const auto& one : stemma::detail::pair_values(a.get(), a.get())) {
        order += one.other;
    }
    CHECK(order == "xtuy");
}

} // namespace test::numerics_pair_values
