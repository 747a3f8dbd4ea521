// SPDX-License-Identifier: Apache-2.0
#include <stemma/check/detail/check_structure.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <stemma/io/mapped_file.hpp>
#include <stemma/model/finding.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <string>
#include <vector>

namespace test::check_detail_check_structure {

namespace {

std::vector<std::string> findings_of(const std::string& bytes) {
    const stemma::wire_model model(bytes);
    std::vector<std::string> findings;
    stemma::detail::check_structure(model, [&](const stemma::finding& finding) {
        CHECK((finding.node == stemma::no_id || finding.node < model.node_count()));
        CHECK_FALSE(finding.place.empty());
        findings.push_back(finding.code + " at " + finding.place);
    });
    return findings;
}

using found = std::vector<std::string>;

std::string model_of(const test::message& graph) {
    return test::model(graph).bytes();
}

test::message body_with(const std::vector<test::message>& nodes, const test::names& inputs = {}) {
    return test::graph_attribute("then_branch", test::graph(nodes, inputs, {}));
}

} // namespace

TEST_CASE("check_structure: exported models have no findings") {
    for (const auto& path : test::model_files()) {
        const stemma::mapped_file file(path);
        INFO(path);
        CHECK(findings_of(std::string(file.bytes())).empty());
    }
}

TEST_CASE("check_structure: reports each violated rule at its place") {
    const auto relu = [](const char* in, const char* out, const char* name = "") {
        return test::node("Relu", {in}, {out}, name);
    };
    SECTION("a value without a producer") {
        CHECK(findings_of(model_of(test::graph({relu("q", "y")}, {"x"}, {"y"}))) ==
              found{"value.undefined at value 'q'"});
    }
    SECTION("a metadata key that occurs twice, as fusion leaves it") {
        const auto entry = [](const char* key) {
            return test::message().text(1, key).text(2, "v");
        };
        const auto node = relu("x", "y").inner(9, entry("a")).inner(9, entry("b"));
        CHECK(findings_of(model_of(test::graph({node}, {"x"}, {"y"}))).empty());
        const auto bytes =
            test::model(test::graph({test::message(node).inner(9, entry("a"))}, {"x"}, {"y"}))
                .inner(14, entry("c"))
                .inner(14, entry("c"))
                .bytes();
        CHECK(findings_of(bytes) ==
              found{"metadata.repeated at model", "metadata.repeated at node #0"});
    }
    SECTION("an undefined value has the first of its readers, or is an output") {
        const auto bytes = model_of(test::graph(
            {relu("x", "h"), relu("q", "i", "first"), relu("q", "y")}, {"x"}, {"y", "z"}));
        const stemma::wire_model model(bytes);
        std::vector<std::string> findings;
        stemma::detail::check_structure(model, [&](const stemma::finding& one) {
            findings.push_back((one.node == stemma::no_id ? "-" : std::to_string(one.node)) + " " +
                               one.place + " " + one.text);
        });
        CHECK(findings == found{"1 value 'q' is read by node 'first' (#1), but never produced",
                                "- value 'z' is an output of its graph, but never produced"});
    }
    SECTION("a value with two producers") {
        CHECK(findings_of(model_of(test::graph({relu("x", "y", "a"), relu("x", "y", "b")}, {"x"},
                                               {"y"}))) == found{"value.redefined at value 'y'"});
    }
    SECTION("a name with many producers is reported once") {
        const auto bytes = model_of(
            test::graph({relu("x", "y", "a"), relu("x", "y", "b"), relu("x", "y")}, {"x"}, {"y"}));
        std::vector<std::string> findings;
        stemma::detail::check_structure(stemma::wire_model(bytes), [&](const stemma::finding& one) {
            findings.push_back(std::to_string(one.node) + " " + one.text);
        });
        CHECK(findings == found{"1 is defined more than once: by node 'a' (#0), node 'b' (#1) and "
                                "node #2"});
    }
    SECTION("nodes that are not in order") {
        CHECK(findings_of(
                  model_of(test::graph({relu("h", "y", "late"), relu("x", "h")}, {"x"}, {"y"}))) ==
              found{"node.unsorted at node 'late' (#0)"});
        CHECK(findings_of(model_of(test::graph({relu("y", "y")}, {"x"}, {"y"}))) ==
              found{"node.unsorted at node #0"});
    }
    SECTION("no outputs") {
        CHECK(findings_of(model_of(test::graph({relu("x", "y")}, {"x"}, {}))) ==
              found{"graph.no_output at model"});
    }
    SECTION("no operator") {
        CHECK(
            findings_of(model_of(test::graph({test::node("", {"x"}, {"y"}, "n")}, {"x"}, {"y"}))) ==
            found{"node.no_operator at node 'n' (#0)"});
    }
    SECTION("a body that captures what is made behind its owner") {
        const auto owner = test::owner_node("If", {"c"}, {"y"}, {body_with({relu("h", "i")})});
        CHECK(
            findings_of(model_of(test::graph({relu("x", "h"), owner}, {"x", "c"}, {"y"}))).empty());
        CHECK(findings_of(model_of(test::graph({owner, relu("x", "h")}, {"x", "c"}, {"y"}))) ==
              found{"node.unsorted at node 0/then_branch#0"});
    }
    SECTION("a body that uses a name of the graph around it") {
        const auto owner = [&](const char* output) {
            return test::owner_node("If", {"c"}, {"y"}, {body_with({relu("x", output)})});
        };
        CHECK(findings_of(model_of(test::graph({owner("i")}, {"x", "c"}, {"y"}))).empty());
        CHECK(findings_of(model_of(test::graph({owner("c")}, {"x", "c"}, {"y"}))) ==
              found{"value.shadowed at value 'c' of 0/then_branch"});
    }
}

TEST_CASE("check_structure: every domain must be imported where it is used") {
    const auto graph = test::graph({test::node("F", {"x"}, {"y"}, "n", "own")}, {"x"}, {"y"});
    const auto inner = std::vector{test::node("Relu", {"a"}, {"b"}, "r")};
    CHECK(findings_of(test::model(graph).bytes()) == found{"opset.missing at node 'n' (#0)"});
    auto with_import = test::model(graph).inner(8, test::opset("own", 1));
    CHECK(findings_of(with_import.bytes()).empty());
    const auto function = test::function("own", "F", {"a"}, {"b"}, inner);
    CHECK(findings_of(test::message(with_import).inner(25, function).bytes()) ==
          found{"opset.missing at node 'r' (@own::F#0)"});
    auto with_opset = test::message(function).inner(9, test::opset("ai.onnx", 17));
    CHECK(findings_of(test::message(with_import).inner(25, with_opset).bytes()).empty());
    with_opset.inner(9, test::opset("", 17));
    CHECK(findings_of(test::message(with_import).inner(25, with_opset).bytes()) ==
          found{"opset.repeated at function 'own::F'"});
    CHECK(findings_of(test::message().number(1, 8).inner(7, graph).bytes()) ==
          found{"opset.none at model"});
    CHECK(findings_of(test::message(with_import).inner(8, test::opset("own", 0)).bytes()) ==
          found{"opset.repeated at model", "opset.version at model"});
    CHECK(findings_of(test::message().inner(8, test::opset("own", 1)).inner(7, graph).bytes()) ==
          found{"model.ir_version at model"});
}

TEST_CASE("check_structure: reports recursive functions") {
    const auto calling = [](const char* name, const char* callee) {
        return test::function("own", name, {"a"}, {"b"},
                              {test::node(callee, {"a"}, {"b"}, "", "own")})
            .inner(9, test::opset("own", 1));
    };
    const auto base =
        test::model(test::graph({test::node("F", {"x"}, {"y"}, "", "own")}, {"x"}, {"y"}))
            .inner(8, test::opset("own", 1));
    auto straight = test::message(base).inner(25, calling("F", "G")).inner(25, calling("G", "H"));
    CHECK(findings_of(straight.bytes()).empty());
    straight.inner(25, calling("H", "G"));
    CHECK(findings_of(straight.bytes()) == found{"function.recursive at function 'own::G'"});
    const auto harmless = test::message(base)
                              .inner(25, test::function("own", "E", {"a"}, {"a"}, {}))
                              .inner(25, test::function("own", "F", {"a"}, {"b"},
                                                        {test::node("F", {"a"}, {"b"}, "", "own"),
                                                         test::node("E", {"a"}, {"c"}, "", "own")})
                                             .inner(9, test::opset("own", 1)));
    CHECK(findings_of(harmless.bytes()) == found{"function.recursive at function 'own::F'"});
    CHECK(findings_of(test::message(base).inner(25, calling("F", "F")).bytes()) ==
          found{"function.recursive at function 'own::F'"});
}

TEST_CASE("check_structure: reports functions of the same name") {
    const auto with = [](const std::vector<test::message>& functions) {
        auto built = test::model(test::graph({test::node("Relu", {"x"}, {"y"})}, {"x"}, {"y"}));
        for (const auto& one : functions) {
            built.inner(25, one);
        }
        return built.bytes();
    };
    const auto function = [](const char* domain, const char* name, const char* overload = "") {
        return test::function(domain, name, {"a"}, {"a"}, {}, overload);
    };
    CHECK(findings_of(with({function("own", "F"), function("own", "G"), function("other", "F"),
                            function("own", "F", "second")}))
              .empty());
    CHECK(findings_of(with({function("own", "F"), function("own", "G"), function("own", "F")})) ==
          found{"function.repeated at function 'own::F'"});
}

} // namespace test::check_detail_check_structure
