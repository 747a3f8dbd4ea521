// SPDX-License-Identifier: Apache-2.0
#include <stemma/compare/detail/module_reach.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/compare/detail/compared_model.hpp>
#include <stemma/core/id.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/open/attributed_model.hpp>

#include <string>
#include <vector>

namespace test::compare_detail_module_reach {

TEST_CASE("module_reach: a module computes from those before it on a path") {
    // More modules than fit into a word, each reading the one before the previous one.
    constexpr stemma::id count = 70;
    std::vector<test::message> nodes;
    const auto value = [](stemma::id i) { return "v" + std::to_string(i); };
    for (stemma::id i = 0; i < count; ++i) {
        nodes.push_back(test::node("Relu", {i < 2 ? "x" : value(i - 2)}, {value(i)},
                                   "/m" + std::to_string(i) + "/Relu"));
    }
    const stemma::attributed_model opened(
        stemma::mapped_file::holding(
            test::model(test::graph(nodes, {"x"}, {value(count - 1), value(count - 2)})).bytes(),
            "memory"),
        {});
    const stemma::detail::compared_model side(opened);
    std::vector<stemma::id> modules;
    for (stemma::id i = 0; i < count; ++i) {
        modules.push_back(side.module_of(i));
    }
    const stemma::detail::module_reach reach(side, modules);
    bool is_right = true;
    for (stemma::id i = 0; i < count; ++i) {
        for (stemma::id j = 0; j < count; ++j) {
            is_right = is_right && (i == j || reach.reaches(i, j) == (i < j && (j - i) % 2 == 0));
        }
    }
    CHECK(is_right);
}

} // namespace test::compare_detail_module_reach
