// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/tag_table.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>

#include <string>
#include <vector>

namespace test::model_tag_table {

using stemma::id;
using stemma::no_id;
using stemma::tag_table;
using stemma::tree_index;
using stemma::detail::max_tag_length;

namespace {

/// A tree with some selected modules, and their segments.
struct scene {
    tree_index tree;
    std::vector<id> selected;
    std::vector<std::string> segment;
};

scene random_scene(test::random_numbers& random) {
    scene sample{tree_index(test::random_parents(random, 1 + random(20), 3)), {0}, {"Root"}};
    for (id m = 1; m < sample.tree.size(); ++m) {
        sample.selected.push_back(random.one_in(3) ? sample.selected[sample.tree.parent(m)] : m);
        sample.segment.push_back("S" + std::to_string(random(5)));
    }
    return sample;
}

tag_table table_of(const scene& from) {
    tag_table tags(from.tree, from.selected);
    for (id m = 0; m < from.tree.size(); ++m) {
        if (tags.is_selected(m)) {
            tags.set_segment(m, from.segment[m]);
        }
    }
    tags.finish();
    return tags;
}

} // namespace

TEST_CASE("tag_table: a tag is the segments of the selected modules from the root down",
          "[model][tag_table]") {
    test::random_numbers random(1);
    for (int round = 0; round < 200; ++round) {
        const auto from = random_scene(random);
        const auto tags = table_of(from);
        REQUIRE(tags.size() == from.tree.size());
        std::string appended = "x";
        for (id m = 0; m < from.tree.size(); ++m) {
            std::string expected;
            id nearest = no_id;
            id next = no_id;
            for (auto at = m; at != no_id; at = from.tree.parent(at)) {
                if (from.selected[at] == at) {
                    expected = "/" + from.segment[at] + expected;
                    (nearest == no_id ? nearest : next == no_id && at != m ? next : at) = at;
                }
            }
            REQUIRE(tags.text(m) == expected);
            REQUIRE(tags.selected(m) == nearest);
            REQUIRE(tags.is_selected(m) == (nearest == m));
            REQUIRE(tags.above(m) == (nearest == m ? next : nearest));
            REQUIRE(tags.length(nearest) == expected.size());
            REQUIRE(tags.segment(nearest) == from.segment[nearest]);
            REQUIRE(tags.writable(m) == nearest);
            tags.append(m, appended);
            REQUIRE(appended.ends_with(expected));
        }
    }
}

TEST_CASE("tag_table: a tag that is too long becomes that of the deepest ancestor that fits",
          "[model][tag_table]") {
    constexpr id depth = 8;
    std::vector<id> parents;
    std::vector<id> selected;
    for (id m = 0; m <= depth; ++m) {
        parents.push_back(m == 0 ? no_id : m - 1);
        selected.push_back(m);
    }
    const tree_index tree(parents);
    tag_table tags(tree, selected);
    constexpr auto part = max_tag_length / 4 - 1; // with its slash, four fill a tag
    for (id m = 0; m <= depth; ++m) {
        tags.set_segment(m, std::string(part, 'x'));
    }
    tags.finish();
    for (id m = 0; m <= depth; ++m) {
        CHECK(tags.length(m) == (m + 1) * (part + 1));
        CHECK(tags.writable(m) == (m < 4 ? m : 3));
    }
}

TEST_CASE("tag_table: the root is written however long it is", "[model][tag_table]") {
    const tree_index tree(std::vector<id>{no_id, 0});
    tag_table tags(tree, {0, 1});
    tags.set_segment(0, std::string(max_tag_length, 'x'));
    tags.set_segment(1, "y");
    tags.finish();
    CHECK(tags.writable(1) == 0);
}

} // namespace test::model_tag_table
