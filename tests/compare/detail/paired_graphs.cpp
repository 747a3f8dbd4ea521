// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/paired_graphs.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/compare/detail/node_match.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>

namespace test::compare_detail_paired_graphs {

namespace {

/// A model with a body and a function: nodes of both in a fixed order.
std::string with(const char* function, const char* result) {
    const auto body = test::graph({test::node("Relu", {"x"}, {"b"})}, {}, {"b"});
    return test::model(test::graph({test::owner_node("If", {"c"}, {"i"},
                                                     {test::graph_attribute("then_branch", body)}),
                                    test::node(function, {"i"}, {result}, "", "my")},
                                   {"c", "x"}, {result}))
        .inner(8, test::opset("my", 1))
        .inner(25, test::function("my", function, {"a"}, {"f"}, {test::node("Exp", {"a"}, {"f"})}))
        .bytes();
}

/// Returns: the inputs that correspond: `a=b c=d`.
std::string paired(const test::names& first, const test::names& second,
                   const test::names& weights = {}) {
    const auto model = [&](const test::names& inputs) {
        return test::model(test::graph({}, inputs, {}, weights)).bytes();
    };
    const auto from = model(first);
    const auto to = model(second);
    const stemma::wire_model a(from, "a");
    const stemma::wire_model b(to, "b");
    std::string text;
    for (const auto& [x, y] :
         stemma::detail::pair_interface(a, b, &stemma::onnx_model::graph_record::inputs)) {
        text.append(text.empty() ? "" : " ").append(a.value_name(x));
        text.append("=").append(b.value_name(y));
    }
    return text;
}

} // namespace

TEST_CASE("paired_graphs: bodies by owner and attribute, functions by what is in them") {
    const auto first = with("F_1", "y");
    const auto second = with("F_2", "z");
    const stemma::wire_model a(first, "a");
    const stemma::wire_model b(second, "b");
    REQUIRE(a.graph_count() == 3);
    stemma::detail::node_match match(a.node_count(), b.node_count());
    const auto partners = [&] {
        const stemma::detail::paired_graphs graphs(a, b, match);
        std::string text;
        graphs.for_each_result([&](stemma::id owner, stemma::id x, stemma::id y) {
            text.append(owner == stemma::no_id ? "" : std::to_string(owner) + ":");
            text.append(a.value_name(x)).append("=").append(b.value_name(y)).append(" ");
        });
        return text;
    };
    CHECK(partners() == "y=z ");
    for (stemma::id node = 0; node < a.node_count(); ++node) {
        match.add(node, node);
    }
    CHECK(partners() == "1:b=b f=f y=z ");
    CHECK(stemma::detail::paired_graphs(a, b, match)[0] == 0);
}

TEST_CASE("pair_interface: values correspond by name, others in their order") {
    CHECK(paired({"a", "b"}, {"a", "b"}) == "a=a b=b");
    CHECK(paired({"a", "b"}, {"b", "a"}) == "a=a b=b");
    CHECK(paired({"a", "b"}, {"c", "d"}) == "a=c b=d");
    CHECK(paired({"a", "b", "c"}, {"d", "a", "e"}) == "a=a b=d c=e");
    CHECK(paired({"a"}, {"b", "a"}) == "a=a");
    CHECK(paired({"a", "b"}, {"a"}) == "a=a");
    CHECK(paired({}, {"a"}).empty());
}

TEST_CASE("pair_interface: inputs that initializers provide do not count") {
    CHECK(paired({"w", "a"}, {"b", "w"}, {"w"}) == "a=b");
}

} // namespace test::compare_detail_paired_graphs
