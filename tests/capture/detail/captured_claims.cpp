// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/captured_claims.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../scratch_folder.hpp"
#include "../../wire_builder.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/capture/detail/capture_reader.hpp>
#include <stemma/capture/detail/oracle.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/io/mapped_file.hpp>
#include <stemma/model/accuracy.hpp>
#include <stemma/model/detail/stated_module.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/open/write_tagged.hpp>

#include <nlohmann/json.hpp>
#include <range/v3/algorithm/equal.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace test::capture_detail_captured_claims {

namespace fs = std::filesystem;

using stemma::attributed_model;
using stemma::attribution_options;
using stemma::id;
using stemma::no_id;
using stemma::provenance;
using stemma::relation;

namespace {

/// The fixtures that have a trace.
std::vector<fs::path> traced_fixtures() {
    std::vector<fs::path> folders;
    for (const auto& trace : test::files_called("trace.json", ".json")) {
        folders.push_back(fs::path(trace).parent_path());
    }
    return folders;
}

attribution_options all_parts(const fs::path& folder) {
    std::vector<std::string> paths;
    for (const char* part : {"modules.json", "trace.json", "fx.json"}) {
        if (fs::exists(folder / part)) {
            paths.push_back((folder / part).string());
        }
    }
    attribution_options options;
    options.captures = stemma::captures(std::move(paths));
    return options;
}

struct score {
    std::size_t nodes = 0;
    std::size_t right = 0;
    std::size_t contaminated = 0;
    std::size_t sure = 0;
    std::size_t sure_right = 0;
    std::size_t sure_contaminated = 0;

    score& operator+=(const score& other) {
        nodes += other.nodes;
        right += other.right;
        contaminated += other.contaminated;
        sure += other.sure;
        sure_right += other.sure_right;
        sure_contaminated += other.sure_contaminated;
        return *this;
    }
};

double share(std::size_t part, std::size_t whole) {
    return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

score judge(const attributed_model& opened, const fs::path& folder) {
    const stemma::mapped_file file((folder / "truth.json").string());
    const stemma::detail::oracle_file truth(file.bytes(), file.path());
    score result;
    for (id node = 0; node < opened.model().node_count(); ++node) {
        const auto module = truth.module_of(opened.model().name(node));
        if (!module) {
            continue;
        }
        const auto& attribution = opened.tags().attributions[node];
        const auto how = stemma::relate(opened.modules().path(attribution.module), *module);
        const bool sure = attribution.confidence >= 0.9F;
        result += {1,
                   how == relation::exact ? 1U : 0U,
                   how == relation::contaminated ? 1U : 0U,
                   sure ? 1U : 0U,
                   sure && how == relation::exact ? 1U : 0U,
                   sure && how == relation::contaminated ? 1U : 0U};
    }
    return result;
}

/// Holds the models of one kind to the documented figures.
void check_kind(const std::string& kind, double pooled, double each, double contaminated) {
    score total;
    double mean = 0;
    std::size_t models = 0;
    for (const auto& folder : traced_fixtures()) {
        const auto model = folder / (kind + ".onnx");
        if (!fs::exists(model)) {
            continue;
        }
        const attributed_model opened(model.string(), all_parts(folder));
        const auto one = judge(opened, folder);
        INFO(model.string() << ": " << one.right << " of " << one.nodes);
        const bool good = share(one.right, one.nodes) >= each || one.nodes - one.right <= 1;
        CHECK(good);
        total += one;
        mean += share(one.right, one.nodes);
        ++models;
    }
    REQUIRE(models > 10);
    REQUIRE(share(total.right, total.nodes) >= pooled);
    REQUIRE(mean / static_cast<double>(models) >= pooled);
    REQUIRE(share(total.contaminated, total.nodes) <= contaminated);
    REQUIRE(share(total.sure_right, total.sure) >= 0.99);
    REQUIRE(share(total.sure_right, total.right) >= 0.85);
    CHECK(total.sure_contaminated == 0);
}

std::string tag(const attributed_model& opened, const test::scratch_folder& folder,
                const std::string& name) {
    stemma::write_tagged(opened, folder.file(name), stemma::carrier_set{}, {.sync = false});
    return folder.file(name);
}

} // namespace

TEST_CASE("find_parameter_shapes: a matrix in blocks of a few bits has the shape of the matrix") {
    auto product = test::node("MatMulNBits", {"x", "w", "scales"}, {"y"}, "", "com.microsoft");
    for (const auto& [name, extent] : {std::pair("K", 64U), std::pair("N", 8U)}) {
        product.inner(5, test::message().text(1, name).number(3, extent).number(20, 2));
    }
    auto graph = test::graph({product}, {"x"}, {"y"});
    graph.inner(5, test::tensor("w", {8, 2, 16})).inner(5, test::tensor("scales", {16}));
    const test::built_model model(test::model(graph));
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    const auto shapes = stemma::detail::find_parameter_shapes(model, ops);
    REQUIRE(shapes.knows(1));
    CHECK(ranges::equal(shapes.of(0), std::vector{8, 64}));
    CHECK(ranges::equal(shapes.of(1), std::vector{16}));
}

TEST_CASE("captured_claims: finds unnamed nodes") {
    check_kind("unnamed", 0.995, 0.95, 0.001);
}

TEST_CASE("captured_claims: finds nodes even if parameters are unnamed") {
    check_kind("anonymous", 0.98, 0.90, 0.005);
}

TEST_CASE("captured_claims: keeps what the file itself proves") {
    for (const auto& folder : traced_fixtures()) {
        const auto model = folder / "model.onnx";
        if (!fs::exists(model)) {
            continue;
        }
        INFO(model.string());
        attribution_options tree_only;
        tree_only.captures = stemma::captures({(folder / "modules.json").string()});
        const attributed_model alone(model.string(), tree_only);
        const attributed_model with_trace(model.string(), all_parts(folder));
        for (id node = 0; node < alone.model().node_count(); ++node) {
            const auto& before = alone.tags().attributions[node];
            if (before.source < provenance::parameter) {
                CHECK(with_trace.tags().attributions[node].module == before.module);
            }
        }
    }
}

TEST_CASE("captured_claims: a tagged file retains everything from its capture") {
    const test::scratch_folder scratch;
    for (const auto& name : {"bert_micro", "control_flow", "quirks", "two_tower"}) {
        const auto folder = fs::path(test::fixture(name));
        INFO(name);
        attributed_model first((folder / "anonymous.onnx").string(), all_parts(folder));
        REQUIRE_FALSE(first.captured().empty());
        const auto once = tag(first, scratch, std::string(name) + "1.onnx");
        attributed_model alone(once, {});
        REQUIRE(alone.model().node_count() == first.model().node_count());
        for (id node = 0; node < first.model().node_count(); ++node) {
            const auto& a = first.tags().attributions[node];
            const auto& b = alone.tags().attributions[node];
            CHECK(a.module == b.module);
            CHECK(a.call == b.call);
            CHECK(a.source == b.source);
            CHECK(a.confidence == b.confidence);
            CHECK(a.conflict == b.conflict);
            CHECK(first.claims_about(node).size() == alone.claims_about(node).size());
        }
        const auto twice = tag(alone, scratch, std::string(name) + "2.onnx");
        CHECK(test::read_bytes(once) == test::read_bytes(twice));
    }
}

TEST_CASE("captured_claims: options select the parts used") {
    const auto folder = fs::path(test::fixture("bert_micro"));
    const auto sources_of = [&](provenance source) {
        auto options = all_parts(folder);
        options.sources = std::vector{source};
        const attributed_model opened((folder / "anonymous.onnx").string(), options);
        std::vector<provenance> spoken;
        for (const auto& table : opened.captured()) {
            spoken.push_back(table.source);
        }
        return spoken;
    };
    CHECK(sources_of(provenance::trace) == std::vector{provenance::trace});
    CHECK(sources_of(provenance::fx) == std::vector{provenance::fx});
    CHECK(sources_of(provenance::scope).empty());
}

TEST_CASE("captured_claims: two FX graphs vote; where they differ, neither is sure") {
    const auto folder = fs::path(test::fixture("two_tower"));
    const auto bytes = test::read_bytes((folder / "anonymous.onnx").string());
    const stemma::wire_model model(bytes, "anonymous.onnx");
    const stemma::onnx_operators<stemma::wire_model> ops(model);
    const auto graph = nlohmann::json::parse(test::read_bytes((folder / "fx.json").string()));
    auto swapped = graph; // with the towers exchanged
    const auto swap = [](const std::string& text) {
        const std::string first = "text_model";
        const std::string second = "vision_model";
        return text.starts_with(first)    ? second + text.substr(first.size())
               : text.starts_with(second) ? first + text.substr(second.size())
                                          : text;
    };
    for (auto& node : swapped["nodes"]) {
        if (node["op"] == "call_module") {
            node["target"] = swap(node["target"]);
        }
    }
    const auto claims_of = [&](std::vector<nlohmann::json> graphs) {
        stemma::detail::capture_reader reader;
        reader.read(test::read_bytes((folder / "modules.json").string()), "modules.json");
        nlohmann::json both{{"fx", {{"tracer", "both"}, {"nodes", nlohmann::json::array()}}}};
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            for (auto& node : graphs[i]["nodes"]) {
                node["tracer"] = "tracer " + std::to_string(i);
                both["fx"]["nodes"].push_back(node);
            }
        }
        reader.read(both.dump(), "fx");
        const auto tree = reader.tree();
        const auto owners = stemma::detail::find_parameter_owners(ops, tree);
        stemma::detail::captured_claims finder(model, ops, tree, owners.mapping);
        for (const auto& operations : reader.fx(tree)) {
            finder.align_operations(operations, provenance::fx,
                                    std::vector<stemma::detail::stated_module>(model.node_count()));
        }
        auto claims = finder.finish().claims;
        REQUIRE(claims.size() == 1);
        return claims.front().of;
    };
    const auto one = claims_of({graph});
    const auto same = claims_of({graph, graph});
    const auto other = claims_of({graph, swapped});
    std::size_t doubted = 0;
    for (std::size_t node = 0; node < one.size(); ++node) {
        CHECK(same[node].module == one[node].module);
        CHECK(same[node].confidence == one[node].confidence);
        doubted += one[node].confidence >= 0.9F && other[node].confidence < 0.9F ? 1U : 0U;
    }
    CHECK(doubted > 10);
}

TEST_CASE("captured_claims: a trace of another model makes no sure claims, and is reported") {
    const auto ours = fs::path(test::fixture("resnet18"));
    for (const auto& name : {"bert_micro", "gpt2_tiny", "lstm_classifier", "vit_b_16"}) {
        const auto theirs = fs::path(test::fixture(name));
        const attributed_model opened((ours / "anonymous.onnx").string(), all_parts(theirs));
        INFO(name);
        CHECK_FALSE(opened.capture_notes().empty());
        for (const auto& attribution : opened.tags().attributions) {
            CHECK(attribution.confidence < 0.9F);
        }
    }
}

TEST_CASE(
    "captured_claims: a trace is not considered foreign if functions contain most of the model") {
    const auto folder = fs::path(test::fixture("bert_micro"));
    const attributed_model opened((folder / "model.functions_all.onnx").string(),
                                  all_parts(folder));
    REQUIRE_FALSE(opened.capture_notes().empty());
    for (const auto& note : opened.capture_notes()) {
        INFO(note);
        CHECK(note.find("outside functions") != note.npos);
    }
}

TEST_CASE("captured_claims: the record of an export is exact, or unused") {
    const test::scratch_folder scratch;
    const auto model = test::fixture("mlp/anonymous.onnx");
    const auto modules = test::fixture("mlp/modules.json");
    const stemma::mapped_file file(model);
    const stemma::wire_model scanned(file.bytes(), model);
    const auto record_of = [&](const std::string& last_type) {
        std::string nodes;
        for (id node = 0; node < scanned.node_count(); ++node) {
            const bool last = node + 1 == scanned.node_count();
            nodes += std::string(nodes.empty() ? "" : ",") + R"({"graph":"","index":)" +
                     std::to_string(scanned.position(node)) + R"(,"op_type":")" +
                     (last && !last_type.empty() ? last_type : std::string(scanned.op_type(node))) +
                     R"(","scope":"app.Mlp::"})";
        }
        return R"({"export":{"nodes":[)" + nodes + "]}}";
    };
    attribution_options options;
    options.captures = stemma::captures({modules, scratch.make("export.json", record_of(""))});
    const attributed_model opened(model, options);
    for (const auto& attribution : opened.tags().attributions) {
        CHECK(attribution.source == provenance::exported);
        CHECK(attribution.confidence == 1);
        CHECK(attribution.module == 0);
    }
    options.captures =
        stemma::captures({modules, scratch.make("other.json", record_of("Sigmoid"))});
    const attributed_model other(model, options);
    CHECK_FALSE(other.capture_notes().empty());
    CHECK(other.captured().empty());
}

} // namespace test::capture_detail_captured_claims
