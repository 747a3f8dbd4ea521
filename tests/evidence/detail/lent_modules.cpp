// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/lent_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_lent_modules {

using stemma::id;
using stemma::no_id;

namespace {

/// @returns the owner of what `block/net` calls, "?" if that is not known.
std::string owner(const std::vector<std::string>& names, const std::vector<std::string>& known) {
    const auto tree = test::tree_of({"block.conv", "block.norm", "block.net.fc", "other.conv"});
    test::operator_scene ops;
    for (const auto& name : names) {
        ops.add({}, name, name.substr(name.rfind('/') + 1));
    }
    const auto table = stemma::detail::collect_scopes(ops);
    std::vector<stemma::detail::scope_module> modules(table.scopes.size());
    id net = no_id;
    for (id s = stemma::detail::scope_style_count; s < table.scopes.size(); ++s) {
        const auto segment = table.scopes[s].segment;
        net = segment == "net" ? s : net;
        if (segment == "block") {
            modules[s].module = test::module_at(tree, "block");
        }
        for (const auto& path : known) {
            if (path.substr(path.rfind('.') + 1) == segment) {
                modules[s].module = test::module_at(tree, path);
            }
        }
    }
    const auto found =
        stemma::detail::lent_modules<stemma::module_tree>(table, tree, modules).owner(net);
    return found == no_id ? "?" : tree.path(found);
}

} // namespace

TEST_CASE("lent_modules: what a container calls belongs to the module around") {
    CHECK(owner({"/block/net/conv/Conv", "/block/net/act/Relu"}, {"block.conv"}) == "block");
    CHECK(owner({"/block/net/conv/Conv", "/block/net/norm/Mul", "/block/net/act/Relu"},
                {"block.conv", "block.norm"}) == "block");
}

TEST_CASE("lent_modules: not if the container computes, owns some, or another module does") {
    CHECK(owner({"/block/net/conv/Conv", "/block/net/Add"}, {"block.conv"}) == "?");
    CHECK(owner({"/block/net/conv/Conv", "/block/net/fc/Gemm"}, {"block.conv", "block.net.fc"}) ==
          "?");
    CHECK(owner({"/block/net/conv/Conv", "/block/net/act/Relu"}, {"other.conv"}) == "?");
    CHECK(owner({"/block/net/act/Relu"}, {}) == "?");
}

} // namespace test::evidence_detail_lent_modules
