// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/write_parameters.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../written_text.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/weights/identify_parameters.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace test::weights_write_parameters {

TEST_CASE("write_json: JSON has every initializer") {
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    const auto origins = stemma::identify_parameters(opened);
    const auto json = test::json_of(origins, opened);
    CHECK(json["initializers"].size() == origins.size());
    CHECK(json["initializers"][0]["entries"] == nlohmann::json::array({"fc1.weight"}));
    CHECK_FALSE(json.contains("unused"));
    const auto texts = stemma::parameter_texts(origins);
    REQUIRE(texts.size() == origins.size());
    CHECK(nlohmann::json::parse(texts[0])["transform"] == "as is");
}

TEST_CASE("write_json: entries without initializer are unused, except counters") {
    const auto checkpoint = stemma::read_checkpoint(test::fixture("mlp/model.pt"));
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    auto origins = stemma::identify_parameters(opened, {.known = &checkpoint});
    CHECK(stemma::unused_entries(checkpoint, origins).empty());
    origins.erase(origins.begin());
    CHECK(stemma::unused_entries(checkpoint, origins) == std::vector<std::string>{"fc1.weight"});
    CHECK(test::json_of(origins, opened, &checkpoint)["unused"].size() == 1);
}

} // namespace test::weights_write_parameters
