// SPDX-License-Identifier: Apache-2.0
#include <stemma/op_is.hpp>

#include "catch.hpp"
#include "model_files.hpp"

#include <stemma/stemma.hpp>

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/range/primitives.hpp>
#include <range/v3/view/filter.hpp>

namespace test::op_is {

TEST_CASE("op_is: selects by operator and domain") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    CHECK(ranges::count_if(model.nodes(), stemma::op_is("Softmax")) == 2);
    CHECK(ranges::count_if(model.nodes(), stemma::op_is("Softmax", "com.microsoft")) == 0);
    CHECK(ranges::count_if(model.nodes(), stemma::op_is("softmax")) == 0);
}

TEST_CASE("is_in: selects nodes in a module or its descendants") {
    const auto model = stemma::open(fixture("bert_micro/model.onnx"));
    const auto layer = model.find_module("encoder.layer.1").value();
    auto inside = model.nodes() | ranges::views::filter(stemma::is_in(layer));
    CHECK(ranges::distance(inside) == ranges::distance(layer.nodes()));
    CHECK(ranges::all_of(model.nodes(), stemma::is_in(model.root())));
}

} // namespace test::op_is
