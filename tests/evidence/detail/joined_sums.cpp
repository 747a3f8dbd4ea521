// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/joined_sums.hpp>

#include "../../catch.hpp"
#include "../../evidence_scene.hpp"
#include "../../find_in_model.hpp"
#include "../../model_with_metadata.hpp"

#include <stemma/core/id.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace test::evidence_detail_joined_sums {

namespace {

test::message conv(const test::names& in, const char* out) {
    return test::node("Conv", in, {out}, out).text(7, "com.microsoft.nchwc");
}

/// Returns: the module of the sum that the convolution of a name was joined with; "none" where
/// that is not known.
std::string module_of_sum(const std::vector<test::message>& nodes, std::string_view name,
                          const test::names& parameters) {
    test::evidence_scene scene(test::graph(nodes, {"x", "t"}, {"y"}, parameters));
    const auto& sums = scene.context().sums();
    const auto entry = sums.find(scene.node(name));
    return entry == sums.end() ? "none" : std::string(scene.modules().path(entry->second));
}

} // namespace

TEST_CASE("joined_sums: a sum belongs to the common ancestor of all steps after its fork") {
    const std::vector<test::message> nodes{
        conv({"x", "b.0.conv.weight"}, "a"), conv({"a", "b.1.steps.0.weight"}, "c"),
        conv({"c", "b.1.steps.1.weight", "zero", "a"}, "d"), conv({"d", "b.2.conv.weight"}, "y")};
    const test::names parameters{"b.0.conv.weight", "b.1.steps.0.weight", "b.1.steps.1.weight",
                                 "b.2.conv.weight", "zero"};
    CHECK(module_of_sum(nodes, "d", parameters) == "b.1");
    CHECK(module_of_sum(nodes, "c", parameters) == "none"); // it adds nothing
}

TEST_CASE("joined_sums: steps may be on both sides, and read from elsewhere") {
    const std::vector<test::message> nodes{conv({"t", "time.weight"}, "e"),
                                           conv({"x", "b.0.conv.weight"}, "a"),
                                           conv({"a", "b.1.down.weight"}, "s"),
                                           conv({"a", "b.1.conv1.weight"}, "c"),
                                           test::node("Add", {"c", "e"}, {"m"}, "m"),
                                           conv({"m", "b.1.conv2.weight", "zero", "s"}, "y")};
    CHECK(module_of_sum(nodes, "y",
                        {"time.weight", "b.0.conv.weight", "b.1.down.weight", "b.1.conv1.weight",
                         "b.1.conv2.weight", "zero"}) == "b.1");
}

TEST_CASE("joined_sums: where a conversion restores a result's name, that tells the module") {
    const auto module_behind = [](const char* result) {
        return module_of_sum({conv({"x", "head.weight"}, "a"), conv({"a", "b.0.conv1.weight"}, "c"),
                              conv({"c", "b.0.conv2.weight", "zero", "a"}, "d"),
                              test::node("ReorderOutput", {"d"}, {result}, "ReorderOutput"),
                              test::node("Mul", {result, "a"}, {"y"}, "/Mul")},
                             "d", {"head.weight", "b.0.conv1.weight", "b.0.conv2.weight", "zero"});
    };
    CHECK(module_behind("/b/b.0/Add_output_0") == "b.0");
    CHECK(module_behind("/b/Relu_output_0") == "b");
    CHECK(module_behind("/b/Transpose_output_0") == "b.0"); // as without the name
}

TEST_CASE("joined_sums: branches that never meet are no evidence") {
    CHECK(module_of_sum({conv({"x", "a.weight"}, "c"), conv({"c", "b.weight", "zero", "t"}, "y")},
                        "y", {"a.weight", "b.weight", "zero"}) == "none");
}

} // namespace test::evidence_detail_joined_sums
