// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/found_marks.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::record_detail_found_marks {

TEST_CASE("marks_on: all marks on a node, and no others") {
    const std::vector<stemma::detail::node_mark_found> marks{{1, 7}, {3, 2}, {3, 9}, {4, 0}};
    const auto numbers = [&](stemma::id node) {
        std::vector<stemma::id> listed;
        for (const auto& mark : stemma::detail::marks_on(marks, node)) {
            listed.push_back(mark.number);
        }
        return listed;
    };
    CHECK(numbers(1) == std::vector<stemma::id>{7});
    CHECK(numbers(3) == std::vector<stemma::id>{2, 9});
    CHECK(numbers(2).empty());
    CHECK(numbers(5).empty());
}

} // namespace test::record_detail_found_marks
