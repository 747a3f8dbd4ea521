// SPDX-License-Identifier: Apache-2.0
#include <stemma/onnx/detail/rename_values.hpp>

#include "../../catch.hpp"
#include "../../wire_builder.hpp"

#include <string>

namespace test::onnx_detail_rename_values {

namespace {

using stemma::detail::names_in;

std::string renamed(const std::string& bytes, names_in message) {
    stemma::detail::new_names names;
    names.add("a", "other");
    const stemma::detail::wire_reader fields(bytes.data(), 0,
                                             static_cast<std::uint32_t>(bytes.size()), "test");
    stemma::detail::message_tree tree;
    stemma::detail::append_renamed(tree, fields, message, names);
    return tree.text(bytes);
}

} // namespace

TEST_CASE("new_names: other names stay") {
    stemma::detail::new_names names;
    CHECK(names.empty());
    names.add("a", "other");
    CHECK_FALSE(names.empty());
    CHECK(names("a") == "other");
    CHECK(names("b") == "b");
}

TEST_CASE("rename_values: changes names, and leaves the rest as it is") {
    const auto before = test::node("Add", {"a", "b"}, {"a"}, "a").text(100, "a").bytes();
    const auto after = test::node("Add", {"other", "b"}, {"other"}, "a").text(100, "a").bytes();
    CHECK(renamed(before, names_in::node) == after);
}

TEST_CASE("rename_values: follows names into bodies") {
    const auto owner = [](const std::string& name) {
        const auto inner = test::graph({test::node("Relu", {name}, {"r"})}, {}, {name});
        const auto outer = test::graph(
            {test::owner_node("If", {"c"}, {"q"}, {test::graph_attribute("then_branch", inner)})},
            {}, {"q"});
        return test::owner_node("Loop", {name}, {"y"}, {test::graphs_attribute("bodies", {outer})})
            .bytes();
    };
    CHECK(renamed(owner("a"), names_in::node) == owner("other"));
}

TEST_CASE("for_each_value_name: lists the names that would be renamed, also in bodies") {
    const auto body = test::graph({test::node("Relu", {"x"}, {"r"}, "no")}, {}, {"r"});
    const auto bytes =
        test::owner_node("If", {"c"}, {"y"}, {test::graph_attribute("then_branch", body)}).bytes();
    std::string names;
    stemma::detail::for_each_value_name(
        {bytes.data(), 0, static_cast<std::uint32_t>(bytes.size()), "test"}, names_in::node,
        [&](std::string_view name) { names.append(name).append(" "); });
    CHECK(names == "c y x r r ");
}

TEST_CASE("rename_values: renames value infos, tensors, sparse ones, and annotations") {
    CHECK(renamed(test::value_info("a").bytes(), names_in::value_info) ==
          test::value_info("other").bytes());
    CHECK(renamed(test::tensor("a", {2}, "data").bytes(), names_in::tensor) ==
          test::tensor("other", {2}, "data").bytes());
    CHECK(renamed(test::sparse_tensor("a").bytes(), names_in::sparse_tensor) ==
          test::sparse_tensor("other").bytes());
    const auto note = [](const std::string& name) {
        return test::message().text(1, name).inner(2, test::entry("SCALE_TENSOR", name)).bytes();
    };
    CHECK(renamed(note("a"), names_in::annotation) == note("other"));
}

TEST_CASE("rename_values: fields of a graph are classified by number") {
    using stemma::detail::names_of_field;
    CHECK(names_of_field(names_in::graph, 1) == names_in::node);
    CHECK(names_of_field(names_in::graph, 12) == names_in::value_info);
    CHECK(names_of_field(names_in::graph, 2) == names_in::nothing);
    CHECK(names_of_field(names_in::nothing, 1) == names_in::nothing);
}

} // namespace test::onnx_detail_rename_values
