// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/value_definitions.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../wire_builder.hpp"

#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace test::onnx_value_definitions {

using stemma::id;

TEST_CASE("definitions_of, definers_text: name all definitions of a value") {
    const test::built_model model({test::node("Relu", {"x"}, {"y"}, "a"),
                                   test::node("Tanh", {"x"}, {"y"}),
                                   test::node("Neg", {"y"}, {"z"})},
                                  {"x"}, {"z"}, {"y"});
    CHECK(stemma::place_of(model, 0) == "node 'a' (#0)");
    CHECK(stemma::place_of(model, 1) == "node #1");
    const auto y = model.first_output(1);
    CHECK(stemma::detail::definitions_of(model, y).size() == 3);
    CHECK(stemma::detail::definers_text(model, y) == "node 'a' (#0), node #1 and an initializer");
    const auto z = model.first_output(2);
    CHECK(stemma::detail::definitions_of(model, z) == std::vector<id>{z});
}

TEST_CASE("check_definitions: refuses a value that is defined twice, also in a function") {
    const auto check = [](const char* again, const char* inner) {
        const auto relu = [](const char* out) { return test::node("Relu", {"x"}, {out}); };
        const auto bytes =
            test::model(test::graph({relu("y"), relu(again)}, {"x"}, {"y"}))
                .inner(25, test::function("d", "F", {"x"}, {"t"}, {relu("t"), relu(inner)}))
                .bytes();
        stemma::detail::check_definitions(stemma::wire_model(bytes, "m"));
    };
    CHECK_NOTHROW(check("z", "u"));
    CHECK_THROWS_WITH(check("y", "u"), Catch::Contains("y: the model defines this value more than "
                                                       "once: by node #0 and node #1"));
    CHECK_THROWS_WITH(check("z", "t"), Catch::Contains("t: the model defines"));
}

TEST_CASE("repeated_definitions: groups all definitions of a name by graph") {
    const auto relu = [](const char* out) { return test::node("Relu", {"x"}, {out}); };
    const auto body = test::graph({relu("b"), relu("y"), relu("b")}, {}, {"b"});
    const test::built_model model(
        {relu("a"), relu("y"), relu("a"), relu("z"),
         test::owner_node("If", {"x"}, {"i"}, {test::graph_attribute("then_branch", body)}),
         relu("y"), relu("a")},
        {"x"}, {"z"});
    REQUIRE(model.redefined().size() == 4);
    const auto groups = stemma::detail::repeated_definitions(model);
    REQUIRE(groups.size() == 3);
    std::size_t members = 0;
    for (const auto& group : groups) {
        CHECK(group.all == stemma::detail::definitions_of(model, group.again));
        CHECK(group.again == group.all[1]);
        members += group.all.size();
    }
    CHECK(members == 7);
    CHECK(std::is_sorted(groups.begin(), groups.end(),
                         [](const auto& a, const auto& b) { return a.again < b.again; }));
}

TEST_CASE("definers_text: counts what follows the first definitions") {
    const auto text_of = [](std::size_t count) {
        const std::vector nodes(count, test::node("Relu", {"x"}, {"y"}));
        const test::built_model model(nodes, {"x"}, {"y"});
        return stemma::detail::definers_text(model, model.first_output(0));
    };
    const std::string first = "node #0, node #1, node #2, node #3, node #4, node #5, node #6";
    CHECK(text_of(9) == first + ", node #7 and node #8");
    CHECK(text_of(10) == first + ", node #7 and 2 more");
}

} // namespace test::onnx_value_definitions
