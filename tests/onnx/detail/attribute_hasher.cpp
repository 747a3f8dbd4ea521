// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/attribute_hasher.hpp>

#include "../../built_model.hpp"
#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <stemma/onnx/carrier.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::onnx_detail_attribute_hasher {

namespace {

/// Returns: the hash of a node's attributes.
std::uint64_t hash(const std::vector<test::message>& attributes, const char* type = "Pad") {
    const test::built_model model({test::owner_node(type, {"x"}, {"y"}, attributes)}, {"x"}, {"y"});
    return stemma::detail::attribute_hasher(model).read(0, false).hash;
}

test::message list(const std::vector<std::uint64_t>& numbers) {
    auto one = test::message().text(1, "list");
    for (const auto number : numbers) {
        one.number(8, number);
    }
    return one.number(20, 7);
}

} // namespace

TEST_CASE("attribute_hasher: the order of numbers counts, how they are packed does not") {
    const auto packed = test::message().text(1, "list").packed(8, {1, 2, 300}).number(20, 7);
    CHECK(hash({list({1, 2, 300})}) == hash({packed}));
    CHECK(hash({list({1, 2, 300})}) != hash({list({2, 1, 300})}));
    CHECK(hash({list({1, 2, 300})}) != hash({list({1, 2})}));
}

TEST_CASE("attribute_hasher: names of tensors and how they are stored do not count") {
    const std::string one("\0\0\x80\x3f", 4);
    const auto value = [](const test::message& tensor) {
        return hash({test::message().text(1, "value").inner(5, tensor).number(20, 4)});
    };
    const auto plain = value(test::tensor("a", {1}, one));
    CHECK(plain == value(test::tensor("b", {1}, one)));
    CHECK(plain == value(test::message().number(1, 1).number(2, 1).fixed32(4, one)));
    CHECK(plain != value(test::tensor("a", {}, one)));
    CHECK(plain != value(test::tensor("a", {1}, "abcd")));
}

TEST_CASE("attribute_hasher: neither the order of attributes nor that of fields counts") {
    const auto p = test::text_attribute("p", "1");
    const auto q = test::text_attribute("q", "2");
    CHECK(hash({p, q}) == hash({q, p}));
    CHECK(hash({p, q}) != hash({test::text_attribute("p", "2"), test::text_attribute("q", "1")}));
    CHECK(hash({p}) == hash({test::message().number(20, 3).text(4, "1").text(1, "p")}));
}

TEST_CASE("attribute_hasher: defaults, documentation and tags do not count") {
    CHECK(hash({}) == 0);
    CHECK(hash({test::text_attribute("mode", "constant")}) == 0);
    CHECK(hash({test::text_attribute("mode", "constant")}, "Resize") != 0);
    const auto mode = test::text_attribute("mode", "edge");
    CHECK(hash({mode}) == hash({test::text_attribute("mode", "edge").text(13, "repeats it")}));
    const auto tag = test::text_attribute("source_module", "a.b");
    CHECK(hash({mode, tag}) != hash({mode}));
    CHECK(hash({mode, test::message(tag).text(13, stemma::detail::attribute_mark)}) ==
          hash({mode}));
}

TEST_CASE("attribute_hasher: bodies are left out, and told") {
    const test::built_model model(
        {test::owner_node("If", {"c"}, {"y"},
                          {test::graph_attribute("then_branch", test::graph({}, {}, {"x"}))}),
         test::owner_node("If", {"c"}, {"z"},
                          {test::graph_attribute("then_branch", test::graph({}, {}, {"c"}))}),
         test::node("Relu", {"x"}, {"r"})},
        {"c", "x"}, {"y"});
    stemma::detail::attribute_hasher hasher(model);
    CHECK(hasher.read(0, false).has_graphs);
    CHECK(hasher.read(0, false).hash == hasher.read(1, false).hash);
    CHECK_FALSE(hasher.read(2, false).has_graphs);
}

} // namespace test::onnx_detail_attribute_hasher
