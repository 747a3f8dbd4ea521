// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/equal_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/module_code.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/detail/functional_units.hpp>
#include <stemma/model/module_tree.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_equal_modules {

using stemma::id;
using stemma::no_id;
using found = std::vector<std::pair<std::string, std::string>>;

namespace {

/// Modules with a convolution and a normalization, in sequence, each followed by something.
found ends(const std::vector<std::pair<std::string, std::string>>& modules,
           const std::vector<std::string>& others = {}) {
    test::operator_scene ops;
    std::vector<std::string> paths;
    std::vector<std::string> places;
    std::vector<bool> free;
    auto last = ops.add();
    places.emplace_back();
    free.push_back(false);
    for (const auto& [path, behind] : modules) {
        last = ops.add({last}, "", "Conv");
        ops.read_parameter(last, path + ".conv.weight");
        ops.read_parameter(last, path + ".norm.bias");
        paths.push_back(path + ".conv");
        paths.push_back(path + ".norm");
        places.push_back(path);
        free.push_back(false);
        if (!behind.empty()) {
            last = ops.add({last}, path + "/" + behind, behind);
            places.emplace_back();
            free.push_back(true);
        }
    }
    ops.add({last}, "", "MatMul");
    places.emplace_back();
    free.push_back(false);
    paths.insert(paths.end(), others.begin(), others.end());
    const auto tree = test::tree_of(paths);
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    std::vector<id> placed;
    for (const auto& place : places) {
        placed.push_back(place.empty() ? no_id : test::module_at(tree, place));
    }
    const std::vector<bool> steady(ops.size(), false);
    const stemma::detail::functional_units<test::operator_scene> units(ops, steady, free);
    const stemma::detail::module_exits<test::operator_scene> exits(ops, tree.index(), owners, units,
                                                                   placed);
    const stemma::detail::module_code<stemma::module_tree> code(ops, tree, owners);
    found result;
    const auto note = [&](id m, const std::vector<id>& operators) {
        for (auto v : operators) {
            result.emplace_back(tree.path(m), ops.name(v));
        }
    };
    const auto pattern = stemma::detail::find_parameter_patterns(ops, tree, owners);
    const stemma::detail::equal_modules finder(ops, tree, code, pattern, units, exits);
    others.empty() ? finder.for_each_end(note) : finder.for_each_activated(note);
    return result;
}

} // namespace

TEST_CASE("equal_modules: what follows each of several equal modules belongs to each") {
    CHECK(ends({{"stem", "Relu"}, {"a.left", "Relu"}, {"a.right", "Relu"}}) ==
          found{{"stem", "stem/Relu"}, {"a.left", "a.left/Relu"}, {"a.right", "a.right/Relu"}});
}

TEST_CASE("equal_modules: except what one caller does, or what does not always follow") {
    CHECK(ends({{"a.0", "Relu"}, {"a.1", "Relu"}, {"a.2", "Relu"}}).empty());
    CHECK(ends({{"stem", "Relu"}, {"a.left", ""}, {"a.right", "Relu"}}).empty());
    CHECK(ends({{"stem", "Relu"}, {"a.left", "Tanh"}, {"a.right", "Relu"}}).empty());
    CHECK(ends({{"stem", "Relu"}, {"a.left", "Relu"}}).empty());
    CHECK(ends({{"stem", "MaxPool"}, {"a.left", "MaxPool"}, {"a.right", "MaxPool"}}).empty());
}

TEST_CASE("equal_modules: what follows a module ending in one without parameters is in it") {
    CHECK(ends({{"a", "Relu"}}, {"a.act"}) == found{{"a", "a/Relu"}});
    CHECK(ends({{"a", "MaxPool"}}, {"a.act"}).empty());
    CHECK(ends({{"a", "Mul"}}, {"a.act"}).empty());
    CHECK(ends({{"a", "Relu"}}, {"a.act", "a.act.inner"}).empty());
    CHECK(ends({{"a", "Relu"}}, {"b.act"}).empty());
}

TEST_CASE("equal_modules: a module around one other joins the parts of its result") {
    const auto gates = [](const std::string& path, const std::string& join) {
        test::operator_scene ops;
        const auto x = ops.add();
        const auto product = ops.add({x}, "", "Gemm");
        ops.read_parameter(product, path + ".weight");
        const auto value = ops.add({product}, "", "Slice");
        const auto gate = ops.add({product}, "", "Slice");
        const auto joined = ops.add({value, ops.add({gate}, "", "Gelu")}, "", join);
        ops.read_parameter(ops.add({joined}, "", "Gemm"), "ff.2.weight");
        const auto tree = test::tree_of({path, "ff.2"});
        const auto owners = stemma::detail::find_parameter_owners(ops, tree);
        std::vector<id> placed(ops.size(), no_id);
        placed[product] = test::module_at(tree, path);
        placed[ops.size() - 1] = test::module_at(tree, "ff.2");
        std::vector<bool> free(ops.size(), true);
        free[x] = free[product] = free[ops.size() - 1] = false;
        const std::vector<bool> steady(ops.size(), false);
        const stemma::detail::functional_units<test::operator_scene> units(ops, steady, free);
        const stemma::detail::module_exits<test::operator_scene> exits(ops, tree.index(), owners,
                                                                       units, placed);
        const stemma::detail::module_code<stemma::module_tree> code(ops, tree, owners);
        const auto pattern = stemma::detail::find_parameter_patterns(ops, tree, owners);
        std::vector<std::string> modules;
        stemma::detail::equal_modules(ops, tree, code, pattern, units, exits)
            .for_each_gate([&](id m, const std::vector<id>& operators) {
                CHECK(operators.size() == 4);
                modules.emplace_back(tree.path(m));
            });
        return modules;
    };
    CHECK(gates("ff.0.proj", "Mul") == std::vector<std::string>{"ff.0"});
    CHECK(gates("ff.0", "Mul").empty());         // no module around it
    CHECK(gates("ff.0.proj", "MatMul").empty()); // no gate
}

TEST_CASE("find_parameter_patterns: are equal iff the names below are") {
    test::operator_scene ops;
    const auto v = ops.add();
    for (const char* name : {"a.fc.weight", "a.fc.bias", "b.fc.bias", "b.fc.weight", "c.fc.weight",
                             "d.lin.weight", "d.lin.bias"}) {
        ops.read_parameter(v, name);
    }
    const auto tree = test::tree_of({"a.fc", "b.fc", "c.fc", "d.lin"});
    const auto pattern = stemma::detail::find_parameter_patterns(
        ops, tree, stemma::detail::find_parameter_owners(ops, tree));
    const auto of = [&](const char* path) { return pattern[test::module_at(tree, path)]; };
    CHECK(of("a") == of("b"));
    CHECK(of("a.fc") == of("d.lin"));
    CHECK(of("a") != of("c"));
    CHECK(of("a") != of("d"));
}

} // namespace test::evidence_detail_equal_modules
