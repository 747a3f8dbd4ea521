// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/profile_report.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../written_text.hpp"

#include <string>

namespace test::cost_profile_report {

using stemma::no_id;

TEST_CASE("compare_times: pairs modules by path, with times per run", "[profile]") {
    const stemma::attributed_model mlp(test::fixture("mlp/model.onnx"), {});
    const stemma::attributed_model other(test::fixture("two_tower/model.onnx"), {});
    stemma::profile one;
    stemma::profile two;
    for (const double time : {30.0, 10.0}) { // a mean of 20
        one.add({"/fc1/Gemm", "", "", time});
        one.end_run();
    }
    two.add({"/fc1/Gemm", "", "", 50});
    two.add({"elsewhere", "", "", 7});
    const stemma::module_times first(one, mlp);
    const stemma::module_times second(two, mlp);
    const auto pairs = stemma::compare_times(first, second);
    REQUIRE(pairs.size() == 2); // the root and fc1
    CHECK(pairs[0].before == 20);
    CHECK(pairs[0].after == 50);
    CHECK(pairs[1].first == pairs[1].second);
    CHECK(mlp.modules().path(pairs[1].first) == "fc1");
    CHECK(test::csv_of(first, second) ==
          "module,class,first_us,second_us,difference_us,first_own_us,second_own_us\n"
          ",,20,50,30,0,0\nfc1,,20,50,30,20,50\n(unmatched),,0,7,7,0,7\n");

    stemma::profile three;
    three.add({other.model().name(0), "", "", 5});
    const auto apart = stemma::compare_times(first, stemma::module_times(three, other));
    CHECK(apart.size() > 2);
    CHECK(apart[1].second == no_id);
    CHECK(apart.back().first == no_id);
    CHECK(apart.back().after == 5);
}

} // namespace test::cost_profile_report
