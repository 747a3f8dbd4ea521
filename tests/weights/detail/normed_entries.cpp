// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/normed_entries.hpp>

#include "../../catch.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>

#include <string>
#include <vector>

namespace test::weights_detail_normed_entries {

using namespace stemma::detail;

TEST_CASE("normed_entries: a parametrization belongs to the module that has it") {
    CHECK(normed_entries::module_of("a.b.parametrizations.weight") == "a.b");
    CHECK(normed_entries::module_of("parametrizations.weight").empty());
    CHECK(normed_entries::module_of("a.b") == "a.b");
    CHECK(normed_entries::module_of("").empty());
}

TEST_CASE("normed_entries: a computed weight, and no other, has directions and lengths") {
    const auto data = std::string(STEMMA_TEST_DATA "/weights/normed");
    const stemma::attributed_model opened(data + ".onnx", {});
    const auto saved = stemma::read_checkpoint(data + ".pt");
    weight_search search(opened, state_entries(saved, opened.modules()));
    const normed_entries normed(search);
    for (stemma::id t = 0; t < search.origins.size(); ++t) {
        const auto offered = normed.candidates(t);
        const bool computed = search.name(t) == "onnx::Conv_14";
        REQUIRE(offered.size() == (computed ? 1U : 0U));
        CHECK((!computed || offered.front().first.entries ==
                                std::vector<std::string>{"0.weight_v", "0.weight_g"}));
    }
    normed_entries(search).find_declared();
    for (const auto& origin : search.origins) {
        const bool computed = search.name(origin.tensor) == "onnx::Conv_14";
        CHECK((origin.transform == stemma::parameter_origin::transform_kind::normed) == computed);
    }
}

} // namespace test::weights_detail_normed_entries
