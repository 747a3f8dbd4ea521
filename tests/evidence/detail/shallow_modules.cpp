// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/shallow_modules.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::evidence_detail_shallow_modules {

using texts = std::vector<std::string>;

namespace {

/// A chain of products: the name of each operator, and the weight it reads.
std::string chain(const std::vector<std::pair<std::string, std::string>>& products) {
    std::vector<test::message> nodes;
    std::vector<std::string> weights;
    std::string from = "x";
    for (const auto& [name, weight] : products) {
        const auto to = "v" + std::to_string(nodes.size());
        nodes.push_back(test::node("Gemm", {from, weight}, {to}, name));
        weights.push_back(weight);
        from = to;
    }
    return test::model(test::graph(nodes, {"x"}, {from}, {weights.begin(), weights.end()})).bytes();
}

texts shallow(test::evidence_scene& scene) {
    texts paths;
    for (auto m : scene.context().shallow()) {
        paths.push_back(scene.modules().path(m));
    }
    return paths;
}

} // namespace

TEST_CASE(
    "find_shallow_modules: finds a module with no named level between it and several owners") {
    test::evidence_scene scene(chain({{"/model/Gemm", "model.enc.fc1.weight"},
                                      {"/model/Gemm_1", "model.enc.fc2.weight"},
                                      {"/head/Gemm", "head.weight"}}));
    CHECK(shallow(scene) == texts{"model"});
    CHECK(scene.paths<stemma::parameter_names>("/model/Gemm") == texts{"model.enc.fc1"});
    CHECK(scene.claims<stemma::parameter_names>("/model/Gemm").front().exact);
    CHECK_FALSE(scene.claims<stemma::scope_names>("/model/Gemm").front().exact);
    CHECK_FALSE(scene.claims<stemma::parameter_names>("/head/Gemm").front().exact);
}

TEST_CASE("find_shallow_modules: finds a module if a sibling is named as deep as the owner") {
    test::evidence_scene scene(chain(
        {{"/blocks.0/fc/Gemm", "blocks.0.fc.weight"}, {"/blocks.1/Gemm", "blocks.1.fc.weight"}}));
    CHECK(shallow(scene) == texts{"blocks.1"});
}

TEST_CASE("find_shallow_modules: ignores a module that uses its children's parameters") {
    test::evidence_scene scene(chain({{"/norm/Gemm", "norm.weight"},
                                      {"/attn/Gemm", "attn.qkv.weight"},
                                      {"/attn/Gemm_1", "attn.proj.weight"}}));
    CHECK(shallow(scene).empty());
}

TEST_CASE("find_shallow_modules: ignores a module with something named below") {
    test::evidence_scene scene(chain({{"/model/Gemm", "model.enc.fc1.weight"},
                                      {"/model/Gemm_1", "model.enc.fc2.weight"},
                                      {"/model/enc/fc3/Gemm", "model.enc.fc3.weight"}}));
    CHECK(shallow(scene).empty());
}

} // namespace test::evidence_detail_shallow_modules
