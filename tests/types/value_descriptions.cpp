// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/value_descriptions.hpp>

#include "../built_model.hpp"
#include "../catch.hpp"
#include "../find_in_model.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <string>

namespace test::types_value_descriptions {

TEST_CASE("value_descriptions: knows declared, inferred and stored values",
          "[value_descriptions]") {
    const test::built_model model(
        test::model(test::graph({test::node("Relu", {"x"}, {"y"}),
                                 test::node("Mystery", {"y"}, {"z"}, "", "far")},
                                {"x"}, {}, {})
                        .inner(5, test::tensor("w", {2, 3}))));
    const stemma::value_descriptions describe(model);
    const auto text_of = [&](const char* name) {
        const auto value = describe(test::value_called(model, name));
        CHECK(value.name == name);
        return value.type_and_shape();
    };
    CHECK(text_of("x") == "float32[]");
    CHECK(text_of("y") == "float32[]");
    CHECK(text_of("z").empty());
    CHECK(text_of("w") == "float32[2,3]");
}

TEST_CASE("value_descriptions: most values of exported models have a shape",
          "[value_descriptions]") {
    for (const auto* name : {"bert_micro", "bert_mlm", "unet_tiny"}) {
        CAPTURE(name);
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        const stemma::wire_model model(bytes);
        const stemma::value_descriptions describe(model);
        std::size_t count = 0;
        for (stemma::id value = 0; value < model.value_count(); ++value) {
            count += describe(value).shape.empty() ? 0U : 1U;
        }
        CHECK(count * 10 > model.value_count() * 9U);
    }
}

} // namespace test::types_value_descriptions
