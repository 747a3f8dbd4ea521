// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/detail/propagate_tags.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/detail/id_set_pool.hpp>
#include <stemma/core/id.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace test::tagging_detail_propagate_tags {

using stemma::id;
using stemma::no_id;
using stemma::detail::id_set;
using test::operator_scene;

namespace {

using id_list = std::vector<id>;

/// A root with many children, all selected.
class scene : public operator_scene {
public:
    explicit scene(std::size_t children = 80) : tree(wide_tree(children)), selected(tree.size()) {
        for (id m = 0; m < selected.size(); ++m) {
            selected[m] = m;
        }
    }

    id know(id v, const id_list& modules) {
        sets.resize(size(), no_id);
        sets[v] = pool.intern(modules);
        return v;
    }

    /// Returns: the tags of all operators, as sorted lists.
    [[nodiscard]] std::vector<id_list> run(std::size_t cap = stemma::detail::default_tag_cap) {
        auto tags = sets;
        tags.resize(size(), no_id);
        stemma::detail::propagate_tags(*this, tree.index(), selected, tags, pool, cap);
        std::vector<id_list> lists;
        for (auto set : tags) {
            auto& list = lists.emplace_back();
            if (set != no_id) {
                pool.for_each(set, [&](id m) { list.push_back(m); });
            }
        }
        return lists;
    }

    stemma::module_tree tree;
    std::vector<id> selected;
    std::vector<id_set> sets;
    stemma::detail::id_set_pool pool;

private:
    static stemma::module_tree wide_tree(std::size_t children) {
        stemma::module_tree_builder builder;
        for (std::size_t i = 0; i < children; ++i) {
            builder.at_path("part" + std::to_string(i % 2) + ".m" + std::to_string(i));
        }
        return builder.build();
    }
};

} // namespace

TEST_CASE("propagate_tags: an operator without evidence has the tags of all its readers") {
    scene s;
    const auto x = s.add();
    const auto between = s.add({x});
    s.know(s.add({between}), {3});
    s.know(s.add({between}), {9});
    s.know(s.add({x}), {5});
    const auto tags = s.run();
    CHECK(tags[between] == id_list{3, 9});
    CHECK(tags[x] == id_list{3, 5, 9});
}

TEST_CASE("propagate_tags: readers' tags stay separate even if one is above the other") {
    scene s;
    const auto x = s.add();
    s.know(s.add({x}), {1});
    s.know(s.add({x}), {2});
    REQUIRE(s.tree.index().parent(2) == 1);
    CHECK(s.run()[x] == id_list{1, 2});
}

TEST_CASE("propagate_tags: operators with evidence keep their tags and ignore their readers'") {
    scene s;
    const auto x = s.add();
    const auto anchor = s.know(s.add({x}), {4});
    s.know(s.add({anchor}), {7});
    const auto tags = s.run();
    CHECK(tags[anchor] == id_list{4});
    CHECK(tags[x] == id_list{4});
}

TEST_CASE("propagate_tags: an operator whose readers have no tags has none") {
    scene s;
    const auto x = s.add();
    const auto y = s.add({x});
    s.know(s.add(), {1});
    CHECK(s.run()[x].empty());
    CHECK(s.run()[y].empty());
}

TEST_CASE("propagate_tags: a set beyond the cap becomes its selected common ancestor") {
    scene s;
    const auto x = s.add();
    const auto one_part = s.add();
    for (id i = 0; i < 5; ++i) {
        s.know(s.add({x}), {2 + i});
        s.know(s.add({one_part}), {2 + i});
    }
    CHECK(s.run(5)[x] == id_list{2, 3, 4, 5, 6});
    CHECK(s.run(4)[one_part] == id_list{1});
    s.know(s.add({x}), {static_cast<id>(s.tree.size() - 1)});
    CHECK(s.run(4)[x] == id_list{0});
    s.selected[1] = 0; // no longer selected
    CHECK(s.run(4)[one_part] == id_list{0});
}

TEST_CASE("propagate_tags: the cap in use is 64") {
    scene s(200);
    const auto exactly = s.add();
    const auto beyond = s.add();
    for (id i = 0; i < 65; ++i) {
        const auto reader = s.add({beyond});
        s.know(reader, {2 + i});
        if (i < 64) {
            s.read(reader, exactly);
        }
    }
    const auto tags = s.run();
    CHECK(tags[exactly].size() == 64);
    CHECK(tags[beyond].size() == 1);
}

TEST_CASE("propagate_tags: agrees with the definition for any graph") {
    test::random_numbers random(21);
    for (int round = 0; round < 300; ++round) {
        scene s;
        const auto size = 1 + random(40);
        for (std::size_t v = 0; v < size; ++v) {
            std::vector<id> inputs;
            for (auto i = v == 0 ? 0 : random(4); i > 0; --i) {
                inputs.push_back(static_cast<id>(random(v)));
            }
            const auto added = s.add(inputs);
            if (random.one_in(2)) {
                const auto m = static_cast<id>(random(s.tree.size()));
                const auto n = static_cast<id>(random(s.tree.size()));
                s.know(added, m == n ? id_list{m} : id_list{std::min(m, n), std::max(m, n)});
            }
        }
        s.sets.resize(size, no_id);
        const auto tags = s.run(1000);
        for (id v = 0; v < size; ++v) {
            std::set<id> expected;
            std::set<id> visited;
            const std::function<void(id)> collect = [&](id u) {
                if (s.sets[u] != no_id) {
                    s.pool.for_each(s.sets[u], [&](id m) { expected.insert(m); });
                } else if (visited.insert(u).second) {
                    for (auto [it, last] = out_edges(u, s.graph()); it != last; ++it) {
                        collect(static_cast<id>(target(*it, s.graph())));
                    }
                }
            };
            collect(v);
            REQUIRE(tags[v] == id_list(expected.begin(), expected.end()));
        }
    }
}

} // namespace test::tagging_detail_propagate_tags
