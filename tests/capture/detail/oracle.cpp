// SPDX-License-Identifier: Apache-2.0
#include <stemma/capture/detail/oracle.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/error.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace test::capture_detail_oracle {

TEST_CASE("oracle_file: the exporter's scope precedes known modules, and those precede guesses") {
    const stemma::detail::oracle_file oracle(
        R"({"format":"fixture-truth/1","nodes":[
            {"original":"a","opaque":"n0","module":"m","known_module":"k","inferred_module":"i"},
            {"original":"b","module":null,"known_module":"k","inferred_module":"i"},
            {"original":"c","inferred_module":"i"},
            {"original":"d","module":null},
            {"original":"","opaque":"n4","module":""}, 7]})",
        "truth.json");
    CHECK(oracle.module_of("a") == "m");
    CHECK(oracle.module_of("n0") == "m");
    CHECK(oracle.is_scoped("n0"));
    CHECK(oracle.module_of("b") == "k");
    CHECK_FALSE(oracle.is_scoped("b"));
    CHECK(oracle.module_of("c") == "i");
    CHECK_FALSE(oracle.module_of("d"));
    CHECK(oracle.module_of("n4") == "");
    CHECK_FALSE(oracle.module_of("unknown"));
    CHECK_FALSE(oracle.is_scoped("unknown"));
}

TEST_CASE("oracle_file: rejects files without information") {
    for (const char* text :
         {"", "[]", "{}", R"({"nodes":[]})", R"({"nodes":[{"original":"a"}]})",
          R"({"nodes":{"original":"a","module":"m"}})", R"({"nodes":[1,null]})"}) {
        INFO(text);
        CHECK_THROWS_AS(stemma::detail::oracle_file(text, "truth.json"), stemma::error);
    }
}

TEST_CASE("oracle_file: reads the truth of every fixture") {
    const auto files = test::files_called("truth.json", ".json");
    REQUIRE_FALSE(files.empty());
    for (const auto& path : files) {
        CAPTURE(path);
        const auto bytes = test::read_bytes(path);
        const stemma::detail::oracle_file oracle(bytes, path);
        const auto nodes = nlohmann::json::parse(bytes)["nodes"];
        for (const auto& node : nodes) {
            if (node.contains("module") && node["module"].is_string() &&
                node["opaque"].is_string()) {
                CHECK(oracle.is_scoped(node["opaque"].get<std::string>()));
            }
        }
    }
}

TEST_CASE("oracle_file: a name shared by nodes of several modules is ignored") {
    const stemma::detail::oracle_file oracle(
        R"({"nodes":[{"original":"a","module":"m"},{"original":"a","module":"n"},)"
        R"({"original":"b","module":"m"},{"original":"b","module":"m"}]})",
        "truth.json");
    CHECK_FALSE(oracle.module_of("a"));
    CHECK(oracle.module_of("b") == "m");
}

} // namespace test::capture_detail_oracle
