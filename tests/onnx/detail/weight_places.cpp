// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/weight_places.hpp>

#include "../../catch.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace test::onnx_detail_weight_places {

TEST_CASE(
    "place_weights: a weight belongs where its name says, else to its readers' common ancestor") {
    auto graph = test::graph({test::node("Identity", {"tied"}, {"alias"}, "/Identity"),
                              test::node("MatMul", {"x", "a.weight"}, {"h"}, "/a/MatMul"),
                              test::node("MatMul", {"h", "alias"}, {"i"}, "/b/c/MatMul"),
                              test::node("MatMul", {"i", "tied"}, {"j"}, "/b/d/MatMul"),
                              test::node("Add", {"j", "a.weight"}, {"y"}, "/b/Add")},
                             {"x"}, {"y"});
    graph.inner(5, test::tensor("a.weight", {2, 3})).inner(5, test::tensor("tied", {5}));
    const auto bytes = test::model(graph).bytes();
    const test::tagged_model tagged(bytes);
    const auto weights = stemma::detail::find_weights(tagged.model);
    const auto places =
        stemma::detail::place_weights(tagged.model, tagged.modules, tagged.found, weights);
    REQUIRE(places.module.size() == 2);
    const auto paths = [&](std::span<const stemma::id> modules) {
        std::vector<std::string> all;
        for (auto m : modules) {
            all.push_back(tagged.modules.path(m));
        }
        return all;
    };
    CHECK(tagged.modules.path(places.module[0]) == "a");
    CHECK(paths(places.readers[0]) == std::vector<std::string>{"a", "b"});
    CHECK(tagged.modules.path(places.module[1]) == "b");
    CHECK(paths(places.readers[1]) == std::vector<std::string>{"b.c", "b.d"});
}

TEST_CASE("place_weights: a quantized weight belongs where what dequantizes it is used") {
    auto graph = test::graph({test::node("DequantizeLinear", {"w", "s"}, {"d"}, "dequantize"),
                              test::node("MatMul", {"x", "d"}, {"h"}, "/a/b/MatMul"),
                              test::node("Relu", {"h"}, {"y"}, "/c/Relu")},
                             {"x"}, {"y"});
    graph.inner(5, test::message().packed(1, {2, 3}).number(2, 3).text(8, "w"))
        .inner(5, test::tensor("s", {3}));
    const auto bytes = test::model(graph).bytes();
    const test::tagged_model tagged(bytes);
    const auto weights = stemma::detail::find_weights(tagged.model);
    const auto places =
        stemma::detail::place_weights(tagged.model, tagged.modules, tagged.found, weights);
    REQUIRE(weights.size() == 2);
    CHECK(weights[1].kind == stemma::weight_kind::scale);
    CHECK(tagged.modules.path(places.module[0]) == "a.b");
    REQUIRE(places.readers[0].size() == 1);
    REQUIRE(places.readers[1].size() == 1);
    CHECK(places.readers[1][0] == tagged.found.attributions[0].module);
}

} // namespace test::onnx_detail_weight_places
