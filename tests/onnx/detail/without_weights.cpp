// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/without_weights.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/compare/detail/compare_structure.hpp>
#include <stemma/onnx/tensor_header.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstddef>
#include <cstdint>

namespace test::onnx_detail_without_weights {

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

} // namespace test::onnx_detail_without_weights
