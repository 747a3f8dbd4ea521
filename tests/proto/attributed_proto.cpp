// SPDX-License-Identifier: Apache-2.0
#include <stemma/proto/attributed_proto.hpp>

#include "../catch.hpp"
#include "../refusal.hpp"
#include "../sanitized.hpp"
#include "models.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/onnx/write_rope.hpp>
#include <stemma/open/original_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace test::proto_attributed_proto {

namespace fs = std::filesystem;
using stemma::attributed_model;
using stemma::attributed_proto;
using stemma::attribution_options;
using stemma::id;

namespace {

/// Returns: the captures beside a model.
std::vector<std::string> captures_beside(const fs::path& model) {
    std::vector<std::string> paths;
    for (const auto* name : {"modules.json", "trace.json", "fx.json"}) {
        const auto path = model.parent_path() / name;
        if (fs::exists(path)) {
            paths.push_back(path.string());
        }
    }
    return paths;
}

void check_same(const stemma::module_tree& actual, const stemma::module_tree& expected) {
    REQUIRE(actual.size() == expected.size());
    for (id m = 0; m < expected.size(); ++m) {
        CHECK(actual.path(m) == expected.path(m));
        CHECK(actual.qualified_class(m) == expected.qualified_class(m));
        CHECK(actual.class_name(m) == expected.class_name(m));
        CHECK(actual.calls(m) == expected.calls(m));
    }
}

void check_same(const stemma::tagging& actual, const stemma::tagging& expected) {
    REQUIRE(actual.attributions.size() == expected.attributions.size());
    std::size_t others = 0;
    for (id v = 0; v < expected.attributions.size(); ++v) {
        const auto& a = actual.attributions[v];
        const auto& b = expected.attributions[v];
        others +=
            a.module != b.module || a.call != b.call || a.source != b.source ||
                    a.confidence != b.confidence ||
                    actual.tags.text(actual.selected(v)) != expected.tags.text(expected.selected(v))
                ? 1U
                : 0U;
    }
    CHECK(others == 0);
}

/// Whether a file and the message in it get the same attributions and tags.
void check_as_file(const std::string& path, const attribution_options& options) {
    attributed_model file(path, options);
    auto model = test::load(path);
    const auto loaded = test::bytes_of(model);
    attributed_proto attributed(model, options, path);
    CHECK(test::bytes_of(model) == loaded);
    check_same(attributed.modules(), file.modules());
    check_same(attributed.tags(), file.tags());
    CHECK(ranges::equal(attributed.known().capture_notes(), file.capture_notes()));
    CHECK(ranges::equal(attributed.known().record_notes(), file.record_notes()));
    CHECK(attributed.known().tree_from_model() == file.tree_from_model());
    for (const auto& carriers :
         {stemma::carrier_set{}, stemma::carrier_set{.doc_string = true, .model = true}}) {
        attributed.tag(carriers);
        CHECK(test::bytes_of(model) ==
              test::bytes_of(test::parse(stemma::tagged_bytes(file, carriers))));
    }
}

onnx::ModelProto named_model() {
    onnx::ModelProto model;
    auto& graph = *model.mutable_graph();
    graph.add_initializer()->set_name("a.weight");
    test::add_node(graph, "MatMul", "/a/MatMul", {"x", "a.weight"}, {"h"});
    test::add_node(graph, "Relu", "/b/Relu", {"h"}, {"y"});
    return model;
}

/// Adds nodes that quantize a value and turn it into numbers again. Returns: the name of the
/// result.
std::string quantize(onnx::GraphProto& graph, const std::string& value, bool stored) {
    if (!stored) {
        test::add_node(graph, "QuantizeLinear", "", {value, "scale"}, {value + "_q"});
    }
    test::add_node(graph, "DequantizeLinear", "", {stored ? value : value + "_q", "scale"},
                   {value + "_dq"});
    return value + "_dq";
}

/// Quantizes the inputs of all products as a tool does, but for the data.
onnx::ModelProto quantized(const onnx::ModelProto& model) {
    auto result = model;
    auto& graph = *result.mutable_graph();
    graph.clear_node();
    graph.add_initializer()->set_name("scale");
    std::set<std::string> stored;
    for (const auto& tensor : graph.initializer()) {
        stored.insert(tensor.name());
    }
    std::map<std::string, std::string> converted;
    for (auto node : model.graph().node()) {
        if (node.op_type() == "MatMul" || node.op_type() == "Gemm" || node.op_type() == "Conv") {
            for (int i = 0; i < 2; ++i) {
                auto& name = converted[node.input(i)];
                name = name.empty() ? quantize(graph, node.input(i), stored.contains(node.input(i)))
                                    : name;
                node.set_input(i, name);
            }
        }
        *graph.add_node() = std::move(node);
    }
    return result;
}

} // namespace

TEST_CASE("attributed_proto: agrees with the file of a message, and writes the same") {
    // Every fifth model where a sanitizer watches.
    const auto paths = test::model_files();
    for (std::size_t i = 0; i < paths.size(); i += test::sanitized ? 5 : 1) {
        INFO(paths[i]);
        check_as_file(paths[i], {});
    }
}

TEST_CASE("attributed_proto: uses captures, including traces, as for a file") {
    std::size_t traced = 0;
    const auto paths = test::model_files();
    for (std::size_t i = 0; i < paths.size(); i += test::sanitized ? 5 : 1) {
        attribution_options options;
        const auto captures = captures_beside(paths[i]);
        options.captures = stemma::captures(captures);
        if (!options.captures.empty()) {
            INFO(paths[i]);
            check_as_file(paths[i], options);
            traced += captures.size() > 1 ? 1U : 0U;
        }
    }
    CHECK(traced > 2);
}

TEST_CASE("attributed_proto: a trace finds the nodes of a quantized model without names") {
    std::size_t nodes = 0;
    std::size_t others = 0;
    std::size_t inserted = 0;
    std::size_t astray = 0;
    for (const auto& path : test::model_files()) {
        const fs::path file(path);
        if (file.filename() != "anonymous.onnx" || !fs::exists(file.parent_path() / "trace.json")) {
            continue;
        }
        INFO(path);
        attribution_options options;
        options.captures = stemma::captures({(file.parent_path() / "modules.json").string(),
                                             (file.parent_path() / "trace.json").string()});
        auto before = test::load(path);
        auto after = quantized(before);
        const attributed_proto original(before, options);
        const attributed_proto attributed(after, options);
        CHECK(attributed.known().capture_notes().size() == original.known().capture_notes().size());
        const auto& expected = original.tags().attributions;
        const auto& actual = attributed.tags().attributions;
        std::map<std::string, id> maker;
        id v = 0; // of the original
        for (id w = 0; w < static_cast<id>(after.graph().node_size()); ++w) {
            const auto& node = after.graph().node(static_cast<int>(w));
            if (node.input_size() > 1 && node.input(1) == "scale") {
                const auto made = maker.find(node.input(0));
                inserted += made == maker.end() ? 0U : 1U;
                astray += made != maker.end() && actual[w].module != actual[made->second].module;
            } else {
                ++nodes;
                others += actual[w].module != expected[v++].module;
            }
            for (const auto& value : node.output()) {
                maker[value] = w;
            }
        }
    }
    REQUIRE(nodes > 1000);
    REQUIRE(inserted > 200);
    CHECK(others * 200 <= nodes);
    CHECK(astray * 50 <= inserted);
}

TEST_CASE("attributed_proto: derives the tree from names without a capture") {
    auto model = named_model();
    const attributed_proto attributed(model);
    CHECK(attributed.known().tree_from_model());
    CHECK(attributed.modules().path(attributed.tags().attributions[0].module) == "a");
    CHECK(attributed.modules().path(attributed.tags().attributions[1].module) == "b");
}

TEST_CASE("attributed_proto: a capture of another model is a note, and the tree comes from names") {
    auto model = test::load(test::fixture("bert_micro/model.onnx"));
    const attributed_proto alone(model);
    attribution_options options;
    options.captures = stemma::captures({test::fixture("unet_tiny/modules.json")});
    const attributed_proto attributed(model, options);
    CHECK(attributed.known().capture_notes().size() == 1);
    check_same(attributed.modules(), alone.modules());
    check_same(attributed.tags(), alone.tags());
}

TEST_CASE("attributed_proto: reads a tagged message like its file") {
    auto model = named_model();
    attributed_proto(model).tag();
    attributed_proto again(model);
    CHECK(again.known().uses_record());
    const auto once = test::bytes_of(model);
    again.tag();
    CHECK(test::bytes_of(model) == once);
}

TEST_CASE("attributed_proto: keeps parameters and given names as in a file") {
    auto model = named_model();
    model.mutable_graph()->mutable_node(1)->clear_name();
    const auto plain = test::bytes_of(model);
    const std::vector<std::string> parameters{"[\"a.weight\"]"};
    const auto bytes = stemma::tagged_bytes(
        attributed_model(stemma::mapped_file::viewing(plain, "model"), {}), stemma::usual_carriers,
        {.name_nodes = true, .parameters = &parameters});
    model = test::parse(bytes);
    attributed_proto(model).tag();
    CHECK(model.graph().node(1).name() == "Relu_1");
    CHECK(test::bytes_of(model) == test::bytes_of(test::parse(bytes)));
}

TEST_CASE("attributed_proto: keeps origins and source lines as in a file") {
    const auto source = fs::path(STEMMA_TEST_DATA) / "source" / "traced.onnx";
    const auto fixture = fs::path(test::fixture("control_flow/model.onnx"));
    for (const auto& path : {source, fixture}) {
        INFO(path);
        const auto original =
            std::make_shared<attributed_model>(path.string(), attribution_options{});
        const auto carried = stemma::carry_tags(original, path.string());
        const auto first = stemma::tagged_bytes(*carried, stemma::usual_carriers,
                                                {.sources = stemma::written_sources::shortened});
        const attributed_model again(stemma::mapped_file::viewing(first, "model"), {});
        const auto bytes = stemma::tagged_bytes(again);
        auto model = test::parse(first);
        attributed_proto attributed(model);
        REQUIRE_FALSE(attributed.tags().origins.empty());
        CHECK(attributed.known().lines().empty() == (path == fixture));
        attributed.tag();
        CHECK(test::bytes_of(model) == test::bytes_of(test::parse(bytes)));
        CHECK(bytes.find("pkg.stemma.origins") != bytes.npos);
        CHECK((bytes.find("pkg.stemma.sources") == bytes.npos) == (path == fixture));
    }
}

TEST_CASE("attributed_proto: refuses to tag a message whose nodes changed") {
    auto model = named_model();
    attributed_proto attributed(model, {}, "mine");
    test::add_node(*model.mutable_graph(), "Relu", "", {"y"}, {"z"});
    const auto changed = test::bytes_of(model);
    const auto problem = test::refusal([&] { return attributed.tag(); });
    CHECK(problem.code() == stemma::error_code::contradiction);
    CHECK(std::string(problem.what()) == "mine: changed since it was read");
    CHECK(test::bytes_of(model) == changed);
    attributed_proto(model).tag();
    CHECK(test::bytes_of(model) != changed);
}

TEST_CASE("attributed_proto: rejects a message that is not a model, by the given name") {
    onnx::ModelProto empty;
    empty.set_ir_version(8);
    CHECK(test::why_refused([&] { const attributed_proto attributed(empty, {}, "mine"); }) ==
          "mine: not an ONNX model: it has no graph");
}

TEST_CASE("attributed_proto: finds the modules of nodes added by the host program") {
    auto model = named_model();
    attributed_proto(model).tag();
    test::add_node(*model.mutable_graph(), "Relu", "", {"y"}, {"z"});
    const attributed_proto again(model);
    CHECK(again.modules().path(again.tags().attributions[2].module) == "b");
}

} // namespace test::proto_attributed_proto
