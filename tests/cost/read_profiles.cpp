// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/read_profiles.hpp>

#include "../catch.hpp"
#include "../scratch_folder.hpp"

#include <string>
#include <vector>

namespace test::cost_read_profiles {

TEST_CASE("read_profiles: merges runs of several files, without warm-up", "[profile]") {
    const test::scratch_folder folder;
    const auto path = folder.make("times.csv", "run,name,time\n1,a,9\n2,a,2\n3,a,4\n");
    const std::vector<std::string> paths{path, path};
    const auto all = stemma::read_profiles(paths);
    CHECK(all.runs() == 4);
    CHECK(all.dropped() == 2);
    CHECK(all.total() == 12);
    CHECK(all.formats() == "csv");
    CHECK(all.files() == path + ", " + path);
    CHECK(stemma::read_profiles(paths, 0).total() == 30);
    CHECK_THROWS_AS(stemma::read_profiles(paths, 3), stemma::error);
}

TEST_CASE("read_profiles: a file without runs is not a profile", "[profile]") {
    const test::scratch_folder folder;
    const std::vector<std::string> paths{folder.make("times.csv", "run,name,time\n")};
    try {
        static_cast<void>(stemma::read_profiles(paths));
        FAIL("was read");
    } catch (const stemma::error& refused) {
        CHECK(refused.code() == stemma::error_code::malformed);
        CHECK(std::string(refused.what()).find("contains no run") != std::string::npos);
    }
}

} // namespace test::cost_read_profiles
