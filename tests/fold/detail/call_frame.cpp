// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/call_frame.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::fold_detail_call_frame {

namespace {

stemma::wire_reader reader(const std::string& bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"};
}

} // namespace

TEST_CASE("actual: bound names are what they are bound to, others lie in the scope of the call") {
    const stemma::call_frame frame{"call", {{"x", "outer"}, {"gone", ""}}};
    CHECK(stemma::actual("x", &frame) == "outer");
    CHECK(stemma::actual("gone", &frame).empty());
    CHECK(stemma::actual("inner", &frame) == "call/inner");
    CHECK(stemma::actual("", &frame).empty());
    CHECK(stemma::actual("x", nullptr) == "x");
}

TEST_CASE("with_name: an attribute keeps all but its name") {
    const auto attribute = test::message().number(20, 2).text(1, "alpha").number(3, 7).bytes();
    CHECK(stemma::with_name(attribute, "axis") ==
          test::message().text(1, "axis").number(20, 2).number(3, 7).bytes());
}

TEST_CASE("put_named, put_sparse: the name of a value changes where the message has it") {
    const stemma::call_frame frame{"call"};
    std::string out;
    const auto info = test::value_info("v").bytes();
    stemma::put_named(reader(info), 1, &frame, 13, out);
    CHECK(out == test::message().inner(13, test::value_info("call/v")).bytes());
    out.clear();
    const auto sparse = test::sparse_tensor("w").bytes();
    stemma::put_sparse(reader(sparse), &frame, 15, out);
    CHECK(out == test::message().inner(15, test::sparse_tensor("call/w")).bytes());
}

TEST_CASE("call_scopes: no value's name continues a scope, and no scope is given twice") {
    stemma::call_scopes scopes;
    scopes.take("taken/inside");
    scopes.take("value");
    CHECK(scopes.free("taken") == "taken~1");
    CHECK(scopes.free("value") == "value");
    CHECK(scopes.free("value") == "value~1");
    CHECK(scopes.free("value~1") == "value~1~1");
}

TEST_CASE("place_of: a call in no function stands in the root") {
    CHECK(stemma::place_of(nullptr).scope.empty());
    stemma::call_frame frame{"call"};
    frame.place.scope = "encoder";
    CHECK(stemma::place_of(&frame).scope == "encoder");
}

} // namespace test::fold_detail_call_frame
