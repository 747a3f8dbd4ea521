// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/value_renaming.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::onnx_detail_value_renaming {

namespace {

stemma::wire_reader reader_of(const std::string& bytes) {
    return {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"};
}

stemma::value_renaming renaming() {
    stemma::value_renaming names;
    names.add("a", "other");
    return names;
}

} // namespace

TEST_CASE("value_renaming: changes what is named, and leaves the rest as it is",
          "[onnx][value_renaming]") {
    const auto names = renaming();
    CHECK_FALSE(names.empty());
    CHECK(stemma::value_renaming().empty());
    CHECK(names("a") == "other");
    CHECK(names("b") == "b");
    const auto before = test::node("Add", {"a", "b"}, {"a"}, "a").text(100, "a").bytes();
    const auto after = test::node("Add", {"other", "b"}, {"other"}, "a").text(100, "a").bytes();
    CHECK(names.node(reader_of(before)) == after);
}

TEST_CASE("value_renaming: follows names into bodies", "[onnx][value_renaming]") {
    const auto owner = [](const std::string& name) {
        const auto inner = test::graph({test::node("Relu", {name}, {"r"})}, {}, {name});
        const auto outer = test::graph(
            {test::owner_node("If", {"c"}, {"q"}, {test::graph_attribute("then_branch", inner)})},
            {}, {"q"});
        return test::owner_node("Loop", {name}, {"y"}, {test::graphs_attribute("bodies", {outer})})
            .bytes();
    };
    CHECK(renaming().node(reader_of(owner("a"))) == owner("other"));
}

TEST_CASE("value_renaming: renames value infos, tensors and annotations",
          "[onnx][value_renaming]") {
    const auto names = renaming();
    const auto info = test::value_info("a").bytes();
    CHECK(names.value_info(reader_of(info)) == test::value_info("other").bytes());
    const auto tensor = test::tensor("a", {2}, "data").bytes();
    CHECK(names.tensor(reader_of(tensor)) == test::tensor("other", {2}, "data").bytes());
    const auto note = [](const std::string& name) {
        return test::message().text(1, name).inner(2, test::entry("SCALE_TENSOR", name)).bytes();
    };
    CHECK(names.annotation(reader_of(note("a"))) == note("other"));
}

} // namespace test::onnx_detail_value_renaming
