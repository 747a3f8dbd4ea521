// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/headless_calls.hpp>

#include "../../catch.hpp"
#include "../../weighted_operators.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/evidence/detail/scope_weights.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_headless_calls {

using stemma::id;

namespace {

/// @returns the instances of other calls found for the scopes of operators that read weights.
std::vector<std::string> found(const std::vector<std::pair<std::string, std::string>>& reads) {
    test::weighted_operators ops;
    for (const auto& [name, weight] : reads) {
        ops.read_parameter(ops.add({}, name + "/MatMul", "MatMul"), weight);
    }
    const auto table = stemma::detail::collect_scopes(ops);
    const stemma::detail::scope_weights weights(ops, table);
    const stemma::detail::headless_calls calls(table, weights);
    std::vector<std::string> result;
    for (const auto s : table.scope_of) {
        const auto other = calls.other_call(s);
        result.emplace_back(other == stemma::no_id ? "" : table.scopes[other].instance());
    }
    return result;
}

using names = std::vector<std::string>;

} // namespace

TEST_CASE("headless_calls: finds calls without a first that read the same weight") {
    CHECK(found({{"/fc_1", "w"}, {"/fc_2", "w"}, {"/fc_3", "w"}}) == names{"fc_2", "fc_1", "fc_1"});
    CHECK(found({{"/fc_2", "w"}, {"/fc_1", "w"}}) == names{"fc_1", "fc_2"});
}

TEST_CASE("headless_calls: not others, those of another module, or if the first is there") {
    CHECK(found({{"/fc_1", "w"}, {"/fc_2", "v"}}) == names{"", ""});
    CHECK(found({{"/fc_1", "w"}, {"/up_2", "w"}}) == names{"", ""});
    CHECK(found({{"/a/fc_1", "w"}, {"/b/fc_2", "w"}}) == names{"", ""});
    CHECK(found({{"/fc", "w"}, {"/fc_1", "w"}, {"/fc_2", "w"}}) == names{"", "", ""});
}

} // namespace test::evidence_detail_headless_calls
