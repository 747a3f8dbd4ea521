// SPDX-License-Identifier: Apache-2.0
#include <stemma/cost/module_times.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../scratch_folder.hpp"

#include <stemma/cost/profile_readers.hpp>
#include <stemma/error.hpp>
#include <stemma/stemma.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace test::cost_module_times {

TEST_CASE("module_times: modules and unmatched time add up to the total", "[cost][profile]") {
    const stemma::attributed_model opened(test::fixture("mlp/model.onnx"), {});
    stemma::profile measured;
    for (const double factor : {1.0, 3.0}) {
        measured.add(
            {.name = "/fc1/Gemm + /relu/Relu", .provider = "A", .microseconds = 8 * factor});
        measured.add({.name = "/fc2/Gemm", .provider = "B", .microseconds = factor});
        measured.add({.name = "copy", .microseconds = 2});
        measured.end_run();
    }
    const stemma::module_times times(measured, opened);
    CHECK(times.total() == 40);
    CHECK(times.unmatched_total() == 4);
    CHECK(times.per_run(times.unmatched_total()) == 2);
    CHECK(times[0].microseconds == 36);
    CHECK(times[0].own == 32); // fused: of the common module
    CHECK(times[0].least == 9);
    CHECK(times[0].most == 27);
    CHECK(times[0].providers == std::map<std::string, double>{{"A", 32}, {"B", 4}});
    const stemma::module_times parts(measured, opened, true);
    const auto cost = stemma::find_cost(opened);
    CHECK(parts.total() == 40);
    CHECK(parts[0].own == 0);
    CHECK(parts[0].microseconds == 36);
    const auto all = cost.node_flops(0) + cost.node_flops(1);
    CHECK(std::abs(parts.node(0) - 32 * cost.node_flops(0) / all) < 1e-9);
}

TEST_CASE("module_times: the code in docs/profile.md works", "[cost][profile]") {
    const test::scratch_folder folder;
    const auto profile = folder.make("times.csv", "name,time (ms)\n/fc1/Gemm,2\n/fc2/Gemm,1\n");
    const auto model = stemma::open(test::fixture("mlp/model.onnx"));
    std::map<std::string, double> milliseconds;
    const stemma::module_times times(stemma::read_profiles({profile}), model);
    for (const auto module : model.modules()) {
        milliseconds[module.path()] = times.per_run(times[module].microseconds) / 1000;
    }
    CHECK(milliseconds.at("") == 3);
    CHECK(milliseconds.at("fc1") == 2);
}

} // namespace test::cost_module_times
