// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/captures.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/error.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>

namespace test::capture_captures {

TEST_CASE("captures: are read when a model is opened; an empty list is none") {
    CHECK(stemma::captures({}).empty());
    const auto model = test::fixture("bert_micro/model.onnx");
    stemma::attribution_options options;
    options.captures = stemma::captures({"/no such file"});
    CHECK_THROWS_AS(stemma::attributed_model(model, options), stemma::error);
    options.set(stemma::captures(
        {test::fixture("bert_micro/modules.json"), test::fixture("bert_micro/trace.json")}));
    const stemma::attributed_model opened(model, options);
    CHECK_FALSE(opened.tree_from_model());
    CHECK(opened.capture_notes().empty());
    const auto read = options.captures.open();
    CHECK(read->has_operations());
    CHECK(read->modules().size() == opened.modules().size());
    CHECK_FALSE(read->is_foreign(opened.operators(), opened.modules()));
}

TEST_CASE("capture_bytes: are read as the file with these bytes") {
    const auto model = test::fixture("bert_micro/model.onnx");
    const auto path = test::fixture("bert_micro/modules.json");
    const auto bytes = test::read_bytes(path);
    const stemma::attributed_model of_file(model, {.captures = stemma::captures({path})});
    const stemma::attributed_model opened(model, {.captures = stemma::capture_bytes(bytes)});
    CHECK_FALSE(opened.tree_from_model());
    CHECK(opened.tags().attributions == of_file.tags().attributions);
    for (const std::string other : {"", "{", "{}"}) {
        const auto capture = stemma::capture_bytes(other, "made");
        CHECK_THROWS_WITH(stemma::attributed_model(model, {.captures = capture}),
                          Catch::Matchers::StartsWith("made: "));
    }
}

TEST_CASE("captures: a checkpoint of the same model identifies unnamed weights") {
    const auto weights = test::fixture("bert_micro/model.pt");
    stemma::attribution_options options;
    options.set(stemma::captures({weights}));
    const stemma::attributed_model opened(test::fixture("bert_micro/anonymous.onnx"), options);
    CHECK(opened.capture_notes().empty());
    REQUIRE(opened.captured().size() == 1);
    CHECK(opened.captured().front().source == stemma::provenance::contents);
    CHECK(opened.captured().front().count() > 200);
    // If names lead to modules, contents are not searched.
    const stemma::attributed_model named(test::fixture("bert_micro/unnamed.onnx"), options);
    CHECK(named.modules().size() == opened.modules().size());
    // Of another model.
    const stemma::attributed_model other(test::fixture("mlp/anonymous.onnx"), options);
    REQUIRE(other.capture_notes().size() == 1);
    CHECK(other.capture_notes().front().find("checkpoint: it contains none of the file's ") == 0);
    CHECK(other.captured().empty());

    stemma::attribution_options twice;
    twice.set(stemma::captures({weights, test::fixture("mlp/model.pt")}));
    CHECK_THROWS_AS(stemma::attributed_model(test::fixture("bert_micro/anonymous.onnx"), twice),
                    stemma::error);
}

} // namespace test::capture_captures
