// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/opened_calls.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace test::fold_detail_opened_calls {

namespace {

using stemma::id;

/// Functions f0, f1, ... that each call the next one twice: 2^n operators in total.
std::string doubling_model(std::size_t functions) {
    test::message model;
    model.number(1, 8).inner(8, test::opset("", 17)).inner(8, test::opset("d", 1));
    model.inner(7, test::graph({test::node("f0", {"x"}, {"y"}, "", "d")}, {"x"}, {"y"}));
    for (std::size_t f = 0; f < functions; ++f) {
        const bool last = f + 1 == functions;
        const auto callee = last ? std::string("Relu") : "f" + std::to_string(f + 1);
        const auto* domain = last ? "" : "d";
        model.inner(25, test::function("d", "f" + std::to_string(f), {"a"}, {"c"},
                                       {test::node(callee, {"a"}, {"b"}, "", domain),
                                        test::node(callee, {"b"}, {"c"}, "", domain)}));
    }
    return model.bytes();
}

stemma::detail::fold_record record_for(std::size_t functions, std::uint64_t nodes) {
    stemma::detail::fold_record record;
    for (std::size_t f = 0; f < functions; ++f) {
        record.functions.emplace_back("d", "f" + std::to_string(f));
    }
    record.nodes = nodes;
    return record;
}

std::size_t open(const std::string& bytes, const stemma::detail::fold_record& record,
                 stemma::detail::opening_budget budget = {}) {
    const stemma::wire_model model(bytes, "folded");
    const stemma::graph_contents contents(model);
    const stemma::detail::folded_functions functions(model, record);
    const stemma::detail::opened_calls::body_opener none =
        [](id) -> const stemma::detail::message_tree& {
        throw std::logic_error("nothing has bodies here");
    };
    return stemma::detail::opened_calls(model, contents, functions, record, 0, budget, none).size();
}

test::message reference(const char* name, const char* to) {
    return test::message().text(1, name).number(20, 3).text(21, to);
}

} // namespace

TEST_CASE("opened_calls: inlines what the record says, and no more") {
    // Values that two nodes of the same body make have one name; only their number counts here.
    CHECK(open(doubling_model(4), record_for(4, 16)) == 16);
    CHECK_THROWS_AS(open(doubling_model(4), record_for(4, 15)), stemma::error);
    CHECK_THROWS_AS(open(doubling_model(4), record_for(4, 17)), stemma::error);
    CHECK_THROWS_AS(open(doubling_model(60), record_for(60, 1000)), stemma::error);
}

TEST_CASE("opened_calls: rejects many calls of empty functions") {
    const auto doubling = [](const std::vector<test::message>& in_last) {
        test::message model;
        model.inner(7, test::graph({test::node("f0", {}, {}, "", "d")}, {}, {}));
        for (std::size_t f = 0; f < 60; ++f) {
            const auto call = test::node("f" + std::to_string(f + 1), {}, {}, "", "d");
            model.inner(25, test::function("d", "f" + std::to_string(f), {}, {}, {call, call}));
        }
        return model.inner(25, test::function("d", "f60", {}, {}, in_last)).bytes();
    };
    CHECK_THROWS_AS(open(doubling({}), record_for(61, 0)), stemma::error);
    const auto empty_nodes = doubling({test::message()});
    CHECK_THROWS_AS(open(empty_nodes, record_for(61, std::uint64_t{1} << 60U), {.bytes = 10'000}),
                    stemma::error);
}

TEST_CASE("opened_calls: rejects recursive or too deeply nested functions") {
    const auto bytes =
        test::message()
            .number(1, 8)
            .inner(7, test::graph({test::node("f0", {"x"}, {"y"}, "", "d")}, {"x"}, {"y"}))
            .inner(25, test::function("d", "f0", {"a"}, {"b"},
                                      {test::node("f1", {"a"}, {"b"}, "", "d")}))
            .inner(25, test::function("d", "f1", {"a"}, {"b"},
                                      {test::node("f0", {"a"}, {"b"}, "", "d")}))
            .bytes();
    CHECK_THROWS_AS(open(bytes, record_for(2, 1)), stemma::error);
    test::message deep;
    deep.inner(7, test::graph({test::node("f0", {"x"}, {"y"}, "", "d")}, {"x"}, {"y"}));
    for (std::size_t f = 0; f < 100'000; ++f) {
        deep.inner(
            25, test::function("d", "f" + std::to_string(f), {"a"}, {"b"},
                               {test::node("f" + std::to_string(f + 1), {"a"}, {"b"}, "", "d")}));
    }
    CHECK_THROWS_AS(open(deep.bytes(), record_for(100'000, 1)), stemma::error);
}

TEST_CASE("opened_calls: rejects calls that do not match their function") {
    const auto with = [](const test::message& call, const test::message& function) {
        return test::message()
            .number(1, 8)
            .inner(7, test::graph({call}, {"x"}, {"y"}))
            .inner(25, function)
            .bytes();
    };
    const auto body = [](const test::names& in, const test::names& out) {
        return test::function("d", "f0", in, out, {test::node("Relu", {"a"}, {"b"})});
    };
    const auto call = [](const test::names& in, const test::names& out) {
        return test::node("f0", in, out, "", "d");
    };
    CHECK(open(with(call({"x"}, {"y"}), body({"a"}, {"b"})), record_for(1, 1)) == 1);
    CHECK_THROWS_AS(open(with(call({}, {"y"}), body({"a"}, {"b"})), record_for(1, 1)),
                    stemma::error);
    CHECK_THROWS_AS(open(with(call({""}, {"y"}), body({"a"}, {"b"})), record_for(1, 1)),
                    stemma::error);
    CHECK_THROWS_AS(open(with(call({"x"}, {"y"}), body({"a"}, {"b", "b"})), record_for(1, 1)),
                    stemma::error);
    CHECK_THROWS_AS(open(with(call({"x"}, {"y"}), body({"a"}, {"a"})), record_for(1, 1)),
                    stemma::error);
    CHECK_THROWS_AS(open(with(call({"x"}, {"y"}), body({"c"}, {"b"})), record_for(1, 1)),
                    stemma::error);
}

TEST_CASE("call_attributes: references get the value of the call, at any depth") {
    const auto given = test::text_attribute("constant_1", "x");
    const auto bytes =
        test::model(
            test::graph({test::node("Outer", {"x"}, {"a"}).inner(5, given),
                         test::node("Inner", {"a"}, {"b"}).inner(5, reference("c", "constant_1")),
                         test::node("Constant", {}, {"y"})
                             .inner(5, reference("value_string", "c"))
                             .inner(5, reference("other", "nothing")),
                         test::node("Inner", {"b"}, {"z"}).inner(5, reference("c", "nowhere"))},
                        {"x"}, {"y"}))
            .bytes();
    const stemma::wire_model model(bytes, "model");
    stemma::detail::call_attributes outer;
    stemma::detail::call_attributes inner;
    REQUIRE(outer.read(model, 0, nullptr));
    REQUIRE(inner.read(model, 1, &outer));
    CHECK(!stemma::detail::call_attributes().read(model, 3, &outer));

    stemma::detail::message_tree node;
    std::size_t replaced = 0;
    node.edit(model.reader(model.message(2)), [&](stemma::detail::edited_field& field) {
        replaced += inner.put(model, field, node) ? 1U : 0U;
    });
    CHECK(replaced == 1); // the other one refers to nothing that is there
    CHECK(node.text(bytes) == test::node("Constant", {}, {"y"})
                                  .inner(5, test::text_attribute("value_string", "x"))
                                  .inner(5, reference("other", "nothing"))
                                  .bytes());
}

} // namespace test::fold_detail_opened_calls
