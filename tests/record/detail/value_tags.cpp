// SPDX-License-Identifier: Apache-2.0
#include <stemma/record/detail/value_tags.hpp>

#include "../../catch.hpp"
#include "../../find_in_model.hpp"
#include "../../model_files.hpp"
#include "../../tagged_bytes.hpp"
#include "../../wire_builder.hpp"

#include <set>
#include <string>

namespace test::record_detail_value_tags {

namespace {

using stemma::id;
using test::node;

std::set<std::string> tags_of(const test::tagged_model& tagged,
                              const stemma::detail::value_tags& tags, const char* value) {
    std::set<std::string> texts;
    tags.pool.for_each(tags.sets[test::value_called(tagged.model, value)],
                       [&](id m) { texts.insert(tagged.found.tags.text(m)); });
    return texts;
}

} // namespace

TEST_CASE("find_value_tags: uses readers, else the producer, else the name, else the root") {
    const auto bytes =
        test::model(test::graph({node("MatMul", {"x", "a.weight"}, {"h"}, "/a/MatMul"),
                                 node("MatMul", {"h", "tied"}, {"y"}, "/b/MatMul"),
                                 node("Add", {"h", "tied"}, {"z"}, "/a/Add")},
                                {"x", "unread"}, {"y", "z"}, {"a.weight", "tied", "b.bias"}))
            .bytes();
    test::tagged_model tagged(bytes);
    const auto tags = stemma::detail::find_value_tags(tagged.model, tagged.modules, tagged.found);
    const auto tag = [&](const char* path) {
        for (id m = 0; m < tagged.modules.size(); ++m) {
            if (tagged.modules.path(m) == path) {
                return tagged.found.tags.text(m);
            }
        }
        return std::string("none");
    };
    using texts = std::set<std::string>;
    CHECK(tags_of(tagged, tags, "x") == texts{tag("a")});
    CHECK(tags_of(tagged, tags, "h") == texts{tag("a"), tag("b")});
    CHECK(tags_of(tagged, tags, "tied") == texts{tag("a"), tag("b")});
    CHECK(tags_of(tagged, tags, "y") == texts{tag("b")});
    CHECK(tags_of(tagged, tags, "b.bias") == texts{tag("b")});
    CHECK(tags_of(tagged, tags, "unread") == texts{tag("")});
}

TEST_CASE("find_value_tags: every value of every fixture has tags") {
    for (const auto* name : {"bert_micro", "control_flow", "shared_twice", "quirks"}) {
        const auto bytes = test::read_bytes(test::fixture(std::string(name) + "/model.onnx"));
        test::tagged_model tagged(bytes);
        const auto tags =
            stemma::detail::find_value_tags(tagged.model, tagged.modules, tagged.found);
        REQUIRE(tags.sets.size() == tagged.model.value_count());
        bool all = true;
        for (auto set : tags.sets) {
            all = all && set != stemma::no_id && tags.pool.size_of(set) > 0;
        }
        CHECK(all);
    }
}

} // namespace test::record_detail_value_tags
