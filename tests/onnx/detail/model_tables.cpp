// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/model_tables.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../random_model.hpp"
#include "../../wire_builder.hpp"

#include <stemma/core/id.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace test::onnx_detail_model_tables {

namespace {

using stemma::id;
using stemma::no_id;
using stemma::value_kind;
using test::value_called;

} // namespace

TEST_CASE("model_tables: results come first, in the order of nodes") {
    const test::built_model model(
        {test::node("Split", {"x"}, {"a", "b"}), test::node("Add", {"a", "w"}, {"c"})}, {"x"},
        {"c"}, {"w"});
    REQUIRE(model.value_count() == 5);
    CHECK(model.first_output(0) == 0);
    CHECK(model.first_output(1) == 2);
    for (id value = 0; value < 3; ++value) {
        CHECK(model.kind(value) == value_kind::result);
        CHECK(model.producer(value) == (value < 2 ? 0 : 1));
    }
    CHECK(model.kind(value_called(model, "x")) == value_kind::input);
    CHECK(model.kind(value_called(model, "w")) == value_kind::initializer);
    CHECK(model.producer(value_called(model, "w")) == no_id);
    CHECK(model.redefined().empty());
}

TEST_CASE("model_tables: an initializer that is also an input is one value") {
    const test::built_model model({test::node("Add", {"x", "w"}, {"y"})}, {"x", "w"}, {"y"},
                                  {"w", "v"});
    const auto w = value_called(model, "w");
    CHECK(model.kind(w) == value_kind::initializer);
    CHECK(model.inputs(0)[1] == w);
    CHECK(model.graph(0).inputs == std::vector<id>{value_called(model, "x"), w});
    CHECK(model.graph(0).initializers == std::vector<id>{w, value_called(model, "v")});
    CHECK(model.redefined().empty());
    CHECK(model.value_count() == 4);
}

TEST_CASE("model_tables: nodes of bodies precede their owner") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const test::built_model model(test::random_model(seed, true).bytes());
        std::vector<id> counts(model.graph_count());
        for (id node = 0; node < model.node_count(); ++node) {
            CHECK((model.owner(node) == no_id || model.owner(node) > node));
            CHECK(model.position(node) == counts[model.graph_of(node)]++);
        }
        for (id g = 0; g < model.graph_count(); ++g) {
            CHECK(model.graph(g).node_count == counts[g]);
        }
    }
}

TEST_CASE("model_tables: calls find the function of the same domain, name and overload") {
    const auto call = [](const char* type, const char* domain, const char* overload) {
        auto fields = test::node(type, {"x"}, {}, {}, domain);
        return *overload == '\0' ? fields : fields.text(8, overload);
    };
    auto message =
        test::model(test::graph({call("f", "d", ""), call("f", "d", "o"), call("f", "", ""),
                                 call("g", "d", ""), call("f", "d", "p"), call("f", "d", "")}));
    for (const auto* overload : {"o", "", ""}) {
        message.inner(25, test::function("d", "f", {"a"}, {}, {}, overload));
    }
    const test::built_model model(message);
    CHECK(model.callee(0) == 1); // the first of two equal functions
    CHECK(model.callee(1) == 0);
    CHECK(model.callee(2) == no_id);
    CHECK(model.callee(3) == no_id);
    CHECK(model.callee(4) == no_id);
    CHECK(model.callee(5) == 1);
    CHECK(model.operator_id(0) == model.operator_id(5));
    CHECK(model.operator_id(0) != model.operator_id(1));
    CHECK(model.operator_id(0) != model.operator_id(2));
}

} // namespace test::onnx_detail_model_tables
