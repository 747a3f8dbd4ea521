// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/compare_models.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace test::compare_compare_models {

namespace {

nlohmann::json written(const stemma::model_comparison& comparison,
                       const stemma::attributed_model& a, const stemma::attributed_model& b) {
    stemma::string_sink sink;
    stemma::write_json(sink, comparison, a, b);
    return nlohmann::json::parse(sink.text);
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
    const auto json = written(comparison, opened, opened);
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
    const auto json = written(tags, a, b);
    CHECK(!json.contains("structure"));
    CHECK(!json.contains("initializers"));
    CHECK(json["tags"]["appeared"].size() == all.tags->appeared.size());
    CHECK(json["second"] == b.model().file());
}

TEST_CASE("compare_models: another operator set is a difference of the structure only") {
    const auto opened = [](std::uint64_t opset) {
        auto bytes =
            test::model(test::graph({test::node("Relu", {"x"}, {"y"}, "/a/Relu")}, {"x"}, {"y"}), 8,
                        opset)
                .bytes();
        return stemma::attributed_model(stemma::mapped_file::holding(std::move(bytes), "memory"),
                                        {});
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

} // namespace test::compare_compare_models
