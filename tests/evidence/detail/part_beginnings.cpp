// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/part_beginnings.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_resolver.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <unordered_map>
#include <vector>

namespace test::evidence_detail_part_beginnings {

TEST_CASE("part_beginnings: what only another module's operators read belongs to that") {
    test::operator_scene ops;
    const auto data = ops.add({}, "/pre/Relu", "Relu");
    const auto mean = ops.add({data}, "/a/ReduceMean", "ReduceMean");
    const auto sub = ops.add({data, mean}, "/a/Sub", "Sub");
    const auto own = ops.add({sub}, "/a/Gemm", "Gemm");
    const auto act = ops.add({own}, "/a/Tanh", "Tanh");
    const auto shared = ops.add({data}, "/a/Neg", "Neg");
    const auto mul = ops.add({sub, act, shared}, "/a/Mul", "Mul");
    ops.add({shared}, "/a/Abs", "Abs");
    const auto table = stemma::detail::collect_scopes(ops);
    std::vector<bool> reads_own(ops.size());
    reads_own[act] = true;
    std::unordered_map<stemma::id, stemma::detail::scope_module> parted;
    parted[mul].module = 7;
    parted[own].module = 7;
    stemma::detail::part_beginnings(ops, table, reads_own, parted);
    CHECK(parted.size() == 4);
    CHECK(parted.at(mean).module == 7);
    CHECK(parted.at(sub).module == 7);
}

} // namespace test::evidence_detail_part_beginnings
