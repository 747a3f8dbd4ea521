// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/stored_name.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

namespace test::model_detail_stored_name {

TEST_CASE("stored_name: the name in the file, where a view reports another one") {
    const test::built_model model(
        test::model(test::graph({test::node("Gemm", {"x", "enc_fc.weight"}, {"y"}, "enc_/fc/Gemm")},
                                {"x"}, {"y"}, {"enc_fc.weight"})));
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    CHECK(ops.name(0) == "/fc/Gemm");
    CHECK(stemma::detail::stored_name(ops, 0) == "enc_/fc/Gemm");
    CHECK(ops.parameter_name(0) == "fc.weight");
    CHECK(stemma::detail::stored_parameter_name(ops, 0) == "enc_fc.weight");
}

} // namespace test::model_detail_stored_name
