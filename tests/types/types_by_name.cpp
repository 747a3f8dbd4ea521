// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/types_by_name.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <string>

namespace test::types_types_by_name {

TEST_CASE("types_by_name: values get their types by graph and name") {
    const auto bytes = test::read_bytes(test::fixture("control_flow/model.onnx"));
    const stemma::wire_model model(bytes, "model");
    const stemma::value_types declared(model);
    stemma::value_types types(model);
    stemma::types_by_name by_name(model, types);
    const std::string scalar("\x0a\x04\x08\x01\x12\x00", 6); // of a tensor of floats
    std::size_t number = 0; // among the graphs that are no functions
    std::size_t added = 0;
    for (stemma::id g = 0; g < model.graph_count(); ++g) {
        if (model.graph(g).kind == stemma::graph_kind::function) {
            continue;
        }
        for (stemma::id value = 0; value < model.value_count(); ++value) {
            if (model.graph_of_value(value) == g && !model.value_name(value).empty() &&
                !declared.has_type(value)) {
                by_name.add(number, model.value_name(value), scalar);
                CHECK(types.has_type(value));
                ++added;
            }
        }
        ++number;
    }
    CHECK(added > 0);
    by_name.add(number, "anything", scalar); // no such graph
    by_name.add(0, "no such value", scalar);
}

TEST_CASE("types_by_name: the model to infer declares what is known without the library") {
    const auto bytes = test::read_bytes(test::fixture("control_flow/model.onnx"));
    const stemma::wire_model model(bytes, "model");
    stemma::value_types types(model);
    const auto handed = stemma::model_to_infer(model, types);
    const stemma::wire_model read(handed, "handed");
    const stemma::value_types declared(read);
    REQUIRE(read.value_count() == model.value_count());
    std::size_t inferred = 0;
    for (stemma::id value = 0; value < model.value_count(); ++value) {
        if (model.producer(value) != stemma::no_id && model.graph_of_value(value) == 0 &&
            types.has_type(value)) {
            CHECK(declared.has_type(value));
            ++inferred;
        }
    }
    CHECK(inferred > 0);
}

} // namespace test::types_types_by_name
