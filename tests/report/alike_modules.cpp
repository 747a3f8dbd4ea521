// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/alike_modules.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>
#include <vector>

namespace test::report_alike_modules {

namespace {

using stemma::id;

stemma::attributed_model open_model(const std::string& fixture) {
    return {
        test::fixture(fixture + (fixture == "resnet18" ? "/model.structure.onnx" : "/model.onnx")),
        {.captures = stemma::captures({test::fixture(fixture + "/modules.json")})}};
}

std::vector<std::string> like(const stemma::attributed_model& opened, const std::string& path) {
    stemma::alike_modules alike(opened.model(), opened.modules(), opened.tags().attributions);
    const auto m =
        stemma::find_module(stemma::module_lookup<stemma::module_tree>(opened.modules()), path);
    std::vector<std::string> paths;
    for (auto other : alike.like(m)) {
        paths.push_back(opened.modules().path(other));
    }
    return paths;
}

} // namespace

TEST_CASE("alike_modules: layers of a transformer are alike, down to what they hold") {
    const auto opened = open_model("bert_micro");
    CHECK(like(opened, "encoder.layer.0") == std::vector<std::string>{"encoder.layer.1"});
    CHECK(like(opened, "encoder.layer.0.attention.self") ==
          std::vector<std::string>{"encoder.layer.1.attention.self"});
    CHECK(like(opened, "encoder").empty());
}

TEST_CASE("alike_modules: attributes and shapes of weights tell blocks apart") {
    const auto opened = open_model("resnet18");
    // The first block of a stage halves the picture and doubles the channels.
    CHECK(like(opened, "layer1.0") == std::vector<std::string>{"layer1.1"});
    CHECK(like(opened, "layer2.0").empty());
    CHECK(like(opened, "layer2.1").empty());
}

TEST_CASE("alike_modules: being alike goes both ways") {
    const auto opened = open_model("bert_micro");
    stemma::alike_modules alike(opened.model(), opened.modules(), opened.tags().attributions);
    for (id a = 0; a < opened.modules().size(); ++a) {
        CHECK(alike(a, a));
        for (auto b : alike.like(a)) {
            CHECK(alike(b, a));
        }
    }
}

} // namespace test::report_alike_modules
