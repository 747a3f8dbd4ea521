// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/module_behind_fork.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/detail/wired_operators.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace test::evidence_detail_module_behind_fork {

using stemma::id;
using stemma::no_id;

namespace {

/// What is around everything behind the fork of the last operator's inputs, or "none". `owners`
/// are those of the operators, in order.
std::string behind_fork(const test::operator_scene& ops, const std::vector<std::string>& owners,
                        std::size_t max_steps = 16) {
    const auto tree = test::tree_of({"a.left", "a.right", "b"});
    const auto module = stemma::detail::module_behind_fork(
        stemma::detail::wired_operators(ops), tree.index(), static_cast<id>(ops.size() - 1),
        max_steps,
        [&](id v) { return owners[v].empty() ? no_id : test::module_at(tree, owners[v]); });
    return module == no_id ? "none" : std::string(tree.path(module));
}

} // namespace

TEST_CASE("module_behind_fork: counts both ways, and nothing before the fork") {
    test::operator_scene ops;
    const auto fork = ops.add({ops.add()});
    const auto left = ops.add({fork});
    const auto right = ops.add({ops.add({fork})});
    ops.add({left, right});
    CHECK(behind_fork(ops, {"b", "b", "a.left", "", "a.right", ""}) == "a");
    CHECK(behind_fork(ops, {"b", "b", "a.left", "a.left", "", ""}) == "a.left");
    CHECK(behind_fork(ops, {"b", "b", "a.left", "a.left", "", "b"}).empty());
    CHECK(behind_fork(ops, {"b", "b", "a.left", "", "a.right", ""}, 2) == "none");
}

TEST_CASE("module_behind_fork: what comes in from elsewhere is not after the fork") {
    test::operator_scene ops;
    const auto fork = ops.add({ops.add()});
    const auto side = ops.add();
    const auto left = ops.add({fork, side});
    ops.add({left, fork});
    CHECK(behind_fork(ops, {"b", "b", "b", "a.left", ""}) == "a.left");
}

TEST_CASE("module_behind_fork: one input may be the fork itself; others meet nowhere") {
    test::operator_scene skip;
    const auto x = skip.add();
    skip.add({x, skip.add({x})});
    CHECK(behind_fork(skip, {"b", "a.left", ""}) == "a.left");
    test::operator_scene apart;
    const auto a = apart.add();
    apart.add({a, apart.add()});
    CHECK(behind_fork(apart, {"b", "a.left", ""}) == "none");
}

} // namespace test::evidence_detail_module_behind_fork
