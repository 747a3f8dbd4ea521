// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/model_prober.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../numerics_scene.hpp"
#include "../opened_graph.hpp"
#include "../scratch_folder.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

namespace test::numerics_model_prober {

namespace {

std::vector<std::string> outputs_of(const std::string& bytes) {
    const stemma::wire_model model(bytes, "probed");
    std::vector<std::string> names;
    for (const auto value : model.graph(0).outputs) {
        names.emplace_back(model.value_name(value));
    }
    return names;
}

nlohmann::json manifest_of(const stemma::model_prober& prober) {
    stemma::string_sink sink;
    prober.write_manifest(sink, "folder/probed.onnx");
    return nlohmann::json::parse(sink.text);
}

} // namespace

TEST_CASE("probe_model: adds outputs, and keeps every other byte", "[numerics][probe_model]") {
    for (const auto* name : {"bert_micro/model.onnx", "unet_tiny/model.onnx", "mlp/model.onnx",
                             "control_flow/model.onnx", "gpt2_tiny/model.onnx"}) {
        INFO(name);
        const stemma::attributed_model opened(test::fixture(name), {});
        const stemma::model_prober prober(opened);
        const auto bytes = prober.bytes();
        const auto before = opened.model().bytes();
        const auto outputs = outputs_of(bytes);
        CHECK(outputs.size() == opened.model().graph(0).outputs.size() + prober.added().size());
        CHECK(std::set<std::string>(outputs.begin(), outputs.end()).size() == outputs.size());
        // The same bytes at both ends, but for the length of the graph.
        const stemma::wire_model probed(bytes, "probed");
        REQUIRE(probed.node_count() == opened.model().node_count());
        for (stemma::id node = 0; node < probed.node_count(); ++node) {
            const auto was = opened.model().message(node);
            const auto is = probed.message(node);
            CHECK(before.substr(was.begin, was.size) ==
                  std::string_view(bytes).substr(is.begin, is.size));
        }
        const auto graph = opened.model().containers().front();
        const auto behind = before.substr(graph.begin + graph.size);
        CHECK(std::string_view(bytes).ends_with(behind));
        const auto front = stemma::detail::length_position(before.data(), graph.begin);
        CHECK(bytes.starts_with(before.substr(0, front)));
        const test::scratch_folder folder;
        prober.write(folder.file("out.onnx"), {.sync = false});
        CHECK(stemma::mapped_file(folder.file("out.onnx")).bytes() == bytes);
    }
}

TEST_CASE("probe_model: shared values are exposed once, and no more than requested",
          "[numerics][probe_model]") {
    const auto opened = test::in_memory(test::two_modules(), "two.onnx");
    const stemma::model_prober all(opened);
    CHECK(all.added().size() == 2); // t and u; y is an output already
    std::vector<bool> root(opened.modules().size(), false);
    root[0] = true;
    const stemma::model_prober outermost(opened, {.modules = root});
    CHECK(outermost.added().empty());
    CHECK(outermost.bytes() == opened.model().bytes());
    const stemma::model_prober named(opened, {.modules = root, .names = {"u", "missing"}});
    CHECK(named.added().size() == 1);
}

TEST_CASE("probe_model: omits and reports values of unknown type", "[numerics][probe_model]") {
    const auto bytes =
        test::model(test::graph({test::node("Strange", {"x"}, {"t"}, "/a/Strange", "other"),
                                 test::node("Relu", {"t"}, {"y"}, "/b/Relu")},
                                {"x"}, {"y"}))
            .bytes();
    const auto opened = test::in_memory(bytes, "a.onnx");
    const stemma::model_prober prober(opened);
    CHECK(prober.added().empty());
    REQUIRE(prober.left_out().size() == 1);
    CHECK(prober.left_out().front().second == stemma::probe_omission::unknown_type);
    const auto json = manifest_of(prober);
    CHECK(json["left_out"][0]["name"] == "t");
    CHECK(json["left_out"][0]["reason"] == "unknown_type");
}

TEST_CASE("probe_model: the manifest lists values with types, and modules with boundaries",
          "[numerics][probe_model]") {
    const stemma::attributed_model opened(test::fixture("bert_micro/model.onnx"), {});
    const stemma::model_prober prober(opened);
    const auto json = manifest_of(prober);
    CHECK(json["schema"] == "stemma.probe/1");
    CHECK(json["probed"] == "probed.onnx");
    CHECK(json["values"].size() == prober.shown().size());
    std::set<std::string> names;
    for (const auto& value : json["values"]) {
        CHECK(value["type"].is_string());
        names.insert(value["name"].get<std::string>());
    }
    for (const auto& module : json["modules"]) {
        CHECK_FALSE(module["outputs"].empty());
        for (const auto& output : module["outputs"]) {
            CHECK(names.contains(output.get<std::string>()));
        }
    }
}

TEST_CASE("probe_model: adds outputs at the end of a graph in several chunks",
          "[numerics][probe_model]") {
    const auto bytes =
        test::message()
            .number(1, 8)
            .inner(7, test::graph({test::node("Relu", {"x"}, {"t"}, "/a/Relu")}, {"x"}, {}))
            .inner(7, test::graph({test::node("Relu", {"t"}, {"y"}, "/b/Relu")}, {}, {"y"}))
            .inner(8, test::message().number(2, 17))
            .bytes();
    const auto opened = test::in_memory(bytes, "a.onnx");
    CHECK(outputs_of(stemma::model_prober(opened).bytes()) == std::vector<std::string>{"y", "t"});
}

TEST_CASE("probe_model: refuses a model that defines a value twice", "[numerics][probe_model]") {
    const auto bytes = test::model(test::graph({test::node("Relu", {"x"}, {"v"}, "/a/Relu"),
                                                test::node("Neg", {"v"}, {"v"}, "/b/Neg"),
                                                test::node("Abs", {"v"}, {"y"}, "/c/Abs")},
                                               {"x"}, {"y"}))
                           .bytes();
    const auto opened = test::in_memory(bytes, "m");
    CHECK_THROWS_WITH(stemma::model_prober(opened), Catch::Contains("v: the model defines"));
}

TEST_CASE("probed_names: reads names in order", "[numerics][probed_names]") {
    const test::scratch_folder folder;
    const auto path = folder.make(
        "a.json", R"({"schema": "stemma.probe/1", "values": [{"name": "b"}, {"name": "a"}]})");
    CHECK(stemma::probed_names(path) == std::vector<std::string>{"b", "a"});
}

TEST_CASE("probed_names: rejects anything else", "[numerics][probed_names]") {
    const test::scratch_folder folder;
    for (const auto* text :
         {"", "{", "[]", "{}", R"({"schema": "stemma.probe/1"})", R"({"schema": 1, "values": []})",
          R"({"schema": "stemma.probe/1", "values": {}})",
          R"({"schema": "stemma.probe/1", "values": [1]})",
          R"({"schema": "stemma.probe/1", "values": [{"name": 1}]})"}) {
        INFO(text);
        CHECK_THROWS_AS(stemma::probed_names(folder.make("a.json", text)), stemma::error);
    }
    CHECK_THROWS_AS(stemma::probed_names(folder.file("missing")), stemma::error);
}

} // namespace test::numerics_model_prober
