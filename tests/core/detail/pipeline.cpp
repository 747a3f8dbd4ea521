// SPDX-License-Identifier: Apache-2.0
#include <stemma/core/detail/pipeline.hpp>

#include "../../catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace test::core_detail_pipeline {

namespace {

std::vector<std::size_t> numbers_below(std::size_t count) {
    std::vector<std::size_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return numbers;
}

/// What an in-order step saw, and the last item that the previous step had seen.
struct journal {
    std::vector<std::size_t> items;
    [[nodiscard]] stemma::detail::pipeline_step step() {
        return {true, [this](std::size_t item, std::size_t) { items.push_back(item); }};
    }
};

} // namespace

TEST_CASE("run_pipeline: every item goes through all steps, in order", "[core][pipeline]") {
    for (const std::size_t workers : {0U, 1U, 2U, 5U}) {
        for (const std::size_t group : {1U, 3U, 1000U}) {
            for (const std::size_t count : {0U, 1U, 7U, 100U}) {
                std::vector<std::size_t> steps_of(count, 0);
                std::vector<std::string> wrong(std::max<std::size_t>(workers, 1));
                const auto expect = [&](std::size_t step) {
                    return [&, step](std::size_t item, std::size_t worker) {
                        if (steps_of[item]++ != step) {
                            wrong.at(worker) += "item " + std::to_string(item);
                        }
                    };
                };
                stemma::detail::run_pipeline(
                    count, {{false, expect(0)}, {true, expect(1)}, {false, expect(2)}},
                    {workers, group, 2});
                CHECK(steps_of == std::vector<std::size_t>(count, 3));
                CHECK(wrong == std::vector<std::string>(wrong.size()));
            }
        }
    }
}

TEST_CASE("run_pipeline: in-order steps see every item in turn", "[core][pipeline]") {
    journal first;
    journal last;
    std::vector<std::size_t> doubled(200);
    stemma::detail::run_pipeline(200,
                                 {first.step(),
                                  {false,
                                   [&](std::size_t item, std::size_t) {
                                       if (item % 7 == 0) {
                                           std::this_thread::yield();
                                       }
                                       doubled[item] = 2 * item;
                                   }},
                                  last.step()},
                                 {4, 3, 4});
    CHECK(first.items == numbers_below(200));
    CHECK(last.items == numbers_below(200));
    for (std::size_t i = 0; i < doubled.size(); ++i) {
        CHECK(doubled[i] == 2 * i);
    }
}

TEST_CASE("run_pipeline: no more groups are in flight than allowed", "[core][pipeline]") {
    std::atomic<std::size_t> under_way{0};
    std::atomic<std::size_t> most{0};
    stemma::detail::run_pipeline(500,
                                 {{false,
                                   [&](std::size_t, std::size_t) {
                                       const auto now = ++under_way;
                                       auto highest = most.load();
                                       while (now > highest &&
                                              !most.compare_exchange_weak(highest, now)) {
                                       }
                                   }},
                                  {true, [&](std::size_t, std::size_t) { --under_way; }}},
                                 {3, 2, 2});
    CHECK(most.load() <= 12);
}

TEST_CASE("run_pipeline: one worker finishes a group before beginning the next",
          "[core][pipeline]") {
    std::vector<std::size_t> steps;
    const auto note = [&](std::size_t step) {
        return [&, step](std::size_t item, std::size_t) { steps.push_back(10 * item + step); };
    };
    stemma::detail::run_pipeline(4, {{false, note(0)}, {true, note(1)}}, {1, 2, 8});
    CHECK(steps == std::vector<std::size_t>{0, 10, 1, 11, 20, 30, 21, 31});
}

TEST_CASE("run_pipeline: the lowest failure counts; earlier items finish, later ones do not",
          "[core][pipeline]") {
    for (const std::size_t workers : {1U, 4U}) {
        for (const std::size_t group : {1U, 4U}) {
            for (const std::size_t failing : {0U, 1U, 30U, 99U}) {
                for (const std::size_t step : {0U, 1U, 2U}) {
                    journal last;
                    const auto fail = [&](std::size_t at) {
                        return [&, at](std::size_t item, std::size_t) {
                            // Higher ones fail too, possibly sooner.
                            if (at == step && (item == failing || item > failing + 1)) {
                                throw std::runtime_error(std::to_string(item));
                            }
                        };
                    };
                    std::string what;
                    try {
                        stemma::detail::run_pipeline(
                            100, {{false, fail(0)}, {true, fail(1)}, {false, fail(2)}, last.step()},
                            {workers, group, 3});
                    } catch (const std::runtime_error& thrown) {
                        what = thrown.what();
                    }
                    CHECK(what == std::to_string(failing));
                    CHECK(last.items == numbers_below(failing));
                }
            }
        }
    }
}

} // namespace test::core_detail_pipeline
