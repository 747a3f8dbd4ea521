// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/inserted_nodes.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::record_detail_inserted_nodes {

using stemma::id;
using stemma::no_id;
using test::node;

namespace {

// The root, and a block of two.
const stemma::tree_index tree(std::vector<id>{no_id, 0, 1, 1});
constexpr id block = 1, first = 2, second = 3;

/// Returns: the modules of all nodes, given those of some.
std::vector<id> placed(const std::vector<test::message>& nodes, const std::vector<id>& given) {
    const test::built_model model(nodes, {"x"}, {"y"}, {"w"});
    std::vector<stemma::claim> claims;
    for (const auto module : given) {
        claims.push_back({module, no_id, 0.985F, stemma::provenance::recorded});
    }
    stemma::detail::place_inserted(model, stemma::detail::find_readers(model), tree, claims);
    std::vector<id> modules;
    for (std::size_t i = 0; i < claims.size(); ++i) {
        modules.push_back(claims[i].module);
        const bool added = given[i] == no_id && claims[i].module != no_id;
        CHECK((!added || claims[i].confidence < 0.985F));
    }
    return modules;
}

} // namespace

TEST_CASE("find_readers: lists the readers of each node") {
    const auto bytes =
        test::model(
            test::graph({node("Relu", {"x"}, {"a"}), node("Mul", {"a", "a"}, {"y"})}, {"x"}, {"y"}))
            .bytes();
    const auto readers = stemma::detail::find_readers(stemma::wire_model(bytes));
    CHECK(std::vector<id>(readers[0].begin(), readers[0].end()) == std::vector<id>{1, 1});
    CHECK(readers[1].empty());
}

TEST_CASE("place_inserted: conversions of layout follow the data") {
    CHECK(placed({node("Relu", {"x"}, {"a"}), node("ReorderInput", {"a"}, {"b"}),
                  node("Conv", {"b", "w"}, {"c"}), node("ReorderOutput", {"c"}, {"y"})},
                 {first, no_id, second, no_id}) == std::vector<id>{first, first, second, second});
    CHECK(placed({node("ReorderInput", {"x"}, {"a"}), node("Conv", {"a", "w"}, {"y"})},
                 {no_id, first}) == std::vector<id>{no_id, first});
}

TEST_CASE("place_inserted: a Gemm belongs to the Reshape that alone reads it") {
    CHECK(placed({node("Reshape", {"x", "w"}, {"a"}), node("Gemm", {"a", "w"}, {"b"}),
                  node("Reshape", {"b", "w"}, {"y"})},
                 {no_id, no_id, first}) == std::vector<id>{first, first, first});
    CHECK(placed({node("Gemm", {"x", "w"}, {"b"}), node("Reshape", {"b", "w"}, {"c"}),
                  node("Add", {"b", "c"}, {"y"})},
                 {no_id, first, second}) == std::vector<id>{no_id, first, second});
}

TEST_CASE("place_inserted: a Reshape belongs to the Gemm that alone reads it") {
    CHECK(placed({node("Reshape", {"x", "w"}, {"a"}), node("Gemm", {"a", "w"}, {"y"})},
                 {no_id, first}) == std::vector<id>{first, first});
    CHECK(placed({node("Reshape", {"x", "w"}, {"a"}), node("Gemm", {"a", "w"}, {"b"}),
                  node("Gemm", {"a", "w"}, {"y"})},
                 {no_id, first, first}) == std::vector<id>{no_id, first, first});
    CHECK(placed({node("Reshape", {"x", "w"}, {"a"}), node("Relu", {"a"}, {"y"})},
                 {no_id, first}) == std::vector<id>{no_id, first});
}

TEST_CASE("place_inserted: what was inlined belongs to the common ancestor of its readers") {
    const std::vector<test::message> nodes{
        node("Exp", {"x"}, {"_inlfunc_Mish_a"}), node("Tanh", {"_inlfunc_Mish_a"}, {"_inlfunc_b"}),
        node("Mul", {"x", "_inlfunc_b"}, {"c"}), node("Add", {"c", "_inlfunc_b"}, {"y"})};
    CHECK(placed(nodes, {no_id, no_id, first, first}) == std::vector<id>(4, first));
    CHECK(placed(nodes, {no_id, no_id, first, second}) ==
          std::vector<id>{block, block, first, second});
    // All of them must be known.
    CHECK(placed(nodes, {no_id, no_id, first, no_id}) ==
          std::vector<id>{no_id, no_id, first, no_id});
}

} // namespace test::record_detail_inserted_nodes
