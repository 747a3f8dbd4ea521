// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/value_roles.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"
#include "../../wire_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace test::onnx_detail_value_roles {

namespace {

using role = stemma::detail::input_role;

constexpr std::uint64_t float32 = 1;
constexpr std::uint64_t int8 = 3;

test::message tensor(std::string_view name, std::uint64_t type) {
    return test::message().packed(1, {4, 6}).number(2, type).text(8, name);
}

test::message scalar(std::string_view name, std::uint64_t type) {
    return test::message().number(2, type).text(8, name);
}

/// The roles of the initializers and results of some nodes.
class scene {
public:
    scene(const std::vector<test::message>& nodes, const std::vector<test::message>& tensors)
        : scene(nodes, tensors, {}) {}
    scene(const std::vector<test::message>& nodes, const std::vector<test::message>& tensors,
          const std::vector<test::message>& functions)
        : bytes_(bytes_of(nodes, tensors, functions)), model_(bytes_), roles_(model_, table_) {}

    [[nodiscard]] bool taken_for(std::string_view name, role wanted) const {
        for (stemma::id value = 0; value < model_.value_count(); ++value) {
            if (model_.value_name(value) == name) {
                return roles_.taken_for(value, wanted);
            }
        }
        FAIL("there is no " << name);
        return false;
    }

private:
    static std::string bytes_of(const std::vector<test::message>& nodes,
                                const std::vector<test::message>& tensors,
                                const std::vector<test::message>& functions) {
        auto graph = test::graph(nodes, {"x"}, {"y"});
        for (const auto& one : tensors) {
            graph.inner(5, one);
        }
        auto model = test::model(graph);
        for (const auto& one : functions) {
            model.inner(25, one);
        }
        return model.bytes();
    }

    std::string bytes_;
    stemma::wire_model model_;
    stemma::detail::input_roles table_;
    stemma::detail::value_roles roles_;
};

} // namespace

TEST_CASE("value_roles: a constant of narrow integers, multiplied by a constant, is dequantized") {
    for (const bool first : {true, false}) {
        const scene s(
            {test::node("Cast", {"w"}, {"c"}),
             first ? test::node("Mul", {"c", "s"}, {"m"}) : test::node("Mul", {"s", "c"}, {"m"}),
             test::node("MatMul", {"x", "m"}, {"y"})},
            {tensor("w", int8), tensor("s", float32)});
        CHECK(s.taken_for("w", role::dequantized));
        CHECK(s.taken_for("w", role::weight));
        CHECK(s.taken_for("s", role::scale));
        CHECK_FALSE(s.taken_for("s", role::weight));
    }
}

TEST_CASE("value_roles: what is subtracted from quantized values is their zero point") {
    const scene s({test::node("Cast", {"w"}, {"c"}), test::node("Cast", {"z"}, {"d"}),
                   test::node("Sub", {"c", "d"}, {"b"}), test::node("Transpose", {"b"}, {"t"}),
                   test::node("Mul", {"t", "s"}, {"m"}), test::node("MatMul", {"x", "m"}, {"y"})},
                  {tensor("w", int8), tensor("z", int8), tensor("s", float32)});
    CHECK(s.taken_for("w", role::weight));
    CHECK(s.taken_for("z", role::zero_point));
    CHECK_FALSE(s.taken_for("z", role::weight));
    CHECK(s.taken_for("s", role::scale));
}

TEST_CASE("value_roles: a product of integers may be scaled instead of the weight") {
    const scene s({test::node("Cast", {"w"}, {"c"}), test::node("MatMul", {"x", "c"}, {"p"}),
                   test::node("Mul", {"p", "s"}, {"q"}), test::node("Mul", {"q", "gain"}, {"y"})},
                  {tensor("w", int8), tensor("s", float32), tensor("gain", float32)});
    CHECK(s.taken_for("w", role::weight));
    CHECK(s.taken_for("s", role::scale));
    CHECK_FALSE(s.taken_for("gain", role::scale));

    const scene scaled({test::node("Cast", {"w"}, {"c"}), test::node("Mul", {"c", "s"}, {"m"}),
                        test::node("MatMul", {"x", "m"}, {"p"}),
                        test::node("Mul", {"p", "gain"}, {"y"})},
                       {tensor("w", int8), tensor("s", float32), tensor("gain", float32)});
    CHECK(scaled.taken_for("s", role::scale));
    CHECK_FALSE(scaled.taken_for("gain", role::scale));

    const scene blocks({test::node("MatMulNBits", {"x", "w", "s"}, {"p"}, "", "com.microsoft"),
                        test::node("Mul", {"p", "gain"}, {"y"})},
                       {tensor("w", int8), tensor("s", float32), tensor("gain", float32)});
    CHECK(blocks.taken_for("w", role::weight));
    CHECK_FALSE(blocks.taken_for("gain", role::scale));
}

TEST_CASE("value_roles: a scale is one wherever calls divide the operators") {
    // The second function sees neither who made `xs` nor that `p` is a product of integers.
    const auto inner = test::function(
        "f", "Scale", {"xs", "ws", "p", "ps"}, {"q", "r"},
        {test::node("Mul", {"xs", "ws"}, {"q"}), test::node("Mul", {"p", "ps"}, {"r"})});
    const auto outer =
        test::function("f", "Pass", {"a", "b", "c", "d"}, {"q", "r"},
                       {test::node("Scale", {"a", "b", "c", "d"}, {"q", "r"}, "", "f")});
    const auto quantize =
        test::function("f", "Quantize", {"x"}, {"q", "s"},
                       {test::node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"})});
    const scene s({test::node("Quantize", {"x"}, {"xq", "xs"}, "", "f"),
                   test::node("Cast", {"w"}, {"c"}), test::node("MatMul", {"x", "c"}, {"p"}),
                   test::node("Pass", {"xs", "ws", "p", "ps"}, {"q", "y"}, "", "f")},
                  {tensor("w", int8), tensor("ws", float32), tensor("ps", float32)},
                  {inner, outer, quantize});
    CHECK(s.taken_for("ws", role::scale));
    CHECK(s.taken_for("ps", role::scale));
}

TEST_CASE("value_roles: a scaled mask is no weight") {
    const auto mask = [](const char* reader) {
        return scene({test::node("Cast", {"w"}, {"c"}), test::node("Mul", {"c", "s"}, {"m"}),
                      test::node(reader, {"x", "m"}, {"y"})},
                     {tensor("w", int8), scalar("s", float32)});
    };
    CHECK_FALSE(mask("Add").taken_for("w", role::dequantized));
    CHECK_FALSE(mask("Add").taken_for("w", role::weight));
    CHECK(mask("MatMul").taken_for("w", role::weight));
}

TEST_CASE("value_roles: factors and differences of other values are operands") {
    const scene s(
        {test::node("Mul", {"a", "b"}, {"m"}), test::node("Sub", {"m", "c"}, {"d"}),
         test::node("MatMul", {"x", "d"}, {"h"}), test::node("Cast", {"w"}, {"e"}),
         test::node("Mul", {"h", "e"}, {"y"})},
        {tensor("a", float32), tensor("b", float32), tensor("c", float32), tensor("w", int8)});
    for (const auto* name : {"a", "b", "c", "w"}) {
        CHECK_FALSE(s.taken_for(name, role::scale));
        CHECK_FALSE(s.taken_for(name, role::zero_point));
        CHECK_FALSE(s.taken_for(name, role::dequantized));
    }
}

TEST_CASE("value_roles: time grows linearly with the operators that made a constant") {
    std::vector<test::message> nodes;
    std::string last = "w";
    const std::size_t length = 20'000; // quadratic: minutes
    for (std::size_t i = 0; i < length; ++i) {
        const auto next = "c" + std::to_string(i);
        nodes.push_back(test::node("Cast", {last}, {next}));
        nodes.push_back(test::node("Mul", {next, "s"}, {"m" + std::to_string(i)}));
        last = next;
    }
    const scene s(nodes, {tensor("w", int8), tensor("s", float32)});
    CHECK(s.taken_for("w", role::dequantized));
}

} // namespace test::onnx_detail_value_roles
