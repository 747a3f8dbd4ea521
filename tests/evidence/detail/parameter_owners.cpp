// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/parameter_owners.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <string>
#include <vector>

namespace test::evidence_detail_parameter_owners {

using stemma::id;
using stemma::detail::find_parameter_owners;
using id_list = std::vector<id>;

namespace {

/// An operator that reads all parameters.
test::operator_scene reader_of(const std::vector<std::string>& parameters) {
    test::operator_scene ops;
    const auto v = ops.add();
    for (const auto& name : parameters) {
        ops.read_parameter(v, name);
    }
    return ops;
}

id_list owners_of(const stemma::detail::parameter_owners& owners, id p) {
    const auto modules = owners.of(p);
    return {modules.begin(), modules.end()};
}

/// A view other than module_tree.
struct plain_view {
    const stemma::module_tree* tree;

    [[nodiscard]] const stemma::tree_index& index() const { return tree->index(); }
    [[nodiscard]] std::string_view name(id m) const { return tree->name(m); }
    [[nodiscard]] std::string_view class_name(id m) const { return tree->class_name(m); }
    [[nodiscard]] std::string_view qualified_class(id m) const { return tree->qualified_class(m); }
};

} // namespace

TEST_CASE("find_parameter_owners: the module at the path in the name") {
    const auto tree = test::tree_of({"enc.fc", "dec"});
    const auto ops = reader_of({"enc.fc.weight", "dec.bias", "gone.weight", "onnx::MatMul_3", "b"});
    const auto check = [&](const stemma::detail::parameter_owners& owners) {
        CHECK(owners_of(owners, 0) == id_list{test::module_at(tree, "enc.fc")});
        CHECK(owners_of(owners, 1) == id_list{test::module_at(tree, "dec")});
        for (id p = 2; p < 5; ++p) {
            CHECK(owners.of(p).empty());
        }
        CHECK(owners.mapping.is_identity());
    };
    check(find_parameter_owners(ops, tree));
    check(find_parameter_owners(ops, plain_view{&tree}));
}

TEST_CASE("find_parameter_owners: a prefix common to all names is ignored") {
    const auto tree = test::tree_of({"enc.fc"});
    const auto owners = find_parameter_owners(reader_of({"module.enc.fc.weight"}), tree);
    CHECK(owners_of(owners, 0) == id_list{test::module_at(tree, "enc.fc")});
    CHECK(owners.mapping.strip == "module");
}

TEST_CASE("find_parameter_owners: what is named after its reader is the surrounding module's") {
    const auto tree = test::tree_of({"enc.fc"});
    test::operator_scene ops;
    ops.read_parameter(ops.add({}, "/enc/fc/MatMul_Q4"), "enc.fc.MatMul.weight");
    const auto owners = find_parameter_owners(ops, tree);
    CHECK(owners_of(owners, 0) == id_list{test::module_at(tree, "enc.fc")});
}

TEST_CASE("find_parameter_owners: aliases lead to their module") {
    stemma::module_tree_builder builder;
    builder.add_alias("shared.fc", builder.at_path("enc.fc"));
    const auto tree = builder.build();
    const auto owners = find_parameter_owners(reader_of({"shared.fc.weight"}), tree);
    CHECK(owners_of(owners, 0) == id_list{test::module_at(tree, "enc.fc")});
}

TEST_CASE("find_parameter_owners: the root owns what it declares") {
    stemma::module_tree_builder builder;
    stemma::tensor_info position;
    position.name = "position";
    builder.add_parameter(0, position);
    builder.at_path("enc");
    const auto owners = find_parameter_owners(reader_of({"position", "other"}), builder.build());
    CHECK(owners_of(owners, 0) == id_list{0});
    CHECK(owners.of(1).empty());
}

TEST_CASE("find_parameter_owners: a tied parameter has all its owners") {
    stemma::module_tree_builder builder;
    builder.at_path("embed");
    builder.at_path("head");
    builder.add_shared_parameters({"embed.weight", "head.weight"});
    const auto tree = builder.build();
    const auto owners = find_parameter_owners(reader_of({"head.weight", "head.bias"}), tree);
    CHECK(owners_of(owners, 0) ==
          id_list{test::module_at(tree, "head"), test::module_at(tree, "embed")});
    CHECK(owners_of(owners, 1) == id_list{test::module_at(tree, "head")});
}

TEST_CASE("find_parameter_owners: the name of a merged parameter is no evidence") {
    const auto tree = test::tree_of({"a.norm", "a.fc"});
    const auto ops = reader_of({"a.norm.weight", "a.fc.weight"});
    const std::vector<bool> merged{true, false};
    CHECK(find_parameter_owners(ops, tree, merged).of(0).empty());
    CHECK(find_parameter_owners(ops, plain_view{&tree}, merged).of(0).empty());
    CHECK(find_parameter_owners(ops, tree, merged).of(1).size() == 1);
}

TEST_CASE("nearest_called: goes up to the first module that may have run") {
    stemma::module_tree_builder builder;
    const auto list = builder.at_path("blocks.list");
    const auto inner = builder.at_path("blocks.list.0");
    builder.set_calls(list, 0);
    builder.set_calls(inner, 0);
    builder.set_calls(builder.at_path("blocks"), 2);
    const auto tree = builder.build();
    CHECK(stemma::detail::nearest_called(tree, test::module_at(tree, "blocks.list.0")) ==
          test::module_at(tree, "blocks"));
    CHECK(stemma::detail::nearest_called(tree, test::module_at(tree, "blocks")) ==
          test::module_at(tree, "blocks"));
    // If calls are unknown, the module itself.
    const auto unknown = test::tree_of({"a.b"});
    CHECK(stemma::detail::nearest_called(unknown, 2) == 2);
    const plain_view view{&tree};
    CHECK(stemma::detail::nearest_called(view, 3) == 3);
}

TEST_CASE("tied_parameters: readers of the first one's type speak for the owner in the name") {
    stemma::module_tree_builder builder;
    builder.at_path("embed");
    builder.at_path("head");
    builder.add_shared_parameters({"embed.weight", "head.weight"});
    const auto tree = builder.build();
    test::operator_scene ops;
    const auto first = ops.add({}, "", "Gather");
    const auto again = ops.add({}, "", "Gather");
    const auto other = ops.add({first, again}, "", "MatMul");
    for (auto v : {first, again, other}) {
        ops.read_parameter(v, "embed.weight");
    }
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const stemma::detail::tied_parameters<test::operator_scene> tied(ops, owners);
    for (auto v : {first, again}) {
        CHECK(tied.favours(v, 0, 0));
        CHECK_FALSE(tied.favours(v, 0, 1));
    }
    CHECK_FALSE(tied.favours(other, 0, 0));
    CHECK(tied.favours(other, 0, 1));
}

TEST_CASE("tied_parameters: the only owner of a parameter is always favoured") {
    const auto tree = test::tree_of({"fc"});
    test::operator_scene ops;
    const auto first = ops.add({}, "", "MatMul");
    const auto other = ops.add({first}, "", "Add");
    ops.read_parameter(first, "fc.weight");
    ops.read_parameter(other, "fc.weight");
    const auto owners = stemma::detail::find_parameter_owners(ops, tree);
    const stemma::detail::tied_parameters<test::operator_scene> tied(ops, owners);
    CHECK(tied.favours(first, 0, 0));
    CHECK(tied.favours(other, 0, 0));
}

} // namespace test::evidence_detail_parameter_owners
