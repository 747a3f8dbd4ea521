// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/profile.hpp>

#include "../catch.hpp"

namespace test::cost_profile {

TEST_CASE("profile: dropped runs leave nothing behind", "[cost][profile]") {
    stemma::profile all;
    for (int run = 0; run < 3; ++run) {
        all.add({.name = "a", .microseconds = 7});
        all.add({.name = run == 0 ? "warm" : "b", .microseconds = 1});
        all.end_run();
        all.end_run(); // nothing was measured: no run
    }
    CHECK(all.runs() == 3);
    all.drop_runs(1);
    CHECK(all.runs() == 2);
    CHECK(all.total() == 16);
    CHECK(all.kernels()[0].calls == 2);
    CHECK(all.kernels()[1].calls == 0);
    stemma::profile both;
    both.append(all);
    both.append(all);
    CHECK(both.runs() == 4);
    CHECK(both.total() == 32);
    CHECK(both.dropped() == 2);
}

TEST_CASE("profile: a kernel has entries only for runs in which it ran", "[cost][profile]") {
    stemma::profile all;
    for (int run = 0; run < 5; ++run) {
        all.add({.name = run % 2 == 0 ? "even" : "odd", .microseconds = 1});
        all.add({.name = run % 2 == 0 ? "even" : "odd", .microseconds = 2});
        all.end_run();
    }
    all.drop_runs(1);
    REQUIRE(all.kernels()[0].runs.size() == 2);
    CHECK(all.kernels()[0].runs[0].run == 1);
    CHECK(all.kernels()[0].runs[1].run == 3);
    CHECK(all.kernels()[0].runs[1].microseconds == 3);
    CHECK(all.kernels()[0].runs[1].calls == 2);
    CHECK(all.kernels()[1].runs.size() == 2);
}

TEST_CASE("profile: providers distinguish kernels of one name", "[cost][profile]") {
    stemma::profile all;
    all.add({.name = "a", .provider = "CPU", .microseconds = 1});
    all.add({.name = "a", .provider = "GPU", .microseconds = 2});
    CHECK(all.kernels().size() == 2);
    CHECK(all.total() == 3);
    CHECK(all.runs() == 1);
}

} // namespace test::cost_profile
