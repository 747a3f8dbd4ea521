// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/stored_tensors.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/detail/data_hashes.hpp>

#include <string>

namespace test::onnx_detail_stored_tensors {

TEST_CASE("stored_tensors: initializers, then the tensors of Constants") {
    const auto value = test::tensor("", {2, 4}, std::string(32, 'x'));
    const auto with_tensor = [&](test::message node) {
        return node.inner(5, test::message().text(1, "value").inner(5, value).number(20, 4));
    };
    auto graph = test::graph();
    graph.inner(1, with_tensor(test::node("Constant", {}, {"a"}, "a")));
    graph.inner(1, test::node("Constant", {}, {"b"}, "b")
                       .inner(5, test::message().text(1, "value_int").number(3, 1).number(20, 2)));
    graph.inner(1, with_tensor(test::node("Other", {}, {"c"}, "c")));
    graph.inner(1, with_tensor(test::node("Constant", {}, {"d"}, "d")));
    graph.inner(5, test::tensor("w", {2, 4}, std::string(32, 'x')));
    const test::built_model model(test::model(graph));
    const stemma::detail::stored_tensors stored(model);
    REQUIRE(stored.size() == 3);
    CHECK(model.text(stored[0].name) == "w");
    REQUIRE(stored.constants().size() == 2);
    CHECK(model.name(stored.constants()[0]) == "a");
    CHECK(model.name(stored.constants()[1]) == "d");
    stemma::detail::content_hasher hasher(model);
    CHECK(hasher.hash(stored[1]) == hasher.hash(stored[0]));
    CHECK(hasher.hash(stored[2]) == hasher.hash(stored[0]));
}

} // namespace test::onnx_detail_stored_tensors
