// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/compare_models.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../opened_graph.hpp"
#include "../tagged_bytes.hpp"
#include "../wire_builder.hpp"
#include "../written_text.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace test::compare_compare_models {

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

TEST_CASE("compare_models: a model is equal to itself") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const auto comparison = stemma::compare_models(opened, opened);
    CHECK(comparison.is_equal());
    CHECK(!comparison.structure);
    CHECK(comparison.renamed_nodes == 0);
    CHECK(comparison.same_initializers > 0);
    REQUIRE(comparison.tags);
    CHECK(comparison.tags->same == opened.model().node_count());
    const auto json = test::json_of(comparison, opened, opened);
    CHECK(json["schema"] == "stemma.compare/1");
    CHECK(json["equal"] == true);
    CHECK(json["structure"]["difference"].is_null());
}

TEST_CASE("compare_models: reports differences in all requested parts") {
    const stemma::attributed_model a(test::fixture("bert_micro/model.onnx"), {});
    const stemma::attributed_model b(test::fixture("bert_micro_12l/model.onnx"), {});
    const auto all = stemma::compare_models(a, b);
    CHECK(!all.is_equal());
    CHECK(all.structure);
    CHECK(!all.initializers.empty());
    REQUIRE(all.tags);
    CHECK(!all.tags->is_equal());
    const auto tags = stemma::compare_models(a, b, {false, false, true});
    CHECK(!tags.structure);
    CHECK(tags.initializers.empty());
    CHECK(tags.tags->same == all.tags->same);
    const auto json = test::json_of(tags, a, b);
    CHECK(!json.contains("structure"));
    CHECK(!json.contains("initializers"));
    CHECK(json["tags"]["appeared"].size() == all.tags->appeared.size());
    CHECK(json["second"] == b.model().file());
}

TEST_CASE("compare_models: another operator set is a difference of the structure only") {
    const auto opened = [](std::uint64_t opset) {
        return test::in_memory(
            test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "/a/Relu")}, {"x"}, {"y"}), 8,
                        opset)
                .bytes());
    };
    const auto comparison = stemma::compare_models(opened(17), opened(18));
    REQUIRE(comparison.structure);
    CHECK(comparison.structure->first == stemma::no_id);
    CHECK(!comparison.is_equal());
    CHECK(comparison.tags->is_equal());
    CHECK(stemma::compare_models(opened(17), opened(17)).is_equal());
}

namespace {

std::string bytes_of(std::uint64_t opset, unsigned element_type) {
    const auto tensor = test::message().number(1, element_type).inner(2, test::message());
    const auto input = test::message().text(1, "x").inner(2, test::message().inner(1, tensor));
    return test::model(test::graph({test::node("Relu", {"x"}, {"y"})}, {}, {"y"}).inner(11, input),
                       8, opset)
        .bytes();
}

std::string difference_of(const std::string& first, const std::string& second) {
    const stemma::wire_model a(first, "a");
    const stemma::wire_model b(second, "b");
    const auto difference = stemma::detail::compare_declarations(a, b);
    return difference ? difference->text : "";
}

} // namespace

TEST_CASE("compare_declarations: operator sets, types of inputs") {
    CHECK(difference_of(bytes_of(17, 1), bytes_of(17, 1)).empty());
    CHECK(difference_of(bytes_of(17, 1), bytes_of(18, 1)) ==
          "uses opset ai.onnx 17, the other one 18");
    CHECK(difference_of(bytes_of(17, 1), bytes_of(17, 10)) ==
          "declares input x as float32[], the other one as float16[]");
}

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

} // namespace test::compare_compare_models
