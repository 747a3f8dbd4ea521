// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/query_answer.hpp>

#include "../built_model.hpp"
#include "../captured_model.hpp"
#include "../catch.hpp"
#include "../model_files.hpp"
#include "../wire_builder.hpp"

#include <stemma/io/json_writer.hpp>
#include <stemma/onnx/value_definitions.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/query/find_modules.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace test::query_query_answer {

namespace {

using stemma::id;

stemma::query_answer ask(const stemma::attributed_model& opened, const std::string& text) {
    return stemma::answer_query(stemma::parse_query(text), opened.model(), opened.operators(),
                                opened.modules(), opened.tags());
}

} // namespace

TEST_CASE("query_answer: values are outputs, and initializers inputs, of matching nodes") {
    for (const auto* fixture : {"bert_mlm", "control_flow", "two_tower"}) {
        const auto opened = test::captured_model(fixture);
        const auto& model = opened.model();
        for (const auto* text : {"", "**[is:leaf]", "op:{MatMul,Gemm}", "from:consumer"}) {
            const auto answer = ask(opened, text);
            const std::set<id> nodes(answer.nodes.begin(), answer.nodes.end());
            const std::set<id> values(answer.values.begin(), answer.values.end());
            const std::set<id> weights(answer.initializers.begin(), answer.initializers.end());
            CHECK(values.size() == answer.values.size());
            for (id value = 0; value < model.value_count(); ++value) {
                const auto producer = model.producer(value);
                const bool is_output = producer != stemma::no_id && nodes.count(producer) == 1;
                CHECK(values.count(value) ==
                      (is_output && !model.value_name(value).empty() ? 1U : 0U));
                bool read = false;
                for (auto node : nodes) {
                    for (auto input : model.inputs(node)) {
                        const auto passes = input == stemma::no_id ? input : model.producer(input);
                        const bool behind = passes != stemma::no_id &&
                                            model.op_type(passes) == "Identity" &&
                                            model.inputs(passes)[0] == value;
                        read = read || input == value || behind;
                    }
                }
                CHECK(weights.count(value) == (read && model.is_initializer(value) ? 1U : 0U));
            }
        }
        CHECK(ask(opened, "").nodes.size() == model.node_count());
        CHECK(ask(opened, "").modules.size() == opened.modules().size() - 1);
        CHECK(ask(opened, "op:*").modules.empty());
    }
}

TEST_CASE("query_answer: modules are all that a query names, even nested ones") {
    const auto opened = test::captured_model("mobilenet_v2", "model.structure.onnx");
    const auto& modules = opened.modules();
    const auto paths = [&](const std::string& text) {
        std::set<std::string> listed;
        for (auto m : ask(opened, text).modules) {
            listed.insert(modules.path(m));
        }
        return listed;
    };
    const auto wanted = [&](auto fits) {
        std::set<std::string> listed;
        for (id m = 1; m < modules.size(); ++m) {
            if (fits(m)) {
                listed.insert(modules.path(m));
            }
        }
        return listed;
    };
    const auto is_sequential = [&](id m) { return modules.class_name(m) == "Sequential"; };
    const auto is_below = [&](id m) { return modules.path(m).starts_with("features."); };
    CHECK(paths("class:Sequential") == wanted(is_sequential));
    CHECK(paths("class:Sequential").count("features.1.conv") == 1);
    CHECK(paths("features.**") == wanted(is_below));
    CHECK(paths("features.** and class:Sequential") ==
          wanted([&](id m) { return is_below(m) && is_sequential(m); }));
    CHECK(paths("features.** and not features.1") == wanted([&](id m) {
              return is_below(m) && !(modules.path(m) + ".").starts_with("features.1.");
          }));
    CHECK(paths("classifier or class:Sequential") == wanted(is_sequential));
    CHECK(paths("features.1 and class:Conv2d") == wanted([&](id m) {
              return modules.path(m).starts_with("features.1.") &&
                     modules.class_name(m) == "Conv2d";
          }));
    CHECK(paths("features and not features.1") == wanted([&](id m) {
              return modules.index().parent(m) != 0 && modules.index().depth(m) == 2 &&
                     is_below(m) && modules.path(m) != "features.1";
          }));
    CHECK(paths("depth>1") == wanted([&](id m) { return modules.index().depth(m) > 1; }));
    CHECK(paths("not features") == std::set<std::string>{"classifier"});
    CHECK(paths("") == wanted([](id) { return true; }));
}

TEST_CASE("query_answer: nodes can be queried by position") {
    const stemma::attributed_model opened(test::fixture("control_flow/model.onnx"), {});
    const auto& model = opened.model();
    for (id node = 0; node < model.node_count(); ++node) {
        const auto asked = stemma::parse_query(stemma::position_text(model, node));
        CHECK(stemma::answer_query(asked, opened).nodes == std::vector<id>{node});
    }
    CHECK_THROWS(stemma::answer_query(stemma::parse_query("#99999"), opened));
}

TEST_CASE("query_answer: the JSON names every match") {
    const auto opened = test::captured_model("control_flow");
    const auto answer = ask(opened, "");
    stemma::string_sink out;
    stemma::json_writer json(out);
    json.begin_object();
    stemma::write_json(json, answer, opened.model(), opened.modules(), opened.tags());
    json.end_object();
    json.finish();
    const auto written = nlohmann::json::parse(out.text);
    CHECK(written["modules"].size() == answer.modules.size());
    CHECK(written["values"].size() == answer.values.size());
    CHECK(written["initializers"].size() == answer.initializers.size());
    REQUIRE(written["nodes"].size() == answer.nodes.size());
    std::set<std::string> places;
    for (const auto& node : written["nodes"]) {
        places.insert(node["graph"].get<std::string>() + "#" + node["index"].dump());
    }
    CHECK(places.size() == answer.nodes.size());
    CHECK(std::any_of(places.begin(), places.end(),
                      [](const std::string& place) { return place.front() != '#'; }));
}

TEST_CASE("names_of: each name once, positions for unnamed nodes, and counts of ambiguities") {
    const stemma::attributed_model opened(test::fixture("control_flow/model.onnx"), {});
    const auto& model = opened.model();
    std::vector<id> all(model.node_count());
    std::iota(all.begin(), all.end(), id{0});
    const auto every = stemma::names_of(model, all);
    CHECK(every.others == 0);
    CHECK(std::set<std::string>(every.names.begin(), every.names.end()).size() ==
          every.names.size());
    for (auto node : all) {
        const std::vector<id> one{node};
        const auto names = stemma::names_of(model, one);
        REQUIRE(names.names.size() == 1);
        std::size_t others = 0;
        for (auto other : all) {
            others +=
                other != node && !model.name(node).empty() && model.name(other) == model.name(node)
                    ? 1U
                    : 0U;
        }
        CHECK(names.others == others);
        CHECK(names.unnamed == (model.name(node).empty() ? 1U : 0U));
        CHECK(names.names.front() == (model.name(node).empty() ? stemma::position_text(model, node)
                                                               : std::string(model.name(node))));
    }
}

TEST_CASE("names_of: positions instead of names with line breaks") {
    const test::built_model model(test::model(test::graph(
        {test::node("Relu", {"x"}, {"v"}, "a\nb"), test::node("Relu", {"v"}, {"y"}, "c d")}, {"x"},
        {"y"})));
    const auto names = stemma::names_of(model, std::vector<id>{0, 1});
    CHECK(names.names == std::vector<std::string>{"#0", "c d"});
    CHECK(names.broken == 1);
    CHECK(names.unnamed == 0);
}

} // namespace test::query_query_answer
