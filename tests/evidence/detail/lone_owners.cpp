// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/lone_owners.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_tree.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_lone_owners {

using stemma::id;
using stemma::no_id;

namespace {

/// Modules by path, each with a parameter.
struct scene {
    stemma::module_tree tree;
    test::operator_scene ops;
    stemma::detail::parameter_owners owners;

    explicit scene(const std::vector<std::string>& paths) : tree(test::tree_of(paths)) {
        const auto reader = ops.add({}, "", "Any");
        for (const auto& path : paths) {
            ops.read_parameter(reader, path + ".weight");
            owners.add(std::array{test::module_at(tree, path)});
        }
    }

    /// The module around an owner: a path, "" for none.
    [[nodiscard]] std::string around(std::string_view path) const {
        const stemma::detail::module_code code(ops, tree, owners);
        const auto around = stemma::detail::modules_around_lone_owners(
            tree, code, owners, static_cast<id>(ops.parameter_count()));
        const auto module = around[test::module_at(tree, path)];
        return module == no_id ? "" : std::string(tree.path(module));
    }
};

} // namespace

TEST_CASE("lone_owners: the outermost module in which nothing else has parameters") {
    const scene s({"norm", "attn.out.proj", "ff.fc1", "ff.fc2"});
    CHECK(s.around("attn.out.proj") == "attn");
    CHECK(s.around("norm").empty());
    CHECK(s.around("ff.fc1").empty());
    CHECK(s.around("attn").empty()); // has none itself
}

TEST_CASE("lone_owners: lists do not run") {
    const scene s({"norm", "attn.to_out.0", "layers.0"});
    CHECK(s.around("attn.to_out.0") == "attn");
    CHECK(s.around("layers.0").empty());
}

TEST_CASE("lone_owners: the model is no answer") {
    CHECK(scene({"attn.out"}).around("attn.out") == "attn");
    CHECK(scene({"out"}).around("out").empty());
}

} // namespace test::evidence_detail_lone_owners
