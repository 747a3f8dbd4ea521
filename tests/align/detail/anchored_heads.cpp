// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/anchored_heads.hpp>

#include "../../catch.hpp"
#include "../../comparable_scene.hpp"

#include <stemma/align/detail/known_values.hpp>
#include <stemma/align/detail/type_pairs.hpp>
#include <stemma/align/rewritten_operators.hpp>
#include <stemma/core/detail/grouped_ids.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::align_detail_anchored_heads {

using stemma::id;
using stemma::no_id;

namespace {

/// What the operators of a changed graph lead with, by the stored values that both graphs have.
std::vector<id> heads_of(const comparable_scene& before, const comparable_scene& after,
                         const std::vector<std::string>& stored, std::size_t most = 8) {
    const stemma::detail::type_pairs types(before.graph, after.graph,
                                           stemma::rewritten_operators{});
    const auto before_readers = stemma::detail::readers_in(before.graph);
    const auto after_readers = stemma::detail::readers_in(after.graph);
    std::vector<id> values(after.graph.value_count(), no_id);
    for (id v = 0; v < values.size(); ++v) {
        if (after.graph.role(v) == stemma::comparable_graph::value_role::given) {
            values[v] = before.value(std::string(after.graph.value_name(v)));
        }
    }
    stemma::detail::anchored_heads heads(before.graph, after.graph, types, before_readers,
                                         after_readers, values);
    for (const auto& name : stored) {
        heads.add(after.value(name), before.value(name), most);
    }
    std::vector<id> result;
    for (id op = 0; op < after.graph.operator_count(); ++op) {
        result.push_back(heads.of(op));
    }
    return result;
}

comparable_scene two_products() {
    comparable_scene scene({"x"});
    scene.add("MatMul", {"x", "w1"}, "a").add("Add", {"a", "w2"}, "b");
    scene.add("MatMul", {"b", "w1"}, "c").add("Add", {"c", "w3"}, "d");
    return scene;
}

} // namespace

TEST_CASE("anchored_heads: an operator leads with the one that it may be and that reads the same") {
    comparable_scene after({"x"});
    after.add("Relu", {"x"}, "a").add("Gemm", {"a", "w1", "w2"}, "b");
    comparable_scene before({"x"});
    before.add("MatMul", {"x", "w1"}, "a").add("Add", {"a", "w2"}, "b");
    CHECK(heads_of(before, after, {"w1", "w2"}) == std::vector<id>{no_id, 0});
    CHECK(heads_of(before, after, {"w2"}) == std::vector<id>{no_id, no_id}); // only part of it
}

TEST_CASE("anchored_heads: readers of a shared value are paired in order, up to a number") {
    const auto before = two_products();
    comparable_scene after({"x"});
    after.add("Gemm", {"x", "w1", "w2"}, "a").add("Gemm", {"a", "w1", "w3"}, "b");
    CHECK(heads_of(before, after, {"w1"}) == std::vector<id>{0, 2});
    CHECK(heads_of(before, after, {"w1"}, 1) == std::vector<id>{no_id, no_id});
}

TEST_CASE("anchored_heads: readers of a shared value are paired by the input they depend on") {
    comparable_scene before({"x", "y"});
    before.add("Relu", {"x"}, "a").add("MatMul", {"a", "w1"}, "b").add("MatMul", {"b", "w1"}, "c");
    before.add("Relu", {"y"}, "d").add("MatMul", {"d", "w1"}, "e").add("MatMul", {"e", "w1"}, "f");
    comparable_scene after({"x", "y"});
    after.add("Abs", {"y"}, "g").add("MatMul", {"g", "w1"}, "h").add("Abs", {"x"}, "i");
    after.add("MatMul", {"i", "w1"}, "j").add("MatMul", {"j", "w1"}, "k");
    after.add("MatMul", {"h", "w1"}, "l");
    CHECK(heads_of(before, after, {"w1"}) == std::vector<id>{no_id, 4, no_id, 1, 2, 5});
    CHECK(heads_of(before, after, {"w1"}, 1) == std::vector<id>(6, no_id)); // two of each
    // One that depends on another input now: in order.
    comparable_scene other({"x", "y"});
    other.add("MatMul", {"y", "w1"}, "g").add("MatMul", {"x", "w1"}, "h");
    other.add("MatMul", {"h", "w1"}, "i").add("MatMul", {"i", "w1"}, "j");
    CHECK(heads_of(before, other, {"w1"}) == std::vector<id>{1, 2, 4, 5});
}

TEST_CASE("anchored_heads: any number of readers is paired if each depends on another input") {
    comparable_scene before({"x", "y"});
    before.add("MatMul", {"x", "w1"}, "a").add("MatMul", {"y", "w1"}, "b");
    comparable_scene after({"x", "y"});
    after.add("Gemm", {"y", "w1"}, "1").add("Gemm", {"x", "w1"}, "2");
    CHECK(heads_of(before, after, {"w1"}, 1) == std::vector<id>{1, 0});
}

TEST_CASE("anchored_heads: with fewer readers than there were, none is paired") {
    comparable_scene after({"x"});
    after.add("Gemm", {"x", "w1", "w2"}, "a");
    CHECK(heads_of(two_products(), after, {"w1"}) == std::vector<id>{no_id});
}

TEST_CASE("anchored_heads: an operator that leads with two leads with none") {
    comparable_scene before({"x"});
    before.add("MatMul", {"x", "w1"}, "a").add("MatMul", {"a", "w2"}, "b");
    comparable_scene after({"x"});
    after.add("Gemm", {"w1", "w2"}, "a");
    CHECK(heads_of(before, after, {"w1"}) == std::vector<id>{0});
    CHECK(heads_of(before, after, {"w1", "w2"}) == std::vector<id>{no_id});
}

} // namespace test::align_detail_anchored_heads
