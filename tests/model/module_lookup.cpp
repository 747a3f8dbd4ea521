// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/module_lookup.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace test::model_module_lookup {

using stemma::find_module;
using stemma::id;
using stemma::module_lookup;
using stemma::module_tree;
using stemma::no_id;
using stemma::detail::find_longest;

namespace {

/// A module view other than module_tree.
class seen_modules {
public:
    explicit seen_modules(const module_tree& tree) : tree_(&tree) {}

    [[nodiscard]] const stemma::tree_index& index() const { return tree_->index(); }
    [[nodiscard]] std::string_view name(id m) const { return tree_->name(m); }
    [[nodiscard]] std::string_view class_name(id m) const { return tree_->class_name(m); }
    [[nodiscard]] std::string_view qualified_class(id) const { return ""; }

private:
    const module_tree* tree_;
};

module_tree random_tree(test::random_numbers& random) {
    stemma::module_tree_builder builder("root");
    for (int i = 0; i < 60; ++i) {
        std::string path;
        for (auto depth = 1 + random(4); depth > 0; --depth) {
            path.append(path.empty() ? "" : ".").append(1, "abc"[random(3)]);
        }
        builder.at_path(path);
    }
    return builder.build();
}

template <class Lookup>
void check_children(const Lookup& lookup, const module_tree& tree) {
    std::map<std::pair<id, std::string>, id> children;
    for (id m = 1; m < tree.size(); ++m) {
        children.emplace(std::pair(tree.index().parent(m), tree.name(m)), m);
    }
    for (id m = 0; m < tree.size(); ++m) {
        for (auto name : {"a", "b", "c", "d", "", "root"}) {
            const auto entry = children.find(std::pair<id, std::string>(m, name));
            REQUIRE(lookup.child(m, name) == (entry == children.end() ? no_id : entry->second));
        }
    }
}

} // namespace

TEST_CASE("module_lookup: finds children by name, in every view", "[model][module_lookup]") {
    test::random_numbers random(1);
    for (int round = 0; round < 30; ++round) {
        const auto tree = random_tree(random);
        check_children(module_lookup(tree), tree);
        const seen_modules view(tree);
        check_children(module_lookup(view), tree);
    }
}

TEST_CASE("find_module: every path leads back to its module", "[model][module_lookup]") {
    test::random_numbers random(2);
    const auto tree = random_tree(random);
    const seen_modules view(tree);
    const module_lookup lookup(view);
    for (id m = 0; m < tree.size(); ++m) {
        const auto path = tree.path(m);
        CHECK(find_module(lookup, path) == m);
        CHECK(find_module(lookup, path + (m == 0 ? "" : ".") + "d") == no_id);
        CHECK(find_module(lookup, path + ".") == no_id);
        CHECK(find_longest(lookup, path).second.empty());
        const auto beyond = path + (m == 0 ? "" : ".") + "d.a.b";
        const auto [module, rest] = find_longest(lookup, beyond);
        CHECK(module == m);
        CHECK(rest == "d.a.b");
    }
}

TEST_CASE("module_trail: agrees with find_module, whatever came before", "[model][module_lookup]") {
    test::random_numbers random(3);
    const auto tree = random_tree(random);
    const seen_modules view(tree);
    const module_lookup lookup(view);
    stemma::detail::module_trail trail(lookup);
    for (int i = 0; i < 3000; ++i) {
        const auto from = static_cast<id>(random.one_in(50) ? random(tree.size()) : 0);
        auto path = tree.path(static_cast<id>(random(tree.size())));
        if (random.one_in(4)) {
            path.append(path.empty() ? "" : ".").append(1, "abcd"[random(4)]);
        }
        REQUIRE(trail.find(path, from) == find_module(lookup, path, from));
    }
}

TEST_CASE("find_module: starts at the given module", "[model][module_lookup]") {
    stemma::module_tree_builder builder;
    builder.at_path("a.b.c");
    builder.at_path("b");
    const auto tree = builder.build();
    const module_lookup lookup(tree);
    const auto a = find_module(lookup, "a");
    CHECK(find_module(lookup, "b.c", a) == find_module(lookup, "a.b.c"));
    CHECK(find_module(lookup, "b.c") == no_id);
    CHECK(find_module(lookup, "", a) == a);
}

TEST_CASE("find_module: the last name may contain dots", "[model][module_lookup]") {
    stemma::module_tree_builder builder;
    const auto net = builder.at_path("net");
    builder.child(net, "tf.math.maximum_3");
    const auto tree = builder.build();
    const module_lookup lookup(tree);
    const auto m = find_module(lookup, "net.tf.math.maximum_3");
    REQUIRE(m != no_id);
    CHECK(tree.name(m) == "tf.math.maximum_3");
    CHECK(find_module(lookup, tree.path(m)) == m);
    CHECK(find_module(lookup, "net.tf.math") == no_id);
    CHECK(find_module(lookup, "net.tf.math.maximum_3.") == no_id);
}

} // namespace test::model_module_lookup
