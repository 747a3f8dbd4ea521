// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/sketch_types.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <vector>

namespace test::record_detail_sketch_types {

TEST_CASE("sketch_types: a function that nobody calls any more was inlined") {
    const auto typed = [](const char* type, const char* domain, const char* result) {
        return test::node(type, {"x"}, {result}, result, domain);
    };
    const auto graph = [](const std::vector<test::message>& nodes) {
        return test::model(test::graph(nodes, {"x"}, {"y"})).bytes();
    };
    const auto before = graph({typed("Layer", "pkg.app", "a"), typed("Gelu", "com.microsoft", "b"),
                               test::node("Relu", {"x"}, {"y"}, "y")});
    const auto after =
        graph({test::node("Mul", {"x"}, {"a"}, "a"), typed("Gelu", "com.microsoft", "b"),
               test::node("Relu", {"x"}, {"y"}, "y")});
    const stemma::wire_model then(before);
    const stemma::wire_model now(after);
    stemma::attribution root;
    root.module = 0;
    const std::vector<stemma::attribution> of(then.node_count(), root);
    const auto sketch = stemma::detail::read_sketch(
        stemma::detail::to_json(stemma::detail::sketch_of(then, of)), 1);
    REQUIRE(sketch);
    const stemma::detail::sketch_types types(now, *sketch);
    CHECK(types.is_gone(0));
    CHECK_FALSE(types.is_gone(2));
    CHECK(types.is_gone_call(0));
    CHECK_FALSE(types.is_gone_call(1));
    CHECK_FALSE(types.is_gone_call(2));
    CHECK(types.is_new(0));
    CHECK_FALSE(types.is_new(1));
    CHECK(types.are_same(1, 1));
    CHECK(types.are_same(2, 2));
    CHECK_FALSE(types.are_same(0, 0));
    CHECK(types.is_part(1, 1));
    CHECK_FALSE(types.is_part(1, 2));
    CHECK(types.are_kept([](stemma::id node) { return node; }));
    CHECK_FALSE(types.are_kept([](stemma::id node) { return 3 - node; }));
    CHECK(types.are_kept([](stemma::id) { return stemma::no_id; }));
}

} // namespace test::record_detail_sketch_types
