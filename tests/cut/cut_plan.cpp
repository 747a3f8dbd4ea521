// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/cut_plan.hpp>

#include "../catch.hpp"

#include <set>
#include <string_view>

namespace test::cut_cut_plan {

TEST_CASE("to_string: every refusal has a unique name", "[onnx][cut_plan]") {
    using r = stemma::cut_refusal;
    std::set<std::string_view> names;
    for (auto refusal :
         {r::non_convex, r::unknown_type, r::function_body, r::no_output, r::redefined, r::cycle}) {
        CHECK_FALSE(stemma::to_string(refusal).empty());
        CHECK(names.insert(stemma::to_string(refusal)).second);
    }
    CHECK(stemma::to_string(r::none).empty());
}

} // namespace test::cut_cut_plan
