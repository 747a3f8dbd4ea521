// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/data_placement.hpp>

#include "../catch.hpp"

namespace test::onnx_data_placement {

using stemma::data_placement;

TEST_CASE("data_placement: accepts the three words and no others") {
    CHECK(stemma::parse_name<stemma::data_placement>("keep") == data_placement::keep);
    CHECK(stemma::parse_name<stemma::data_placement>("link") == data_placement::link);
    CHECK(stemma::parse_name<stemma::data_placement>("copy") == data_placement::copy);
    CHECK_FALSE(stemma::parse_name<stemma::data_placement>("move"));
    CHECK_FALSE(stemma::parse_name<stemma::data_placement>(""));
}

} // namespace test::onnx_data_placement
