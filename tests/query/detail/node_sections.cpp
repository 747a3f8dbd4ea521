// SPDX-License-Identifier: Apache-2.0
#include <stemma/query/detail/node_sections.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace test::query_detail_node_sections {

namespace {

using stemma::id;
using test::node;

struct read_model {
    explicit read_model(std::string text) : bytes(std::move(text)), model(bytes), sections(model) {}

    [[nodiscard]] stemma::detail::node_section all(bool shapes = false) {
        std::vector<id> nodes(model.node_count());
        std::iota(nodes.begin(), nodes.end(), id{0});
        return sections.read(nodes, shapes);
    }

    [[nodiscard]] std::uint64_t digest(bool shapes = false) {
        const auto whole = all(shapes);
        return stemma::detail::section_colors(whole.section).digest();
    }

    std::string bytes;
    stemma::wire_model model;
    stemma::detail::node_sections sections;
};

test::message axis(std::uint64_t number) {
    return test::message().text(1, "axis").number(3, number).number(20, 2);
}

std::uint64_t digest_of(const std::vector<test::message>& nodes, const test::names& inputs = {"x"},
                        const test::names& outputs = {"y"}) {
    return read_model(test::model(test::graph(nodes, inputs, outputs)).bytes()).digest();
}

} // namespace

TEST_CASE(
    "node_sections: the order of nodes, names and attributes that say a default are nothing") {
    const auto plain = digest_of(
        {node("Relu", {"x"}, {"a"}), node("Tanh", {"x"}, {"b"}), node("Sub", {"a", "b"}, {"y"})});
    CHECK(plain == digest_of({node("Tanh", {"x"}, {"q"}), node("Relu", {"x"}, {"p"}, "named"),
                              node("Sub", {"p", "q"}, {"y"})}));
    CHECK(plain != digest_of({node("Relu", {"x"}, {"a"}), node("Tanh", {"x"}, {"b"}),
                              node("Sub", {"b", "a"}, {"y"})}));
    CHECK(digest_of({node("Flatten", {"x"}, {"y"})}) ==
          digest_of({node("Flatten", {"x"}, {"y"}).inner(5, axis(1))}));
    CHECK(digest_of({node("Flatten", {"x"}, {"y"})}) !=
          digest_of({node("Flatten", {"x"}, {"y"}).inner(5, axis(2))}));
}

TEST_CASE("node_sections: how attributes are stored, and names of their tensors, are nothing") {
    const std::string one("\0\0\x80\x3f", 4);
    const std::string two("\0\0\0\x40", 4);
    const auto with = [](const test::message& attribute) {
        return digest_of({node("Op", {"x"}, {"y"}).inner(5, attribute)});
    };
    const auto value = [&](const test::message& tensor) {
        return with(test::message().text(1, "value").inner(5, tensor).number(20, 4));
    };
    const auto plain = value(test::tensor("a", {1}, one));
    CHECK(plain == value(test::tensor("b", {1}, one)));
    CHECK(plain == value(test::message().number(1, 1).number(2, 1).fixed32(4, one)));
    CHECK(plain != value(test::tensor("a", {1}, two)));
    CHECK(plain != value(test::tensor("a", {}, one)));
    const auto floats = [] { return test::message().text(1, "f"); };
    CHECK(with(floats().fixed32(7, one).fixed32(7, two)) == with(floats().text(7, one + two)));
    CHECK(with(floats().fixed32(7, one).fixed32(7, two)) != with(floats().text(7, two + one)));
}

TEST_CASE("node_sections: trailing omitted inputs do not count") {
    CHECK(digest_of({node("Clip", {"x"}, {"y"})}) ==
          digest_of({node("Clip", {"x", "", ""}, {"y"})}));
    CHECK(digest_of({node("Clip", {"x", "z"}, {"y"})}, {"x", "z"}) !=
          digest_of({node("Clip", {"x", "", "z"}, {"y"})}, {"x", "z"}));
}

TEST_CASE("node_sections: outputs count") {
    const std::vector<test::message> nodes{node("Relu", {"x"}, {"a"}), node("Tanh", {"a"}, {"y"})};
    CHECK(digest_of(nodes) != digest_of(nodes, {"x"}, {"y", "a"}));
}

TEST_CASE("node_sections: bodies come between their inputs and their owner") {
    const auto with_body = [](const char* inside, const char* read) {
        const auto body = test::graph({node(inside, {read}, {"r"})}, {}, {"r"});
        const auto owner =
            test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)});
        return digest_of({owner, node("Relu", {"x"}, {"z"})}, {"c", "x"}, {"y", "z"});
    };
    CHECK(with_body("Relu", "x") == with_body("Relu", "x"));
    CHECK(with_body("Relu", "x") != with_body("Tanh", "x"));
    CHECK(with_body("Relu", "x") != with_body("Relu", "c"));
}

TEST_CASE("node_sections: only types and shapes of weights can count") {
    const auto with_weight = [](const test::names& weights) {
        return read_model(test::model(test::graph({node("MatMul", {"x", weights.front()}, {"y"})},
                                                  {"x"}, {"y"}, weights))
                              .bytes());
    };
    auto one = with_weight({"l.w"});
    auto other = with_weight({"l.v"});
    CHECK(one.digest() == other.digest());
    CHECK(one.digest(true) == other.digest(true));
    CHECK(one.all(true).shapes != one.all(false).shapes);
}

TEST_CASE("node_sections: the order of attributes is nothing, also of those with bodies") {
    const auto body = [](const char* name, const char* op) {
        return test::graph_attribute(name, test::graph({node(op, {"x"}, {op})}, {}, {op}));
    };
    const auto with = [](const test::message& first, const test::message& second) {
        return digest_of({test::owner_node("If", {"x"}, {"y"}, {first, second})});
    };
    const auto plain = with(body("then_branch", "Relu"), body("else_branch", "Tanh"));
    CHECK(plain == with(body("else_branch", "Tanh"), body("then_branch", "Relu")));
    CHECK(plain != with(body("else_branch", "Relu"), body("then_branch", "Tanh")));
}

} // namespace test::query_detail_node_sections
