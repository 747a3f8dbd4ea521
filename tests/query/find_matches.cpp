// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/find_matches.hpp>

#include "../catch.hpp"
#include "../query_scene.hpp"

#include <stemma/model/mapped_modules.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/model/operator_graph.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/property_map/function_property_map.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::query_find_matches {

namespace {

using names = std::set<std::string>;
using paths = std::vector<std::string>;

const test::query_scene& scene() {
    static const test::query_scene instance;
    return instance;
}

names operators_for(const std::string& text) {
    return scene().operators_for(text);
}
paths modules_for(const std::string& text) {
    return scene().modules_for(text);
}

} // namespace

TEST_CASE("find_matches: a module term matches everything inside") {
    CHECK(operators_for("blocks.0") == names{"fc0", "mix0", "add0"});
    CHECK(operators_for("blocks.*.mix") == names{"mix0", "mix1"});
    CHECK(operators_for("**.fc") == names{"fc0", "mix0", "fc1", "mix1"});
    CHECK(operators_for("/Net/Block.1") == names{"fc1", "mix1", "add1"});
    CHECK(operators_for("/Net/Block.*/Mixer") == names{"mix0", "mix1"});
    CHECK(operators_for("class:Block") == operators_for("blocks.*"));
    CHECK(operators_for("class:zoo.Mix*") == operators_for("class:Mixer"));
    CHECK(operators_for("tied") == names{"head"});
    CHECK(operators_for("").size() == scene().nodes.size());
    CHECK(operators_for("''").size() == scene().nodes.size());
}

TEST_CASE("find_matches: operator terms match single operators") {
    CHECK(operators_for("op:Add") == names{"add0", "add1"});
    CHECK(operators_for("op:{Add,Gemm}") == names{"add0", "add1", "head"});
    CHECK(operators_for("op:com.zoo::Gemm") == names{"head"});
    CHECK(operators_for("op:com.*::*") == names{"head"});
    CHECK(operators_for("op:ai.onnx::Add") == names{"add0", "add1"});
    CHECK(operators_for("op:{com.zoo::*,Cast}") == names{"head", "in"});
    CHECK(operators_for("not op:ai.onnx::*") == names{"head"});
    CHECK(operators_for("op:*::{Add,Gemm}") == operators_for("op:{Add,Gemm}"));
    CHECK(operators_for("op:Gemm") == names{"head"});
    CHECK(operators_for("op:*zoo*").empty()); // no type, and a domain alone does not match
    CHECK(operators_for("op:ai.onnx::Gemm").empty());
    CHECK(operators_for("name:mix?") == names{"mix0", "mix1"});
    CHECK(operators_for("from:{consumer,between}") == names{"add0", "add1"});
    CHECK(operators_for("confidence<=0.7") == names{"in", "add0", "add1"});
    CHECK(operators_for("confidence:0.7") == names{"add0"});
    CHECK(operators_for("is:conflict") == names{"fc1"});
    CHECK(operators_for("reads:blocks.*.fc.weight") == names{"fc0", "fc1", "head"});
    CHECK(operators_for("reads:*").empty()); // does not pass over the dots
    CHECK(operators_for("reads:head.* and op:Gemm") == names{"head"});
}

TEST_CASE("find_matches: terms combine as sets of operators do") {
    const std::vector<std::string> terms{
        "blocks.0",    "class:Linear", "op:MatMul",    "confidence<1", "reads:**.weight",
        "**[is:leaf]", "depth>=2",     "/Net/Block.0", "is:conflict",  "**[depth:2]"};
    const auto all = operators_for("");
    for (const auto& a : terms) {
        names others;
        const auto in_a = operators_for(a);
        std::set_difference(all.begin(), all.end(), in_a.begin(), in_a.end(),
                            std::inserter(others, others.end()));
        CHECK(operators_for("not " + a) == others);
        CHECK(operators_for("not not " + a) == in_a);
        for (const auto& b : terms) {
            const auto in_b = operators_for(b);
            names both;
            std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(),
                                  std::inserter(both, both.end()));
            names either = in_a;
            either.insert(in_b.begin(), in_b.end());
            INFO(a << " " << b);
            CHECK(operators_for(a + " and " + b) == both);
            CHECK(operators_for(a + " or " + b) == either);
            CHECK(operators_for("not (" + a + " or " + b + ")") ==
                  operators_for("not " + a + " and not " + b));
        }
    }
}

TEST_CASE("find_matches: brackets apply to one module, `and` means inside both") {
    CHECK(modules_for("blocks.0 and class:Linear") == paths{"blocks.0.fc", "blocks.0.mix.fc"});
    CHECK(modules_for("blocks.0[class:Linear]").empty());
    CHECK(modules_for("blocks.0.**[class:Linear]") == paths{"blocks.0.fc", "blocks.0.mix.fc"});
    CHECK(modules_for("class:Linear[depth:1]") == paths{"head"});
    CHECK(modules_for("**[depth:2]") == paths{"blocks.0", "blocks.1"});
    CHECK(modules_for("depth:2") == paths{"blocks.0", "blocks.1"});
    CHECK(modules_for("class:Linear[not head and depth<=3]") ==
          paths{"blocks.0.fc", "blocks.1.fc"});
}

TEST_CASE("find_matches: modules are the topmost ones that match as a whole") {
    CHECK(modules_for("") == paths{""});
    CHECK(modules_for("**") == paths{""});
    CHECK(modules_for("*") == paths{"blocks", "head"}); // the root has no name that `*` fits
    CHECK(modules_for("not blocks.0") == paths{"blocks.1", "head"});
    CHECK(modules_for("blocks and not blocks.0") == paths{"blocks.1"});
    CHECK(modules_for("blocks.** and not **.mix") == paths{"blocks.0.fc", "blocks.1.fc"});
    CHECK(modules_for("blocks or blocks.0") == paths{"blocks"});
    CHECK(modules_for("is:selected[not is:leaf]") == paths{""});
    CHECK(modules_for("none").empty());
}

TEST_CASE("find_matches: operators of the modules found are the operators found") {
    for (const auto* text : {"blocks.*", "not blocks.1.mix", "class:Linear and not head",
                             "**[is:leaf] or /Net/Block.0", "not (head or **.mix)"}) {
        names inside;
        for (const auto& path : modules_for(text)) {
            const auto more = operators_for("'" + path + "'");
            inside.insert(more.begin(), more.end());
        }
        const auto operators = operators_for(text);
        INFO(text);
        CHECK(std::includes(operators.begin(), operators.end(), inside.begin(), inside.end()));
        // Other matches are directly in a module that also contains non-matches.
        for (const auto& name : operators) {
            CHECK((inside.count(name) == 1 || name == "in" || name.starts_with("add")));
        }
    }
}

TEST_CASE("find_matches: works on any graph, wherever names are stored") {
    using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS>;
    using vertex = graph::vertex_descriptor;
    const auto texts = [](std::vector<std::string> of) {
        return boost::make_function_property_map<vertex>(
            [of = std::move(of)](vertex v) -> std::string_view { return of[v]; });
    };
    graph tree(3);
    add_edge(0, 1, tree);
    add_edge(0, 2, tree);
    const auto attributes = texts({"", "left", "right"});
    const auto classes = texts({"Net", "Half", "Half"});
    const stemma::mapped_modules modules(tree, 0, attributes, classes, classes);
    const auto tags = stemma::name_modules(modules, stemma::all_modules{});
    graph flow(2);
    add_edge(0, 1, flow);
    const stemma::mapped_operators ops(flow, texts({"a", "b"}), texts({"MatMul", "Add"}));
    std::vector<stemma::attribution> attributions(2);
    attributions[0].module = 1;
    attributions[1].module = 2;
    const auto ask = [&](const char* text) {
        return stemma::find_matching_operators(stemma::parse_query(text), modules, tags, ops,
                                               attributions);
    };
    CHECK(ask("left") == std::vector<stemma::id>{0});
    CHECK(ask("class:Half and not op:MatMul") == std::vector<stemma::id>{1});
    CHECK(ask("/Net/Half.right") == std::vector<stemma::id>{1});
    CHECK(ask("reads:*").empty());
    CHECK(stemma::find_matching_modules(stemma::parse_query("class:Half"), modules, tags) ==
          std::vector<stemma::id>{1, 2});
}

TEST_CASE("find_matches: size terms match modules and the nodes directly in them") {
    const test::query_scene scene;
    CHECK(scene.modules_for("nodes>2") == paths{"blocks", "blocks.0", "blocks.1"});
    CHECK(scene.operators_for("nodes>2") == names{"add0", "add1", "in"});
    CHECK(scene.modules_for("has:op:Add") == paths{"blocks", "blocks.0", "blocks.1"});
    CHECK(scene.modules_for("class:Block[has:op:Add]") == paths{"blocks.0", "blocks.1"});
    CHECK(scene.modules_for("has:(op:Gemm or op:Cast)") == paths{"head"});
    CHECK(scene.modules_for("leaf and nodes:1 and blocks.0") ==
          paths{"blocks.0.fc", "blocks.0.mix.fc"});
    CHECK(scene.modules_for("parameters>0").empty()); // the number is unknown
}

TEST_CASE("find_matches: places are before, after, beside or between others, without these") {
    const test::query_scene scene;
    CHECK(scene.operators_for("feeds:head") == names{"add1"});
    CHECK(scene.operators_for("fed-by:blocks.0") == names{"fc1"});
    CHECK(scene.operators_for("feeds:name:fc0") == names{"in"});
    CHECK(scene.operators_for("feeds:fc0") == names{"in"}); // a node, as no module is called so
    CHECK(scene.operators_for("before:blocks.1") == names{"add0", "fc0", "in", "mix0"});
    CHECK(scene.operators_for("after:blocks.0") == names{"add1", "fc1", "head", "mix1"});
    CHECK(scene.operators_for("between:blocks.0..head") == names{"add1", "fc1", "mix1"});
    CHECK(scene.operators_for("between:(name:in)..(op:Add and blocks.0)") == names{"fc0", "mix0"});
    CHECK(scene.operators_for("after:blocks.0 and not op:MatMul") == names{"add1", "head"});
    CHECK(scene.operators_for("between:head..blocks.0").empty());
}

namespace {

using stemma::id;
using stemma::detail::direction;
using stemma::detail::reach;

/// 0 -> 1 -> 2 -> 3, 1 -> 3, and 4 alone.
stemma::operator_graph make_graph() {
    std::vector<stemma::operator_edge> edges;
    for (const auto& [from, to] : std::vector<std::pair<id, id>>{{0, 1}, {1, 2}, {2, 3}, {1, 3}}) {
        edges.push_back({from, to, from, 0, 0});
    }
    return {5, edges};
}

std::vector<id> reached(const std::vector<id>& from, direction way, reach far) {
    std::vector<id> vertices;
    const auto marks = stemma::detail::reachable(make_graph(), from, way, far);
    for (id v = 0; v < marks.size(); ++v) {
        if (marks[v] != 0) {
            vertices.push_back(v);
        }
    }
    return vertices;
}

} // namespace

TEST_CASE("reachable: one edge or all, excluding the start") {
    CHECK(reached({1}, direction::to_readers, reach::one_edge) == std::vector<id>{2, 3});
    CHECK(reached({0}, direction::to_readers, reach::any) == std::vector<id>{1, 2, 3});
    CHECK(reached({0}, direction::to_readers, reach::one_edge) == std::vector<id>{1});
    CHECK(reached({3}, direction::to_producers, reach::any) == std::vector<id>{0, 1, 2});
    CHECK(reached({1, 2}, direction::to_readers, reach::any) == std::vector<id>{3});
    CHECK(reached({4}, direction::to_readers, reach::any).empty());
    CHECK(reached({}, direction::to_readers, reach::any).empty());
}

} // namespace test::query_find_matches
