// SPDX-License-Identifier: Apache-2.0
#include <stemma/cut/cut_plan.hpp>

#include "../catch.hpp"
#include "../written_text.hpp"

#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace test::cut_cut_plan {

namespace {

using stemma::cut_record;

} // namespace

TEST_CASE("to_string: every refusal has a unique name", "[onnx][cut_plan]") {
    using r = stemma::cut_refusal;
    std::set<std::string_view> names;
    for (auto refusal :
         {r::non_convex, r::unknown_type, r::function_body, r::no_output, r::redefined, r::cycle}) {
        CHECK_FALSE(stemma::to_string(refusal).empty());
        CHECK(names.insert(stemma::to_string(refusal)).second);
    }
    CHECK(stemma::to_string(r::none).empty());
}

TEST_CASE("write_json: lists written parts, and reasons for refused ones", "[onnx][cut_record]") {
    stemma::module_tree_builder builder;
    builder.at_path("encoder");
    const auto tree = builder.build();
    const auto tags = stemma::name_modules(tree);
    cut_record written{1, 0, "some/folder/a.onnx", {"x"}, {"y", "z"}};
    cut_record refused{0, 1, "", {}, {"y"}, stemma::cut_refusal::non_convex, "a way", false};
    CHECK_FALSE(written.is_refused());
    CHECK(refused.is_refused());
    const std::vector<cut_record> records{written, refused};
    const auto read = test::json_of(records, "model.onnx", tree, tags);
    CHECK(read.at("schema") == "stemma.cuts/1");
    CHECK(read.at("source") == "model.onnx");
    REQUIRE(read.at("cuts").size() == 2);
    const auto& first = read["cuts"][0];
    CHECK(first.at("module") == "encoder");
    CHECK(first.at("file") == "a.onnx");
    CHECK(first.at("inputs") == nlohmann::json{"x"});
    CHECK(first.at("outputs") == nlohmann::json{"y", "z"});
    CHECK(first.at("status") == "written");
    CHECK(first.at("reason").is_null());
    CHECK_FALSE(first.contains("text"));
    CHECK(first.at("exact") == true);
    const auto& second = read["cuts"][1];
    CHECK(second.at("module") == "");
    CHECK_FALSE(second.contains("file"));
    CHECK(second.at("part") == 1);
    CHECK(second.at("status") == "refused");
    CHECK(second.at("reason") == "non_convex");
    CHECK(second.at("text") == "a way");
    CHECK(second.at("exact") == false);
}

} // namespace test::cut_cut_plan
