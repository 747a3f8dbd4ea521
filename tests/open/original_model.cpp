// SPDX-License-Identifier: Apache-2.0
#include <stemma/open/original_model.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace test::open_original_model {

using stemma::attributed_model;
using stemma::id;

namespace {

/// As docs/carry.md shows it.
[[maybe_unused]] void carry_over() {
    auto original =
        std::make_shared<stemma::attributed_model>("model.onnx", stemma::attribution_options{});
    auto changed = stemma::carry_tags(original, "optimized.onnx");
    stemma::write_tagged(*changed, "tagged.onnx");
}

} // namespace

TEST_CASE("carry_tags: a model carried to itself has its own modules, and refers to its own nodes",
          "[carry]") {
    const auto path = test::fixture("shared_twice/model.onnx");
    const auto original = std::make_shared<attributed_model>(path, stemma::attribution_options{});
    const auto carried = stemma::carry_tags(original, path);
    for (id node = 0; node < original->model().node_count(); ++node) {
        CAPTURE(node);
        CHECK(carried->tags().attributions[node].module ==
              original->tags().attributions[node].module);
        CHECK(carried->tags().origins.of(node).size() >= 1);
    }
}

TEST_CASE("carry_tags: output round-trips, and refers to the first original", "[carry]") {
    const auto path = test::fixture("mlp/model.onnx");
    const test::scratch_folder folder;
    const auto first = folder.file("first.onnx");
    const auto original = std::make_shared<attributed_model>(path, stemma::attribution_options{});
    auto carried = stemma::carry_tags(original, path);
    stemma::write_tagged(*carried, first);
    const auto again = std::make_shared<attributed_model>(first, stemma::attribution_options{});
    const auto twice = stemma::carry_tags(again, path);
    for (id node = 0; node < original->model().node_count(); ++node) {
        for (const auto* one : {carried.get(), again.get(), twice.get()}) {
            const auto& origins = one->tags().origins;
            REQUIRE(origins.of(node).size() == 1);
            const auto origin = origins[origins.of(node)[0]];
            CHECK(origin.position == original->model().position(node));
            CHECK(origin.name == original->model().name(node));
            CHECK(one->tags().attributions[node].module ==
                  original->tags().attributions[node].module);
        }
    }
}

TEST_CASE("carry_tags: a node keeps its only tag, even if that is not its module's", "[carry]") {
    const auto path = test::fixture("control_flow/model.onnx");
    const test::scratch_folder folder;
    const auto first = folder.file("first.onnx");
    const auto original = std::make_shared<attributed_model>(path, stemma::attribution_options{});
    auto carried = stemma::carry_tags(original, path);
    stemma::write_tagged(*carried, first);
    const auto again = std::make_shared<attributed_model>(first, stemma::attribution_options{});
    const auto twice = stemma::carry_tags(again, path);
    const auto tags_of = [](const attributed_model& model, id node) {
        std::vector<std::string> texts;
        const auto& tagged = model.tags();
        tagged.pool.for_each(tagged.tag_sets[node],
                             [&](id m) { texts.push_back(std::string(tagged.tags.text(m))); });
        return texts;
    };
    std::size_t elsewhere = 0;
    for (id node = 0; node < original->model().node_count(); ++node) {
        CAPTURE(node);
        const auto tags = tags_of(*original, node);
        const auto& tagged = original->tags();
        elsewhere += tags.size() == 1 && tagged.tag_sets[node] != tagged.selected(node) ? 1U : 0U;
        for (const auto* one : {carried.get(), again.get(), twice.get()}) {
            CHECK(tags_of(*one, node) == tags);
        }
    }
    CHECK(elsewhere > 0);
}

TEST_CASE("carry_tags: rejects the original of another model", "[carry]") {
    const auto other = std::make_shared<stemma::attributed_model>(test::fixture("mlp/model.onnx"),
                                                                  stemma::attribution_options{});
    CHECK_THROWS_WITH(stemma::carry_tags(other, test::fixture("bert_micro/model.onnx")),
                      Catch::Contains("mlp/model.onnx: is not the original of this model"));
}

TEST_CASE("captures_or_original: reports a model unrelated to the original", "[carry]") {
    stemma::attribution_options options;
    options.captures = stemma::captures_or_original({test::fixture("lstm_classifier/model.onnx")});
    const attributed_model opened(test::fixture("mlp/model.onnx"), options);
    CHECK(opened.capture_notes().size() == 1);
    CHECK(opened.tags().origins.empty());
    const auto mlp = test::fixture("mlp/model.onnx");
    options.captures = stemma::captures_or_original({mlp, mlp});
    CHECK_THROWS_AS(attributed_model(mlp, options), stemma::error);
}

} // namespace test::open_original_model
