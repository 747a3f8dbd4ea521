// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/stated_module.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

namespace test::model_detail_stated_module {

TEST_CASE("stated_module: nothing is stated unless said otherwise") {
    const stemma::detail::stated_module unknown;
    CHECK(unknown.module == stemma::no_id);
    CHECK(unknown.confidence == 0);
    CHECK_FALSE(unknown.settled);
}

} // namespace test::model_detail_stated_module
