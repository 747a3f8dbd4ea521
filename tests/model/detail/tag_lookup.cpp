// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/tag_lookup.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"
#include "../../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/name_modules.hpp>

#include <set>
#include <string>
#include <vector>

namespace test::model_detail_tag_lookup {

using stemma::id;
using stemma::no_id;
using stemma::detail::tag_lookup;

TEST_CASE("tag_lookup: finds every selected module by its tag, whatever the names") {
    test::random_numbers random(51);
    const std::vector<std::string> names{"", "a", "a/b", "/", "\\", "\\/", "0", ".", "#", "x.y"};
    for (int round = 0; round < 1000; ++round) {
        stemma::module_tree_builder builder;
        for (auto n = random(20); n > 0; --n) {
            const auto m =
                builder.child(static_cast<id>(random(builder.size())), names[random(names.size())]);
            const auto& type = names[random(names.size())];
            builder.set_class(m, type, random.one_in(3) ? "torch.nn.X" : "zoo.X");
        }
        const auto tree = builder.build();
        const auto tags = stemma::name_modules(tree);
        const tag_lookup lookup(tags);
        std::set<std::string> all;
        for (id m = 0; m < tree.size(); ++m) {
            if (lookup.find(tags.text(m)) != tags.selected(m)) {
                CAPTURE(tags.text(m));
                REQUIRE(lookup.find(tags.text(m)) == tags.selected(m));
            }
            all.insert(tags.text(m));
        }
        for (const auto& tag : all) {
            for (const auto& other : {tag + "/", tag + "x", tag.substr(1), tag + "\\"}) {
                if (all.count(other) == 0) {
                    REQUIRE(lookup.find(other) == no_id);
                }
            }
        }
    }
}

TEST_CASE("tag_lookup: finds nothing for anything else") {
    const auto tree = test::tree_of({":zoo.Net", "a:zoo.A", "a.b:zoo.B"});
    const auto tags = stemma::name_modules(tree);
    const tag_lookup lookup(tags);
    CHECK(lookup.find("/Net/A/B") == 2);
    for (const auto* text :
         {"", "/", "Net", "/A", "/Net/", "/Net//A", "/Net/B", "/Net/A/B/B", "\\"}) {
        CHECK(lookup.find(text) == no_id);
    }
    CHECK(tag_lookup(stemma::tag_table()).find("/Net") == no_id);
}

} // namespace test::model_detail_tag_lookup
