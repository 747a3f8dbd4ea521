// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/entered_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/sweep_order.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_tree.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_entered_modules {

using stemma::id;
using stemma::no_id;
using texts = std::vector<std::string>;

namespace {

struct network {
    test::operator_scene ops;
    texts owners;
    std::vector<bool> lost;

    /// Adds an operator, which reads a weight of a module if one is given.
    id add(const std::vector<id>& inputs, const std::string& owner = "", const char* type = "Add") {
        const auto v = ops.add(inputs, "", type);
        if (!owner.empty()) {
            ops.read_parameter(v, owner + ".weight");
        }
        owners.push_back(owner);
        lost.push_back(false);
        return v;
    }

    /// Adds an operator that reads a weight of an unknown module.
    id lose(id input) {
        const auto v = add({input});
        lost.back() = true;
        return v;
    }

    /// The module of an operator that was only known to be in the root.
    [[nodiscard]] std::string module_of(id v) const {
        texts paths = owners;
        std::erase(paths, "");
        const auto tree = test::tree_of(paths);
        const stemma::detail::module_code<stemma::module_tree> code(
            ops, tree, stemma::detail::find_parameter_owners(ops, tree));
        std::vector<id> owner;
        for (const auto& path : owners) {
            owner.push_back(path.empty() ? no_id : test::module_at(tree, path));
        }
        const std::vector<bool> none(ops.size(), false);
        std::vector<id> entered(ops.size(), 0);
        const stemma::sweep_order order(ops.graph());
        stemma::detail::entered_modules(ops, tree, code, order, none, lost, owner).refine(entered);
        return std::string(tree.path(entered[v]));
    }
};

} // namespace

TEST_CASE("entered_modules: what leads to a module that reads the same value elsewhere") {
    network net;
    const auto x = net.add({}, "stem");
    const auto pool = net.add({x});
    net.add({x}, "mixed.a");
    net.add({pool}, "mixed.b");
    CHECK(net.module_of(pool) == "mixed");
}

TEST_CASE("entered_modules: not what leads elsewhere too, or to a module that reads only that") {
    network both;
    const auto x = both.add({}, "stem");
    const auto pool = both.add({x});
    both.add({x}, "mixed.a");
    both.add({pool}, "mixed.b");
    both.add({pool}, "other.c");
    CHECK(both.module_of(pool).empty());
    network one;
    const auto act = one.add({one.add({}, "stem")});
    one.add({act}, "mixed.a");
    one.add({act}, "mixed.b");
    CHECK(one.module_of(act).empty());
}

TEST_CASE("entered_modules: not what unknown modules compute on the way") {
    network net;
    const auto x = net.add({net.add({}, "stem")});
    net.add({x}, "mixed.a");
    const auto act = net.add({net.lose(x)});
    const auto sum = net.add({act, net.lose(act)});
    net.add({sum}, "mixed.b");
    CHECK(net.module_of(sum).empty());
}

TEST_CASE("entered_modules: several operators of one step are not further readers") {
    network net;
    const auto x = net.add({}, "stem.conv");
    const auto sigmoid = net.add({x});
    const auto silu = net.add({x, sigmoid});
    net.add({silu}, "next.conv");
    CHECK(net.module_of(sigmoid).empty());
    CHECK(net.module_of(silu).empty());
}

TEST_CASE("entered_modules: rolling a value is one step, reading several parts of it is not") {
    network rolled;
    const auto x = rolled.add({}, "stem.norm");
    const auto part = rolled.add({x}, "", "Slice");
    const auto whole = rolled.add({part, rolled.add({x}, "", "Slice")}, "", "Concat");
    rolled.add({whole}, "attn.q");
    rolled.add({whole}, "attn.k");
    CHECK(rolled.module_of(part).empty());
    network parts;
    const auto y = parts.add({}, "stem.norm");
    const auto first = parts.add({y}, "", "Slice");
    const std::vector<id> all{first, parts.add({y}, "", "Slice"), parts.add({y}, "", "Slice")};
    const auto merged = parts.add(all, "", "Concat");
    parts.add({merged}, "merge.q");
    parts.add({merged}, "merge.k");
    CHECK(parts.module_of(first) == "merge");
}

} // namespace test::evidence_detail_entered_modules
