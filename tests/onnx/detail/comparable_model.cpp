// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/comparable_model.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>
#include <vector>

namespace test::onnx_detail_comparable_model {

TEST_CASE("comparable_model: keeps the model's numbers, and ignores the order of attributes") {
    auto first = test::node("Conv", {"x", "w"}, {"y"}, "a");
    first.inner(5, test::text_attribute("p", "1")).inner(5, test::text_attribute("q", "2"));
    auto second = test::node("Conv", {"y", "w"}, {"z"}, "b");
    second.inner(5, test::text_attribute("q", "2")).inner(5, test::text_attribute("p", "1"));
    auto third = test::node("Conv", {"z", "w"}, {"u"}, "c");
    third.inner(5, test::text_attribute("p", "1"));
    const test::built_model model({first, second, third}, {"x"}, {"u"}, {"w"});
    const auto graph = stemma::detail::comparable_model(model);
    REQUIRE(graph.operator_count() == model.node_count());
    REQUIRE(graph.value_count() == model.value_count());
    CHECK(graph.attributes(0) == graph.attributes(1));
    CHECK(graph.attributes(0) != graph.attributes(2));
    CHECK(graph.outputs(0)[0] == model.first_output(0));
    CHECK(graph.results().size() == 1);
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        CHECK(graph.value_name(value) == model.value_name(value));
        CHECK((graph.role(value) == stemma::comparable_graph::value_role::stored) ==
              model.is_initializer(value));
    }
}

TEST_CASE("comparable_model: an attribute that says what it would without it does not count") {
    auto first = test::node("Shape", {"x"}, {"y"}, "a");
    first.inner(5, test::message().text(1, "start").number(3, 0).number(20, 2));
    const auto second = test::node("Shape", {"x"}, {"z"}, "b");
    auto third = test::node("Shape", {"x"}, {"u"}, "c");
    third.inner(5, test::message().text(1, "start").number(3, 1).number(20, 2));
    auto fourth = test::node("Shape", {"x"}, {"v"}, "d");
    fourth.text(7, "other").inner(5, test::message().text(1, "start").number(3, 0).number(20, 2));
    const test::built_model model({first, second, third, fourth}, {"x"}, {"y"}, {});
    const auto graph = stemma::detail::comparable_model(model);
    CHECK(graph.attributes(0) == graph.attributes(1));
    CHECK(graph.attributes(2) != graph.attributes(1));
    CHECK(graph.attributes(3) != graph.attributes(1)); // of another domain, whatever it means
}

TEST_CASE("comparable_model: the order of a node's bodies in the file does not matter") {
    const auto body = [](const char* result, const test::message* inner = nullptr) {
        auto node = test::node("If", {"c"}, {result}, result);
        if (inner != nullptr) {
            node.inner(5, test::graph_attribute("then_branch", *inner));
        }
        return test::graph({node}, {}, {result});
    };
    const auto nested = body("nested");
    const auto results = [&](bool then_first) {
        auto node = test::node("If", {"c"}, {"y"}, "if");
        const auto yes = test::graph_attribute("then_branch", body("yes", &nested));
        const auto no = test::graph_attribute("else_branch", body("no"));
        node.inner(5, then_first ? yes : no).inner(5, then_first ? no : yes);
        const test::built_model model({node}, {"c"}, {"y"});
        const auto graph = stemma::detail::comparable_model(model);
        std::vector<std::string> names;
        for (const auto value : graph.results()) {
            names.emplace_back(graph.value_name(value));
        }
        return names;
    };
    CHECK(results(true) == std::vector<std::string>{"y", "no", "yes", "nested"});
    CHECK(results(false) == results(true));
}

} // namespace test::onnx_detail_comparable_model
