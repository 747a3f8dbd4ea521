// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/detail/number_calls.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>

#include <string_view>
#include <vector>

namespace test::tagging_detail_number_calls {

using stemma::id;
using stemma::no_id;
using stemma::provenance;

namespace {

/// Operators whose metadata give the module but not the call.
class scene : public test::operator_scene {
public:
    const stemma::module_tree tree = test::tree_of({"fc", "act", "block.fc"});

    id in(std::string_view path, const std::vector<id>& inputs, const char* parameter = nullptr) {
        const auto v = add(inputs);
        result.resize(size());
        result[v] = {test::module_at(tree, path), no_id, 0.95F, provenance::metadata, false};
        if (parameter != nullptr) {
            read_parameter(v, parameter);
        }
        return v;
    }

    void run() {
        result.resize(size());
        stemma::detail::number_calls(*this, tree.index(), result);
    }

    [[nodiscard]] id call(id v) const { return result[v].call; }

    std::vector<stemma::attribution> result;
};

} // namespace

TEST_CASE("number_calls: a module runs once for each reader of its parameter") {
    scene s;
    const auto x = s.add();
    const auto first = s.in("fc", {x}, "fc.weight");
    const auto bias = s.in("fc", {first}, "fc.bias");
    const auto second = s.in("fc", {bias}, "fc.weight");
    const auto after = s.in("fc", {second}, "fc.bias");
    s.run();
    CHECK(s.call(first) == 0);
    CHECK(s.call(bias) == 0);
    CHECK(s.call(second) == 1);
    CHECK(s.call(after) == 1);
}

TEST_CASE("number_calls: operators leading to the parameter's reader belong to its call") {
    scene s;
    const auto before = s.in("fc", {s.add()});
    const auto first = s.in("fc", {before}, "fc.weight");
    const auto between = s.in("fc", {s.add({first})}); // through an operator of another module
    const auto second = s.in("fc", {between}, "fc.weight");
    s.run();
    CHECK(s.call(before) == 0);
    CHECK(s.call(first) == 0);
    CHECK(s.call(between) == 1);
    CHECK(s.call(second) == 1);
}

TEST_CASE("number_calls: a leaf without parameters runs once for each connected part") {
    scene s;
    const auto x = s.add();
    const auto a = s.in("act", {x});
    const auto b = s.in("act", {a});
    const auto c = s.in("act", {s.add({b})});
    s.run();
    CHECK(s.call(a) == 0);
    CHECK(s.call(b) == 0);
    CHECK(s.call(c) == 1);
}

TEST_CASE("number_calls: a module with children but no parameters stays unnumbered") {
    scene s;
    const auto v = s.in("block", {s.add()});
    s.run();
    CHECK(s.call(v) == no_id);
}

TEST_CASE("number_calls: only operators with metadata are numbered, and known numbers stay") {
    scene s;
    const auto scoped = s.in("act", {s.add()});
    s.result[scoped].source = provenance::scope;
    const auto numbered = s.in("fc", {s.add()}, "fc.weight");
    s.result[numbered].call = 7;
    s.run();
    CHECK(s.call(scoped) == no_id);
    CHECK(s.call(numbered) == 7);
}

TEST_CASE("number_calls: a module's only call contains all its operators") {
    scene s;
    const auto weight = s.in("fc", {s.add()}, "fc.weight");
    const auto apart = s.in("fc", {s.add()});
    s.run();
    CHECK(s.call(weight) == 0);
    CHECK(s.call(apart) == 0);
}

} // namespace test::tagging_detail_number_calls
