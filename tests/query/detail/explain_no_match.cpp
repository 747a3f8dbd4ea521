// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/explain_no_match.hpp>

#include "../../catch.hpp"
#include "../../query_scene.hpp"

#include <string>

namespace test::query_detail_explain_no_match {

namespace {

std::string explain(const std::string& text) {
    static const test::query_scene scene;
    CHECK(scene.operators_for(text).empty());
    return stemma::detail::explain_no_match(stemma::parse_query(text), scene.modules, scene.tags,
                                            scene, scene.attributions);
}

bool says(const std::string& text, const std::string& part) {
    const auto said = explain(text);
    INFO(text << " -> " << said);
    CHECK(said.find(part) != std::string::npos);
    return said.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("explain_no_match: names the failing term, and similar names") {
    CHECK(says("op:MatMul and block.0", "column 15: no module has the path 'block.0'"));
    CHECK(says("op:MatMul and block.0", "similar: 'blocks.0'"));
    CHECK(says("/Net/Blok.0", "column 1: no module has the tag '/Net/Blok.0'; similar: "));
    CHECK(says("/Net/Blok.0", "'/Net/Block.0'"));
    CHECK(says("class:Liner", "'Linear'"));
    CHECK(says("head[class:Mixr]", "column 6: no module is of class 'Mixr'"));
    CHECK(says("op:Matmul", "no node is of type 'Matmul'; similar: 'MatMul'"));
    CHECK(says("from:guess", "no node has evidence 'guess'; existing: 'between', 'consumer', "));
    CHECK(says("from:metadata", "no node has evidence 'metadata'; existing: "));
    CHECK(says("#99", "no node is at '#99'"));
    CHECK(says("name:fc2", "'fc0'"));
    CHECK(says("from:scoped", "'scope'"));
    CHECK(says("reads:head.bia", "'head.bias'"));
    CHECK(says("depth>9", "no module has that depth"));
    CHECK(says("confidence:0.123", "matches no node"));
}

TEST_CASE("explain_no_match: suggests how to query things other than modules") {
    CHECK(says("op:Gemm and Mixer", "column 13: no module has the path 'Mixer'"));
    CHECK(says("Mixer", "'class:Mixer' matches modules of that class"));
    CHECK(says("MatMul", "'op:MatMul' matches nodes of that type"));
    CHECK(says("in", "'name:in' matches the node of that name"));
    CHECK(explain("blocks.7.Mixer").find("matches modules") == std::string::npos);
}

TEST_CASE("explain_no_match: says if terms only match separately") {
    CHECK(explain("op:Gemm and blocks") == "no node matches all terms");
    CHECK(explain("head and blocks") == "no module matches all terms");
    CHECK(explain("head[depth:2]") == "no module matches all terms");
    CHECK(explain("not '' and not nothing") == "no module matches all terms");
}

TEST_CASE("explain_no_match: a tree without classes is named as the reason") {
    test::query_scene scene;
    scene.modules = stemma::module_tree();
    scene.tags = stemma::name_modules(scene.modules, stemma::not_infrastructure{});
    for (auto& attribution : scene.attributions) {
        attribution.module = 0;
    }
    CHECK(stemma::detail::explain_no_match(stemma::parse_query("class:Linear"), scene.modules,
                                           scene.tags, scene, scene.attributions) ==
          "column 1: no module is of class 'Linear'; the tree knows no classes");
}

} // namespace test::query_detail_explain_no_match
