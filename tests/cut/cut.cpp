// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/cut.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/category.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

namespace test::cut_cut {

using stemma::dependence;
using stemma::gap_rule;
using stemma::plain_names_cut;
using stemma::standard_cut;

namespace {

constexpr std::array all_dependences{dependence::constant, dependence::weight, dependence::shape,
                                     dependence::data};

struct not_const : standard_cut {
    bool pulls(dependence) { return true; }
};

struct without_gaps {
    using policy_category = stemma::cut_category;
    [[nodiscard]] bool pulls(dependence) const;
    [[nodiscard]] std::string boundary_name(std::string_view) const;
    [[nodiscard]] bool keeps_unused_initializers() const;
};

struct wrong_name : standard_cut {
    [[nodiscard]] std::string_view* boundary_name(std::string_view) const;
};

struct other_role : standard_cut {
    using policy_category = stemma::cost_category;
};

} // namespace

TEST_CASE("cut_policy: accepts models and rejects near misses", "[policy][cut]") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::cut_category, standard_cut>());
    STATIC_REQUIRE(stemma::explain_policy<stemma::cut_category, plain_names_cut>());
    STATIC_REQUIRE_FALSE(stemma::cut_policy<not_const>);
    STATIC_REQUIRE_FALSE(stemma::cut_policy<without_gaps>);
    STATIC_REQUIRE_FALSE(stemma::cut_policy<wrong_name>);
    STATIC_REQUIRE_FALSE(stemma::cut_policy<other_role>);
}

TEST_CASE("standard_cut: copies in what depends on weights, keeps names, refuses gaps",
          "[policy][cut]") {
    const standard_cut policy;
    CHECK(policy.pulls(dependence::constant));
    CHECK(policy.pulls(dependence::weight));
    CHECK_FALSE(policy.pulls(dependence::shape));
    CHECK_FALSE(policy.pulls(dependence::data));
    CHECK(policy.gaps() == gap_rule::refuse);
    CHECK(policy.boundary_name("/a/b.0") == "/a/b.0");
    CHECK_FALSE(policy.keeps_unused_initializers());
}

TEST_CASE("standard_cut: copying in one dependence includes all weaker ones", "[policy][cut]") {
    for (auto pulled : all_dependences) {
        standard_cut policy;
        policy.pulled = pulled;
        CHECK(policy.pulls(dependence::constant));
        CHECK(policy.pulls(pulled));
        for (std::size_t i = 1; i < all_dependences.size(); ++i) {
            CHECK((policy.pulls(all_dependences[i - 1]) || !policy.pulls(all_dependences[i])));
        }
    }
}

TEST_CASE("plain_names_cut: names are identifiers, and distinct ones stay distinct",
          "[policy][cut]") {
    const plain_names_cut policy;
    test::random_numbers random(1);
    std::map<std::string, std::string> from;
    for (int round = 0; round < 20000; ++round) {
        std::string name;
        for (auto length = random(5); length > 0; --length) {
            name.push_back(random.one_in(4) ? random.bytes(1).front() : "a0_/.2fZ"[random(8)]);
        }
        const auto plain = policy.boundary_name(name);
        REQUIRE(from.emplace(plain, name).first->second == name);
        REQUIRE(plain.empty() == name.empty());
        REQUIRE((plain.empty() || !(plain.front() >= '0' && plain.front() <= '9')));
        REQUIRE(std::all_of(plain.begin(), plain.end(), [](char c) {
            return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                   (c >= 'A' && c <= 'Z');
        }));
    }
    CHECK(policy.boundary_name("logits") == "logits");
    CHECK(policy.pulls(dependence::weight));
}

TEST_CASE("prefixed_names_cut: prepends the prefix to every name", "[policy][cut]") {
    stemma::prefixed_names_cut policy;
    CHECK(policy.boundary_name("x") == "x");
    policy.prefix = "left/";
    CHECK(policy.boundary_name("x") == "left/x");
    CHECK(policy.boundary_name("") == "left/");
    CHECK(policy.gaps() == gap_rule::refuse);
    STATIC_REQUIRE(stemma::explain_policy<stemma::cut_category, stemma::prefixed_names_cut>());
}

TEST_CASE("any_cut: acts as the policy that it holds", "[policy][cut]") {
    STATIC_REQUIRE(
        stemma::explain_policy<stemma::cut_category, stemma::any_policy<stemma::cut_category>>());
    STATIC_REQUIRE_FALSE(std::is_constructible_v<stemma::any_policy<stemma::cut_category>, int>);
    for (auto pulled : all_dependences) {
        for (auto rule : {gap_rule::refuse, gap_rule::absorb, gap_rule::runs}) {
            const stemma::prefixed_names_cut policy{{pulled, rule}, "a::"};
            const stemma::any_policy<stemma::cut_category> any(policy);
            const auto copy = any;
            for (auto d : all_dependences) {
                CHECK(copy.pulls(d) == policy.pulls(d));
            }
            CHECK(copy.gaps() == rule);
            CHECK(copy.boundary_name("x") == "a::x");
            CHECK_FALSE(copy.keeps_unused_initializers());
        }
    }
}

TEST_CASE("any_cut: refuses what no plan could follow", "[policy][cut]") {
    struct answers : stemma::standard_cut {
        bool (*copies)(dependence) = [](dependence) { return true; };
        gap_rule rule = gap_rule::refuse;

        bool pulls(dependence d) const { return copies(d); }
        gap_rule gaps() const { return rule; }
    };
    answers policy;
    CHECK_NOTHROW(stemma::any_policy<stemma::cut_category>(policy));
    policy.copies = [](dependence) { return false; };
    CHECK_THROWS_WITH(stemma::any_policy<stemma::cut_category>(policy),
                      "cut policy: copies no constants in");
    policy.copies = [](dependence d) { return d == dependence::constant || d == dependence::data; };
    CHECK_THROWS_WITH(stemma::any_policy<stemma::cut_category>(policy),
                      "cut policy: copies data in, but not everything simpler");
    policy.copies = [](dependence d) { return d == dependence::constant; };
    policy.rule = static_cast<gap_rule>(99);
    CHECK_THROWS_WITH(stemma::any_policy<stemma::cut_category>(policy),
                      "cut policy: gives a gap rule that does not exist");
}

TEST_CASE("cut: parses the words of the command line", "[policy][cut]") {
    CHECK(stemma::parse_pull("none") == dependence::constant);
    CHECK(stemma::parse_pull("constants") == dependence::constant);
    CHECK(stemma::parse_pull("weights") == dependence::weight);
    CHECK(stemma::parse_pull("shapes") == dependence::shape);
    CHECK(stemma::parse_pull("all") == dependence::data);
    CHECK_FALSE(stemma::parse_pull(""));
    CHECK(stemma::parse_name<stemma::gap_rule>("refuse") == gap_rule::refuse);
    CHECK(stemma::parse_name<stemma::gap_rule>("absorb") == gap_rule::absorb);
    CHECK(stemma::parse_name<stemma::gap_rule>("runs") == gap_rule::runs);
    CHECK_FALSE(stemma::parse_name<stemma::gap_rule>("run"));
}

} // namespace test::cut_cut
