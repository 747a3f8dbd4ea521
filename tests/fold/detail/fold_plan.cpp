// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_plan.hpp>

#include "../../catch.hpp"

namespace test::fold_detail_fold_plan {

TEST_CASE("planned_function: a number distinguishes bodies of the same name") {
    stemma::detail::planned_function function{"net", "Layer"};
    CHECK(function.numbered() == "Layer");
    function.number = 12;
    CHECK(function.numbered() == "Layer.12");
}

} // namespace test::fold_detail_fold_plan
