// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/call_arguments.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../wire_builder.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace test::onnx_detail_call_arguments {

TEST_CASE("call_arguments: values are followed into and out of functions") {
    const test::built_model model(
        test::model(test::graph({test::node("Relu", {"x"}, {"a"}),
                                 test::node("Outer", {"a"}, {"b"}, "", "f"),
                                 test::node("Outer", {"b"}, {"y"}, "", "f")},
                                {"x"}, {"y"}))
            .inner(25, test::function("f", "Outer", {"p"}, {"q"},
                                      {test::node("Inner", {"p"}, {"q"}, "", "f")}))
            .inner(25,
                   test::function("f", "Inner", {"r"}, {"s"}, {test::node("Neg", {"r"}, {"s"})})));
    const stemma::detail::call_arguments arguments(model);
    const auto called = [&](const char* name, int function) {
        return test::value_called(
            model, name,
            function < 0 ? 0 : model.functions()[static_cast<std::size_t>(function)].graph);
    };
    const auto a = called("a", -1);
    const auto s = called("s", 1);
    CHECK_FALSE(arguments.empty());
    CHECK(arguments.behind(a) == a);
    CHECK(arguments.behind(called("r", 1)) == a);
    CHECK(arguments.behind(called("q", 0)) == s);
    CHECK(arguments.behind(called("y", -1)) == s);
    std::vector<stemma::id> passed;
    arguments.for_each(called("p", 0), [&](stemma::id value) { passed.push_back(value); });
    CHECK(passed == std::vector{a, called("b", -1)});
    arguments.for_each(a, [](stemma::id) { FAIL("is no formal input"); });
}

TEST_CASE("call_arguments: endless recursion ends") {
    const test::built_model model(
        test::model(test::graph({test::node("F", {"x"}, {"y"}, "", "f")}))
            .inner(25, test::function("f", "F", {"p"}, {"q"},
                                      {test::node("F", {"p"}, {"q"}, "", "f")})));
    const stemma::detail::call_arguments arguments(model);
    CHECK_NOTHROW(arguments.behind(test::value_called(model, "y")));
}

} // namespace test::onnx_detail_call_arguments
