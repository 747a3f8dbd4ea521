// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/compare_tags.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../tagged_bytes.hpp"

#include <numeric>
#include <string>
#include <vector>

namespace test::compare_compare_tags {

namespace {

using stemma::id;

std::vector<id> each_itself(const test::tagged_model& model) {
    std::vector<id> nodes(model.model.node_count());
    std::iota(nodes.begin(), nodes.end(), id{0});
    return nodes;
}

std::size_t nodes_in(const stemma::tag_comparison& compared) {
    return std::accumulate(compared.moves.begin(), compared.moves.end(), compared.same,
                           [](std::size_t sum, const auto& move) { return sum + move.nodes; });
}

} // namespace

TEST_CASE("compare_tags: a model equals itself") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const test::tagged_model model(bytes);
    const auto compared = stemma::compare_tags(model.found, model.found, each_itself(model));
    CHECK(compared.is_equal());
    CHECK(compared.same == model.model.node_count());
    CHECK(compared.only_first == 0);
    CHECK(compared.only_second == 0);
}

TEST_CASE("compare_tags: every node is unchanged, moved, or unmatched") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const test::tagged_model rebuilt(bytes);
    const test::tagged_model captured(bytes, &tree);
    auto partners = each_itself(rebuilt);
    auto compared = stemma::compare_tags(rebuilt.found, captured.found, partners);
    CHECK_FALSE(compared.is_equal());
    CHECK(nodes_in(compared) == rebuilt.model.node_count());
    for (const auto& move : compared.moves) {
        CHECK(move.from != move.to);
        CHECK(rebuilt.found.tags.text(rebuilt.found.selected(move.example)) == move.from);
        CHECK(captured.found.tags.text(captured.found.selected(move.example)) == move.to);
    }
    partners[3] = stemma::no_id;
    compared = stemma::compare_tags(rebuilt.found, captured.found, partners);
    CHECK(compared.only_first == 1);
    CHECK(compared.only_second == 1);
    CHECK(nodes_in(compared) == rebuilt.model.node_count() - 1);
}

TEST_CASE("compare_tags: a node that moves is reported with both tags") {
    const auto bytes = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const test::tagged_model before(bytes, &tree);
    test::tagged_model after(bytes, &tree);
    // The only node of its tag goes to the module of its neighbour.
    std::vector<std::size_t> uses(after.modules.size());
    for (id v = 0; v < after.model.node_count(); ++v) {
        ++uses[after.found.selected(v)];
    }
    const id moved = 0;
    const auto tag = before.found.tags.text(before.found.selected(moved));
    id other = 1;
    while (before.found.selected(other) == before.found.selected(moved)) {
        ++other;
    }
    after.found.attributions[moved].module = after.found.attributions[other].module;
    const auto compared = stemma::compare_tags(before.found, after.found, each_itself(before));
    REQUIRE(compared.moves.size() == 1);
    CHECK(compared.moves[0].from == tag);
    CHECK(compared.moves[0].to == before.found.tags.text(before.found.selected(other)));
    CHECK(compared.moves[0].example == moved);
    CHECK(compared.vanished.size() == (uses[before.found.selected(moved)] == 1 ? 1U : 0U));
    CHECK(compared.appeared.empty());
}

TEST_CASE("compare_tags: nodes are matched by names that are unique in both models") {
    const auto named = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const auto folded = test::read_bytes(test::fixture("bert_micro/model.nofold.onnx"));
    const stemma::wire_model a(named);
    const stemma::wire_model b(folded);
    const auto partners = stemma::match_by_name(a, b);
    std::size_t matched = 0;
    for (id v = 0; v < partners.size(); ++v) {
        if (partners[v] != stemma::no_id) {
            CHECK(a.name(v) == b.name(partners[v]));
            ++matched;
        }
    }
    CHECK(matched > 0);
    const auto unnamed = test::read_bytes(test::fixture("bert_micro/unnamed.onnx"));
    for (auto partner : stemma::match_by_name(a, stemma::wire_model(unnamed))) {
        CHECK(partner == stemma::no_id);
    }
}

} // namespace test::compare_compare_tags
