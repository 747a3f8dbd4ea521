// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/captures.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/error.hpp>
#include <stemma/open/attributed_model.hpp>

namespace test::capture_captures {

TEST_CASE("captures: are read when a model is attributed, and none is none", "[captures]") {
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

} // namespace test::capture_captures
