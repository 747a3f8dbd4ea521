// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/equal_modules.hpp>

#include "../../catch.hpp"
#include "../../region_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/module_exits.hpp>
#include <stemma/model/detail/functional_units.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_equal_modules {

using stemma::id;
using stemma::no_id;
using found = std::vector<std::pair<std::string, std::string>>;

namespace {

/// Calls `f(known, finder)` for the operators of a scene, where those with names are unknown.
template <class Function>
void find(const test::region_scene<>& scene, Function f) {
    const test::region_knowledge known(scene);
    std::vector<bool> free(scene.ops.size());
    for (id v = 0; v < free.size(); ++v) {
        free[v] = !scene.ops.name(v).empty();
    }
    const stemma::detail::functional_units units(known.facts, free);
    const stemma::detail::module_exits exits(known.facts, known.facts.owner);
    f(known, stemma::detail::equal_modules(known.facts, units, exits));
}

/// Modules with a convolution and a normalization, in sequence, each followed by something.
found ends(const found& modules, const std::vector<std::string>& others = {}) {
    test::region_scene scene;
    auto last = scene.add();
    for (const auto& [path, behind] : modules) {
        last = scene.add({last}, "", "Conv");
        scene.ops.read_parameter(last, path + ".conv.weight");
        scene.ops.read_parameter(last, path + ".norm.bias");
        scene.modules.back() = path;
        scene.others.insert(scene.others.end(), {path + ".conv", path + ".norm"});
        if (!behind.empty()) {
            last = scene.add({last}, "", behind, path + "/" + behind);
        }
    }
    scene.add({last}, "", "MatMul");
    scene.others.insert(scene.others.end(), others.begin(), others.end());
    found result;
    find(scene, [&](const auto& known, const auto& finder) {
        const auto note = [&](id m, const std::vector<id>& operators) {
            for (auto v : operators) {
                result.emplace_back(known.path(m), scene.ops.name(v));
            }
        };
        others.empty() ? finder.for_each_end(note) : finder.for_each_activated(note);
    });
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
        test::region_scene scene;
        const auto product = scene.add({scene.add()}, path, "Gemm");
        const auto value = scene.add({product}, "", "Slice", "value");
        const auto gate = scene.add({product}, "", "Slice", "gate");
        const auto open = scene.add({gate}, "", "Gelu", "open");
        scene.add({scene.add({value, open}, "", join, "joined")}, "ff.2", "Gemm");
        std::vector<std::string> modules;
        find(scene, [&](const auto& known, const auto& finder) {
            finder.for_each_wrapper([&](id m, const std::vector<id>& operators) {
                CHECK(operators.size() == 4);
                modules.push_back(known.path(m));
            });
        });
        return modules;
    };
    CHECK(gates("ff.0.proj", "Mul") == std::vector<std::string>{"ff.0"});
    CHECK(gates("ff.0", "Mul").empty());         // no module around it
    CHECK(gates("ff.0.proj", "MatMul").empty()); // no gate
}

TEST_CASE(
    "equal_modules: a module around one other activates its result, the outermost if several") {
    const auto activates = [](const std::string& path, const std::string& type) {
        test::region_scene scene;
        const auto unit = scene.add({scene.add({scene.add()}, path, "Gemm")}, "", type, "act");
        scene.add({scene.add({unit}, "out.dense", "Gemm")}, "out.norm", "LayerNormalization");
        std::vector<std::string> modules;
        find(scene, [&](const auto& known, const auto& finder) {
            finder.for_each_wrapper(
                [&](id m, const std::vector<id>&) { modules.push_back(known.path(m)); });
        });
        return modules;
    };
    CHECK(activates("inner.dense", "Gelu") == std::vector<std::string>{"inner"});
    CHECK(activates("inner.dense.base", "Gelu") == std::vector<std::string>{"inner"});
    CHECK(activates("dense", "Gelu").empty());      // no module around it
    CHECK(activates("inner.dense", "Mul").empty()); // no activation
    CHECK(activates("inner.dense", "Slice").empty());
}

} // namespace test::evidence_detail_equal_modules
