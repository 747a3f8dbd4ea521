// SPDX-License-Identifier: Apache-2.0
#include <stemma/align/detail/visit_inputs_first.hpp>

#include "../../catch.hpp"

#include <stemma/core/id.hpp>

#include <vector>

namespace test::align_detail_visit_inputs_first {

using stemma::id;

namespace {

std::vector<id> visited(const std::vector<std::vector<id>>& inputs, const std::vector<id>& ends) {
    std::vector<id> order;
    stemma::detail::visit_inputs_first(
        ends, inputs.size(), [](id v) { return v; },
        [&](id v, std::vector<id>& list) { list = inputs[v]; }, [&](id v) { order.push_back(v); });
    return order;
}

} // namespace

TEST_CASE("visit_inputs_first: everything the first input needs comes first, and only once") {
    const std::vector<std::vector<id>> inputs{{}, {0}, {0}, {2, 1}, {3, 0}};
    CHECK(visited(inputs, {4}) == std::vector<id>{0, 2, 1, 3, 4});
    CHECK(visited(inputs, {1, 4, 1}) == std::vector<id>{0, 1, 2, 3, 4});
    CHECK(visited(inputs, {}).empty());
}

TEST_CASE("visit_inputs_first: a cycle is cut where it was entered") {
    CHECK(visited({{2}, {0}, {1}}, {0}) == std::vector<id>{1, 2, 0});
    CHECK(visited({{0}}, {0}) == std::vector<id>{0});
}

} // namespace test::align_detail_visit_inputs_first
