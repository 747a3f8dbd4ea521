// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/scope_witness.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>

#include <set>
#include <string>
#include <vector>

namespace test::evidence_detail_scope_witness {

using stemma::id;
using stemma::no_id;

namespace {

/// Scopes `d`, `d_1`, ... in one parent, some of which read weights, and modules 1, 2, ... that all
/// print as `d`; those in `owning` have parameters.
struct scene {
    scene(std::size_t count, std::set<std::size_t> reading) {
        for (std::size_t i = 0; i < count; ++i) {
            const auto name = i == 0 ? std::string("d") : "d_" + std::to_string(i);
            ops.add({}, "/q/" + name + "/MatMul", "MatMul");
        }
        table = stemma::detail::collect_scopes(ops);
        for (auto i : reading) {
            weighted.insert(table.scope_of[i]);
        }
    }

    [[nodiscard]] id module_of(std::size_t scope, const std::vector<id>& modules,
                               const std::set<id>& owning, id calls = 1) const {
        return stemma::detail::find_by_weights(
            table, table.scope_of[scope], "d", modules, [&](id s) { return weighted.contains(s); },
            [&](id) { return calls; }, [&](id m) { return owning.contains(m); });
    }

    test::operator_scene ops;
    stemma::detail::scope_table table;
    std::set<id> weighted;
};

} // namespace

TEST_CASE("find_by_weights: the scopes that read weights stand for the modules that have them") {
    const scene all(2, {0, 1});
    CHECK(all.module_of(0, {1, 2, 3}, {2, 3}) == 2);
    CHECK(all.module_of(1, {1, 2, 3}, {2, 3}) == 3);
    const scene some(3, {1, 2});
    CHECK(some.module_of(0, {1, 2, 3}, {2, 3}) == no_id);
    CHECK(some.module_of(1, {1, 2, 3}, {2, 3}) == 2);
    CHECK(some.module_of(2, {1, 2, 3}, {2, 3}) == 3);
    CHECK(all.module_of(1, {1, 2}, {2}, 2) == 2); // the second call
}

TEST_CASE("find_by_weights: finds nothing if all or none have parameters, or numbers differ") {
    const scene s(3, {0, 1, 2});
    CHECK(s.module_of(0, {1, 2, 3}, {1, 2, 3}) == no_id);
    CHECK(s.module_of(0, {1, 2, 3}, {}) == no_id);
    CHECK(s.module_of(0, {1, 2, 3}, {2, 3}) == no_id);
}

TEST_CASE("weighted_scopes: asks once, when it matters") {
    int asked = 0;
    const stemma::detail::weighted_scopes weighted([&] {
        ++asked;
        return std::vector<bool>{false, true};
    });
    CHECK(asked == 0);
    CHECK_FALSE(weighted(0));
    CHECK(weighted(1));
    CHECK_FALSE(weighted(2));
    CHECK(asked == 1);
    CHECK_FALSE(stemma::detail::weighted_scopes(nullptr)(0));
}

} // namespace test::evidence_detail_scope_witness
