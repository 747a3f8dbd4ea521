// SPDX-License-Identifier: Apache-2.0
#include <stemma/types/types_by_name.hpp>

#include "../catch.hpp"
#include "../inferred_types.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <stemma/compare/detail/compare_structure.hpp>
#include <stemma/core/id.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <cstddef>
#include <cstdint>
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
    const auto handed = stemma::types_by_name(model, types).model_to_infer();
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

TEST_CASE("declare_types: types that were added are in the file, others as before", "[detail]") {
    auto graph = test::graph({test::node("Relu", {"x"}, {"a"}), test::node("Abs", {"a"}, {"b"}),
                              test::node("Unknown", {"b"}, {"c"}, "", "own"),
                              test::node("Neg", {"b"}, {"y"})},
                             {}, {"y"});
    graph.inner(11, test::typed_value("x", {2, 3})).inner(13, test::typed_value("b", {2, 3}));
    const auto bytes = test::model(graph).bytes();
    const stemma::wire_model model(bytes);
    stemma::value_types types(model);
    CHECK(stemma::detail::declare_types(model, types).empty());
    stemma::detail::infer_shapes(model, types);
    const auto more = bytes + stemma::detail::declare_types(model, types);
    const stemma::wire_model declared(more);
    const stemma::value_types read(declared);
    std::string names;
    for (const auto& info : declared.value_infos()) {
        if (info.value != stemma::no_id && declared.producer(info.value) != stemma::no_id &&
            declared.value_name(info.value) != "y" && read.type_of(info.value)) {
            names.append(declared.value_name(info.value)).append(" ");
            CHECK(to_text(stemma::detail::describe_type(*read.type_of(info.value))) ==
                  "float32[2,3]");
        }
    }
    CHECK(names == "b a ");
}

TEST_CASE("without_weights: keeps structure, types and shapes, drops large data") {
    const auto source = test::read_bytes(test::fixture("bert_micro/model.onnx"));
    const stemma::wire_model model(source, "model");
    constexpr std::uint32_t most = 64;
    const auto light = stemma::detail::without_weights(model, most);
    const stemma::wire_model without(light, "light");
    CHECK(light.size() < source.size() / 2);
    CHECK(stemma::detail::without_weights(model).size() < source.size());
    CHECK(!stemma::detail::compare_structure(model, without).difference);
    REQUIRE(without.tensors().size() == model.tensors().size());
    for (std::size_t i = 0; i < model.tensors().size(); ++i) {
        const auto whole = stemma::read_tensor_header(model, model.tensors()[i]);
        const auto header = stemma::read_tensor_header(without, without.tensors()[i]);
        CHECK(header.data_type == whole.data_type);
        CHECK(header.dims == whole.dims);
        CHECK(without.tensors()[i].message.size <= model.tensors()[i].message.size);
        CHECK(without.tensors()[i].message.size < most + 400); // with name, type and shape
    }
}

TEST_CASE("without_weights: keeps small data byte for byte") {
    const auto source = test::read_bytes(test::fixture("mlp/model.onnx"));
    const stemma::wire_model model(source, "model");
    CHECK(stemma::detail::without_weights(model, 1U << 30U) == source);
}

} // namespace test::types_types_by_name
