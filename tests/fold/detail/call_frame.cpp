// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/call_frame.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <string>

namespace test::fold_detail_call_frame {

TEST_CASE("actual: bound names are replaced, others get the scope of the call") {
    const stemma::detail::call_frame frame{"call", {{"x", "outer"}, {"gone", ""}}};
    CHECK(stemma::detail::actual("x", &frame) == "outer");
    CHECK(stemma::detail::actual("gone", &frame).empty());
    CHECK(stemma::detail::actual("inner", &frame) == "call/inner");
    CHECK(stemma::detail::actual("", &frame).empty());
    CHECK(stemma::detail::actual("x", nullptr) == "x");
}

TEST_CASE("frame_in_body: what a body defines is not bound in it") {
    const stemma::detail::call_frame frame{
        "call", {{"in", "i"}, {"made", "m"}, {"w", "v"}, {"s", "t"}, {"read", "r"}, {"y", "z"}}};
    const auto in = [&](const test::message& body) {
        const auto bytes = body.bytes();
        return stemma::detail::frame_in_body(
            {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"}, frame);
    };
    CHECK_FALSE(in(test::graph({test::node("Op", {"read"}, {"own"})}, {}, {"y"})));
    const auto inner = test::graph_attribute("body", test::graph({}, {"read"}, {}));
    const auto inside =
        in(test::graph({test::owner_node("Op", {"read"}, {"made"}, {inner})}, {"in"}, {"y"}, {"w"})
               .inner(15, test::sparse_tensor("s")));
    REQUIRE(inside);
    for (const auto* name : {"in", "made", "w", "s"}) {
        CHECK(stemma::detail::actual(name, &*inside) == "call/" + std::string(name));
    }
    CHECK(stemma::detail::actual("read", &*inside) == "r");
    CHECK(stemma::detail::actual("y", &*inside) == "z");
}

TEST_CASE("call_scopes: no name starts with a scope, and scopes are unique") {
    stemma::detail::call_scopes scopes;
    scopes.take("taken/inside");
    scopes.take("value");
    CHECK(scopes.free("taken") == "taken~1");
    CHECK(scopes.free("value") == "value");
    CHECK(scopes.free("value") == "value~1");
    CHECK(scopes.free("value~1") == "value~1~1");
}

TEST_CASE("call_scopes: no two calls give a value the same name") {
    stemma::detail::call_scopes scopes;
    CHECK(scopes.free("a", {"b/c", "d"}) == "a");
    CHECK(scopes.free("a/b", {"e"}) == "a/b");
    CHECK(scopes.free("a/b/x", {"c"}) == "a/b/x");
    CHECK(scopes.free("f/g", {"h"}) == "f/g");
    CHECK(scopes.free("f", {"g/h"}) == "f~1");
    CHECK(scopes.free("f", {"g/h"}) == "f~2");
    scopes = {};
    CHECK(scopes.free("a", {"b/c"}) == "a");
    CHECK(scopes.free("a/b", {"c"}) == "a/b~1");
}

TEST_CASE("place_of: a call outside functions is at the root") {
    CHECK(stemma::detail::place_of(nullptr).scope.empty());
    stemma::detail::call_frame frame{"call"};
    frame.place.scope = "encoder";
    CHECK(stemma::detail::place_of(&frame).scope == "encoder");
}

} // namespace test::fold_detail_call_frame
