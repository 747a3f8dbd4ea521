// SPDX-License-Identifier: Apache-2.0
#include <stemma/numerics/isolate_modules.hpp>

#include "../catch.hpp"
#include "../model_files.hpp"
#include "../numerics_scene.hpp"
#include "../refusal.hpp"

#include <stemma/capture/captures.hpp>
#include <stemma/error.hpp>

#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test::numerics_isolate_modules {

namespace {

using numbers = std::map<std::string, std::vector<float>>;
using stemma::numerics_report;

const numbers right{{"x", {1}}, {"t", {1}}, {"u", {1}}, {"y", {2}}};
const numbers wrong{{"x", {1}}, {"t", {2}}, {"u", {2}}, {"y", {4}}};

struct scene {
    test::scratch_folder folder;
    test::observed a{folder, "a", test::two_modules(), right};
    test::observed b{folder, "b", test::two_modules(), wrong};
    stemma::numerics_report report = stemma::compare_numerics(a.get(), b.get());
    std::string apart = folder.file("apart");

    std::vector<stemma::isolated_part> isolate(stemma::cut_options options = {.sync = false}) {
        return stemma::isolate_modules(a.get(), b.get(), report, apart, std::move(options));
    }

    /// As a runner would, with numbers for the results of `file#name`.
    void put_results(const std::map<std::string, float>& results) const {
        const auto path = apart + "/results.npz";
        stemma::output_file file(path);
        stemma::detail::npz_writer out(file, path);
        for (const auto& [key, number] : results) {
            std::string content(4, '\0');
            std::memcpy(content.data(), &number, 4);
            out.add(key, 1, std::vector<std::int64_t>{1}, content);
        }
        out.finish();
        file.commit(false);
    }
};

/// Returns: why modules cannot run, by path, if a capture knows these modules of a second model.
std::map<std::string, std::string> refusals(const std::string& model, const std::string& modules) {
    scene s;
    const auto capture = s.folder.make(
        "capture.json", R"({"schema":"stemma.capture/1","modules":[)" + modules + "]}");
    const stemma::attributed_model second(s.folder.make("second.onnx", model),
                                          {.captures = stemma::captures({capture})});
    const stemma::observed_model b(second, *s.b.values);
    const auto report = stemma::compare_numerics(s.a.get(), b);
    std::map<std::string, std::string> refused;
    for (const auto& part :
         stemma::isolate_modules(s.a.get(), b, report, s.apart, {.sync = false})) {
        if (!part.refusal.empty()) {
            CHECK(refused.emplace(s.a.opened.modules().path(part.module), part.refusal).second);
        }
    }
    return refused;
}

} // namespace

TEST_CASE(
    "isolate_modules: cuts out modules that exceed a bound, with their inputs from the first run",
    "[numerics][isolate_modules]") {
    scene s;
    const auto parts = s.isolate();
    REQUIRE(parts.size() == s.report.modules.size());
    const stemma::value_file inputs(s.apart + "/inputs.npz");
    for (const auto& part : parts) {
        CHECK(part.refusal.empty());
        for (const auto& name : part.cut.inputs) {
            const auto value = inputs.find(name);
            REQUIRE(value);
            CHECK(value->is_same(*s.a.values->find(name)));
        }
        const stemma::mapped_file file(s.apart + "/" + part.file);
        CHECK(stemma::wire_model(file.bytes(), "part").node_count() > 0);
    }
    const stemma::mapped_file manifest(s.apart + "/isolate.json");
    const auto json = nlohmann::json::parse(manifest.bytes());
    CHECK(json["schema"] == "stemma.isolate/1");
    CHECK(json["parts"].size() == parts.size());
}

TEST_CASE("isolate_modules: weights that the first run computed are inputs",
          "[numerics][isolate_modules]") {
    const test::scratch_folder folder;
    const auto bytes = test::computed_weights();
    const numbers values{{"x", {1}}, {"w", {2}}, {"t", {2}}, {"y", {3}}};
    const test::observed a(folder, "a", bytes, values);
    const auto inputs_of = [&](const char* name, numbers other) {
        const test::observed b(folder, name, bytes, other);
        const auto report = stemma::compare_numerics(a.get(), b.get());
        std::map<std::string, std::vector<std::string>> inputs;
        for (auto& part :
             stemma::isolate_modules(a.get(), b.get(), report,
                                     folder.file(std::string("apart_") + name), {.sync = false})) {
            CHECK(part.refusal.empty());
            inputs[a.opened.modules().path(part.module)] = std::move(part.cut.inputs);
        }
        return inputs;
    };
    auto inputs = inputs_of("b", {{"x", {1}}, {"w", {3}}, {"t", {3}}, {"y", {4}}});
    CHECK(inputs.at("a.fc") == std::vector<std::string>{"x", "w"});
    CHECK(inputs.at("a") == std::vector<std::string>{"x"});
    inputs = inputs_of("c", {{"x", {1}}, {"t", {3}}, {"y", {4}}});
    CHECK(inputs.at("a.fc") == std::vector<std::string>{"x"});
}

TEST_CASE("isolate_modules: correct inputs show which module adds error",
          "[numerics][isolate_modules]") {
    scene s;
    std::map<std::string, float> results;
    for (const auto& part : s.isolate()) {
        const auto path = s.a.opened.modules().path(part.module);
        for (const auto& name : part.cut.outputs) {
            const float as_it_should = name == "y" ? 2 : 1;
            const bool faulty = path.empty() || path == "a" || path == "a.fc";
            results[part.file + "#" + name] = faulty ? 2 * as_it_should : as_it_should;
        }
    }
    s.put_results(results);
    CHECK(stemma::add_isolated(s.report, s.a.get(), s.apart) == s.report.modules.size());
    for (const auto& one : s.report.modules) {
        const auto path = s.a.opened.modules().path(one.module);
        INFO(path);
        CHECK(one.verdict == (path == "b" || path == "a.act"
                                  ? numerics_report::module_verdict::passes_on
                                  : numerics_report::module_verdict::adds));
    }
}

TEST_CASE("isolate_modules: a module is not judged by some of its outputs",
          "[numerics][isolate_modules]") {
    scene s;
    std::map<std::string, float> results;
    std::size_t judged = 0;
    for (const auto& part : s.isolate()) {
        const bool lacks_one = part.cut.outputs.size() > 1 || judged > 0;
        for (const auto& name : part.cut.outputs) {
            if (!lacks_one || name != part.cut.outputs.back()) {
                results[part.file + "#" + name] = 1;
            }
        }
        judged += lacks_one ? 0U : 1U;
    }
    REQUIRE(judged == 1);
    s.put_results(results);
    CHECK(stemma::add_isolated(s.report, s.a.get(), s.apart) == judged);
}

TEST_CASE("isolate_modules: reports values missing in the first run",
          "[numerics][isolate_modules]") {
    scene s;
    const test::observed less(s.folder, "less", test::two_modules(), {{"u", {1}}, {"y", {2}}});
    const auto report = stemma::compare_numerics(less.get(), s.b.get());
    const auto parts =
        stemma::isolate_modules(less.get(), s.b.get(), report, s.apart, {.sync = false});
    REQUIRE_FALSE(parts.empty());
    for (const auto& part : parts) {
        INFO(s.a.opened.modules().path(part.module));
        CHECK_FALSE(part.refusal.empty());
    }
}

TEST_CASE("isolate_modules: replaces files in the folder only with force, and never those to spare",
          "[numerics][isolate_modules]") {
    const auto code_of = [](scene& s, stemma::cut_options options) {
        return test::refusal([&] { return s.isolate(std::move(options)); }).code();
    };
    for (const auto* name : {"inputs.npz", "isolate.json", "results.npz"}) {
        INFO(name);
        scene s;
        std::filesystem::create_directory(s.apart);
        const auto mine = s.folder.make(std::string("apart/") + name, "mine");
        CHECK(code_of(s, {.sync = false}) == stemma::error_code::exists);
        CHECK(code_of(s, {.force = true, .spared = {mine}, .sync = false}) ==
              stemma::error_code::refused);
        CHECK(test::read_bytes(mine) == "mine");
        CHECK(std::distance(std::filesystem::directory_iterator(s.apart), {}) == 1);
        CHECK_NOTHROW(s.isolate({.force = true, .sync = false}));
    }
}

TEST_CASE("isolate_modules: results of other parts do not stay", "[numerics][isolate_modules]") {
    scene s;
    static_cast<void>(s.isolate());
    s.put_results({});
    static_cast<void>(s.isolate({.force = true, .sync = false}));
    CHECK_FALSE(std::filesystem::exists(s.apart + "/results.npz"));
}

TEST_CASE("isolate_modules: does not replace the first model", "[numerics][isolate_modules]") {
    scene s;
    static_cast<void>(s.isolate());
    std::vector<std::string> parts;
    for (const auto& entry : std::filesystem::directory_iterator(s.apart)) {
        if (entry.path().extension() == ".onnx") {
            parts.push_back(entry.path().string());
        }
    }
    REQUIRE_FALSE(parts.empty());
    const auto content = test::two_modules();
    const auto first =
        s.folder.make("apart/" + std::filesystem::path(parts.front()).filename().string(), content);
    const stemma::attributed_model opened(first, {});
    const stemma::observed_model a(opened, *s.a.values);
    CHECK_THROWS_AS(
        stemma::isolate_modules(a, s.b.get(), s.report, s.apart, {.force = true, .sync = false}),
        stemma::error);
    CHECK(test::read_bytes(first) == content);
}

TEST_CASE("isolate_modules: says which modules the second model lacks",
          "[numerics][isolate_modules]") {
    const auto lists = [](const std::map<std::string, std::string>& refused,
                          const std::string& path, const std::string& word) {
        const auto at = refused.find(path);
        REQUIRE(at != refused.end());
        CHECK_THAT(at->second, Catch::Contains(word));
        CHECK(refused.size() == 1);
    };
    const auto fused =
        test::model(
            test::graph({test::node("FusedMatMul", {"x", "a.fc.weight"}, {"u"}, "/a/fc/MatMul"),
                         test::node("Add", {"u", "u"}, {"y"}, "/b/Add")},
                        {"x"}, {"y"}, {"a.fc.weight"})
                .inner(13, test::value_info("u")))
            .bytes();
    const std::string modules = R"({"name":""},{"name":"a"},{"name":"a.fc"},{"name":"a.act"})";
    lists(refusals(fused, modules + R"(,{"name":"b"})"), "a.act", "no nodes");
    lists(refusals(test::two_modules(), modules), "b", "no module with this path");
}

TEST_CASE("isolate_modules: rejects a damaged list, and missing results",
          "[numerics][isolate_modules]") {
    scene s;
    static_cast<void>(s.isolate());
    CHECK_THROWS_AS(stemma::add_isolated(s.report, s.a.get(), s.apart), stemma::error);
    s.put_results({});
    CHECK(stemma::add_isolated(s.report, s.a.get(), s.apart) == 0);
    for (const auto* text :
         {"", "[]", R"({"schema": "stemma.isolate/1"})", R"({"schema": 1, "parts": []})",
          R"({"schema": "stemma.isolate/1", "parts": [1]})"}) {
        static_cast<void>(s.folder.make("apart/isolate.json", text));
        CHECK_THROWS_AS(stemma::add_isolated(s.report, s.a.get(), s.apart), stemma::error);
    }
}

} // namespace test::numerics_isolate_modules
