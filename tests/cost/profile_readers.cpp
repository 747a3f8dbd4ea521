// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/profile_readers.hpp>

#include "../catch.hpp"

#include <stemma/error.hpp>

#include <string>
#include <string_view>

namespace test::cost_profile_readers {

namespace {

stemma::profile read(std::string_view text) {
    stemma::profile result;
    stemma::read_profile(text, "p", result);
    return result;
}

std::string event(std::string_view name, int start, int duration,
                  std::string_view category = "Node") {
    return R"({"cat":")" + std::string(category) + R"(","tid":1,"ph":"X","name":")" +
           std::string(name) + R"(","ts":)" + std::to_string(start) + R"(,"dur":)" +
           std::to_string(duration) +
           R"(,"args":{"node_index":"3","op_name":"Add","provider":"CPU","shapes":[{"float":[1]}]}})";
}

} // namespace

TEST_CASE("ort_profile: a kernel's time is without that of kernels inside of it",
          "[cost][profile]") {
    const auto all =
        read("[" + event("in_kernel_time", 5, 3) + "," + event("in_kernel_time", 9, 2) + "," +
             event("loop_kernel_time", 2, 20) + "," + event("after_kernel_time", 30, 1) + "," +
             event("model_run", 0, 40, "Session") + "]");
    REQUIRE(all.kernels().size() == 3);
    CHECK(all.kernels()[0].name == "in");
    CHECK(all.kernels()[0].calls == 2);
    CHECK(all.kernels()[0].total() == 5);
    CHECK(all.kernels()[1].total() == 15);
    CHECK(all.kernels()[1].node_index == 3);
    CHECK(all.total() == 21);
    CHECK(all.runs() == 1);
}

TEST_CASE("csv_profile: units stand in the heading, fields in quotes", "[cost][profile]") {
    const auto all = read("Name;Duration (ns)\r\n\"a;b \"\"c\"\"\";1500\r\n");
    CHECK(all.kernels()[0].name == "a;b \"c\"");
    CHECK(all.total() == 1.5);
}

TEST_CASE("read_profile: refuses what is no profile in one line", "[cost][profile]") {
    for (const std::string_view text :
         {"", "{}", "[", "[1", "name,time\nx,y\n", "a,b\n", R"([{"cat":"Session"}])",
          R"([{"name":"x","averageMs":"y"}])", "Event Identifier,x\n"}) {
        INFO(text);
        CHECK_THROWS_AS(read(text), stemma::error);
    }
}

} // namespace test::cost_profile_readers
