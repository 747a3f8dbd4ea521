// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/neighbour_matcher.hpp>

#include "../../catch.hpp"
#include "../../comparable_scene.hpp"

#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/detail/value_numbers.hpp>
#include <stemma/align/graph_alignment.hpp>
#include <stemma/align/rewritten_operators.hpp>
#include <stemma/core/id.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::align_detail_neighbour_matcher {

using stemma::graph_alignment;
using stemma::id;
using stemma::no_id;

namespace {

class matcher : public stemma::detail::neighbour_matcher {
public:
    using neighbour_matcher::grow;
    using neighbour_matcher::neighbour_matcher;
    using neighbour_matcher::set;
};

/// Grows the matches of values between two graphs, from some known ones.
class growth {
public:
    growth(const comparable_scene& before, const comparable_scene& after,
           const std::vector<std::pair<std::string, std::string>>& pairs)
        : before_(before)
        , after_(after)
        , numbers_(before.graph)
        , types_(before.graph, after.graph, stemma::rewritten_operators{})
        , values(before.graph, after.graph, numbers_, types_) {
        for (const auto& [from, to] : pairs) {
            values.set(after.value(to), before.value(from), graph_alignment::match_basis::computed);
        }
        values.grow();
    }

    /// Whether a value of the changed graph is one of the original; "" is none.
    [[nodiscard]] bool is(const std::string& after, const std::string& before) const {
        return values.value(after_.value(after)) ==
               (before.empty() ? no_id : before_.value(before));
    }

private:
    const comparable_scene& before_;
    const comparable_scene& after_;
    stemma::detail::value_numbers numbers_;
    stemma::detail::type_pairs types_;

public:
    matcher values;
};

} // namespace

TEST_CASE("neighbour_matcher: follows operators of equal types from what is known, both ways") {
    comparable_scene before({"x"});
    before.add("Exp", {"x"}, "a").add("Neg", {"a"}, "b").add("Sqrt", {"b"}, "c").result("c");
    comparable_scene after({"y"});
    after.add("Exp", {"y"}, "1").add("Neg", {"1"}, "2").add("Sqrt", {"2"}, "3").result("3");
    SECTION("from an input") {
        const growth grown(before, after, {{"x", "y"}});
        CHECK(grown.is("1", "a"));
        CHECK(grown.is("2", "b"));
        CHECK(grown.is("3", "c"));
        CHECK(grown.values.partner(1) == 1);
        CHECK(grown.values.basis(after.value("2")) == graph_alignment::match_basis::neighbours);
    }
    SECTION("from the result, which is matched by position") {
        const growth grown(before, after, {});
        CHECK(grown.is("2", "b"));
        CHECK(grown.is("y", "x"));
    }
}

TEST_CASE("neighbour_matcher: between two readers that look the same nothing is chosen") {
    comparable_scene before({"x"});
    before.add("Exp", {"x"}, "a").add("Exp", {"x"}, "b").add("Sub", {"a", "b"}, "c");
    comparable_scene after({"y"});
    after.add("Exp", {"y"}, "1").add("Exp", {"y"}, "2").add("Sub", {"1", "2"}, "3");
    const growth grown(before, after, {{"x", "y"}});
    CHECK(grown.is("1", ""));
    CHECK(grown.is("2", ""));
    CHECK(growth(before, after, {{"x", "y"}, {"c", "3"}}).is("2", "b"));
}

TEST_CASE("neighbour_matcher: the readers of one of equal constants are not those of another") {
    comparable_scene before({"x", "y"});
    before.constant("c'1").constant("c'2");
    before.add("Neg", {"x"}, "a").add("Pow", {"a", "c'1"}, "b").result("b");
    before.add("Exp", {"y"}, "d").add("Pow", {"d", "c'2"}, "e").result("e");
    comparable_scene after({"y"});
    after.constant("c'3").add("Abs", {"y"}, "1").add("Pow", {"1", "c'3"}, "2").result("2");
    const growth grown(before, after, {{"y", "y"}, {"c'1", "c'3"}});
    CHECK(grown.is("2", ""));
}

TEST_CASE("neighbour_matcher: an operator leads with the only one that it may have become") {
    comparable_scene before({"x"});
    before.add("Conv", {"x", "w1"}, "a").add("Relu", {"a"}, "b").add("Exp", {"b"}, "c");
    before.result("c");
    comparable_scene after({"y"});
    after.add("com.microsoft::FusedConv", {"y", "w2"}, "1").add("Exp", {"1"}, "2").result("2");
    const growth grown(before, after, {{"x", "y"}});
    CHECK(grown.is("1", "b"));
    CHECK(grown.values.partner(0) == no_id);
    CHECK(grown.values.partner(1) == 2);
}

TEST_CASE("neighbour_matcher: an operator that reads something else now stands for the only one in "
          "its place, without being it") {
    comparable_scene before({"x", "z"});
    before.add("Exp", {"z"}, "a").add("Add", {"x", "a"}, "b");
    comparable_scene after({"x", "z"});
    after.add("Exp", {"z"}, "a").add("Add", {"x", "z"}, "b");
    const growth grown(before, after, {{"x", "x"}, {"z", "z"}});
    CHECK(grown.is("a", "a"));
    CHECK(grown.values.partner(0) == 0);
    CHECK(grown.is("b", "b"));
    CHECK(grown.values.partner(1) == no_id);
}

} // namespace test::align_detail_neighbour_matcher
