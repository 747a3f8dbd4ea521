// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/joined_modules.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/model/module_lookup.hpp>

#include <string>

namespace test::evidence_detail_joined_modules {

namespace {

/// Returns: the module of an operator of which a part is in the module at `path`.
std::string module_around(const test::message& one, const char* path) {
    auto graph = test::graph({one, test::node("Relu", {"y"}, {"z"}, "/b/act/Relu"),
                              test::node("Gemm", {"z"}, {"t"}, "/b/inner/conv/Gemm")},
                             {"x"}, {"t"}, {"b.list.norm.weight", "b.inner.conv.weight"});
    test::evidence_scene scene(graph);
    const stemma::detail::joined_modules joined(scene.ops(), scene.modules(),
                                                scene.context().joined());
    const auto part = stemma::find_module(stemma::module_lookup(scene.modules()), path);
    REQUIRE(part != stemma::no_id);
    return std::string(scene.modules().path(joined.around(0, part)));
}

} // namespace

TEST_CASE("joined_modules: the name of a result shows with what an operator was fused") {
    const auto one =
        test::node("Conv", {"x", "b.inner.conv.weight"}, {"/b/act/Relu_output_0"}, "/b/inner/Conv");
    CHECK(module_around(one, "b.inner.conv") == "b");
}

TEST_CASE("joined_modules: it may be the same module") {
    const auto one = test::node("FusedGemm", {"x", "b.inner.conv.weight"},
                                {"/b/inner/conv/Relu_output_0"}, "fused /b/inner/conv/Gemm")
                         .text(7, "com.microsoft")
                         .inner(5, test::message().text(1, "activation").text(4, "Relu"));
    CHECK(module_around(one, "b.inner.conv") == "b.inner.conv");
}

TEST_CASE("joined_modules: without a name, its caller, which is no container") {
    const auto one = test::node("SkipLayerNormalization", {"x", "y", "b.list.norm.weight"},
                                {"/b/norm/Add_1_output_0"}, "SkipLayerNormalization")
                         .text(7, "com.microsoft");
    CHECK(module_around(one, "b.list.norm") == "b");
}

TEST_CASE("joined_modules: other operators are in one module") {
    const auto one = test::node("Gemm", {"x", "b.inner.conv.weight"}, {"y"}, "/b/inner/conv/Gemm");
    CHECK(module_around(one, "b.inner.conv") == "b.inner.conv");
}

} // namespace test::evidence_detail_joined_modules
