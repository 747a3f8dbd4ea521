// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/state_entries.hpp>

#include "../../catch.hpp"
#include "../../model_files.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>

#include <string>

namespace test::weights_detail_state_entries {

using stemma::detail::state_entries;

TEST_CASE("state_entries: a tree and a checkpoint of one model have the same ones",
          "[weights][state_entries]") {
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const auto known = stemma::read_checkpoint(test::fixture("bert_micro/model.pt"));
    const state_entries declared(tree);
    const state_entries stored(known, tree);
    REQUIRE_FALSE(declared.empty());
    for (stemma::id e = 0; e < declared.size(); ++e) {
        const auto same = stored.find(declared[e].name);
        REQUIRE(same != stemma::no_id);
        CHECK(stored[same].shape == declared[e].shape);
        CHECK(stored[same].owner == declared[e].owner);
        CHECK(stored.find(declared[e].owner, declared[e].attribute) == same);
    }
    CHECK(declared.find("encoder.nothing") == stemma::no_id);
    CHECK(declared.find("encoder.layer.0.output.dense", "scale") == stemma::no_id);
}

TEST_CASE("state_entries: those of a module and those below it are found apart",
          "[weights][state_entries]") {
    const auto tree = test::read_capture(test::fixture("bert_micro_12l/modules.json"));
    const state_entries entries(tree);
    CHECK(entries.own("encoder.layer.1.output.dense").size() == 2);
    CHECK(entries.own("encoder.layer.1").empty());
    for (const auto e : entries.below("encoder.layer.1")) {
        CHECK(entries[e].owner.starts_with("encoder.layer.1."));
    }
    CHECK(entries.below("encoder.layer.1").size() == entries.below("encoder.layer.11").size());
    CHECK(entries.below("").size() == entries.size());
    CHECK(entries.below("encoder.layer.99").empty());
}

} // namespace test::weights_detail_state_entries
