// SPDX-License-Identifier: Apache-2.0
#include <stemma/weights/detail/state_entries.hpp>

#include "../../catch.hpp"
#include "../../checkpoint_files.hpp"
#include "../../model_files.hpp"
#include "../../opened_graph.hpp"
#include "../../scratch_folder.hpp"

#include <stemma/checkpoint/read_checkpoint.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace test::weights_detail_state_entries {

using stemma::detail::state_entries;

TEST_CASE("state_entries: a tree and a checkpoint of one model have the same ones") {
    const auto tree = test::read_capture(test::fixture("bert_micro/modules.json"));
    const auto checkpoint = stemma::read_checkpoint(test::fixture("bert_micro/model.pt"));
    const state_entries declared(tree);
    const state_entries stored(checkpoint, tree);
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

TEST_CASE("state_entries: those of a module and those below it are found apart") {
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

TEST_CASE("state_entries: what modules compute a parameter of is not the parameter") {
    stemma::module_tree_builder builder;
    const std::vector<std::int64_t> shape{4};
    const auto add = [&](const std::string& path, const std::string& name) {
        builder.add_parameter(builder.at_path(path), {name, "float32", shape, true});
    };
    add("norm", "weight_g");
    add("norm", "weight_v");
    add("pruned", "weight_orig");
    add("pruned", "weight_mask");
    add("new.parametrizations.weight", "original0");
    add("plain", "weight_v");
    add("plain", "weight");
    const auto tree = builder.build();
    const state_entries entries(tree);
    for (stemma::id e = 0; e < entries.size(); ++e) {
        CHECK(entries.is_parametrized(e) == (entries[e].owner != "plain"));
    }
}

TEST_CASE("state_entries: those without the prefix of most are not of the tree") {
    stemma::module_tree_builder builder;
    static_cast<void>(builder.at_path("a"));
    const auto tree = builder.build();
    const test::scratch_folder folder;
    const auto saved = [&](const std::vector<test::float_tensor>& tensors) {
        return stemma::read_checkpoint(folder.make("saved", test::safetensors(tensors)));
    };
    const test::float_tensor loss{"loss", {1}, {0}};
    const auto checkpoint = saved({loss,
                                   {"ema.a.weight", {1}, {1}},
                                   {"net.a.weight", {1}, {2}},
                                   {"net.a.bias", {1}, {3}},
                                   {"a.weight", {1}, {4}}});
    const state_entries entries(checkpoint, tree);
    REQUIRE(entries.own("a").size() == 2);
    CHECK(entries.find("a", "weight") == entries.find("net.a.weight"));
    CHECK(entries.find("a.weight") == entries.find("net.a.weight"));
    for (const auto* const name : {"loss", "ema.a.weight"}) {
        CHECK(entries.is_outside(entries.find(name)));
    }
    CHECK_FALSE(entries.is_outside(entries.find("net.a.bias")));
    CHECK_NOTHROW(entries.refuse_rivals(""));
}

TEST_CASE("state_entries: of several models, a prefix chooses one") {
    stemma::module_tree_builder builder;
    static_cast<void>(builder.at_path("a"));
    const auto tree = builder.build();
    const auto checkpoint =
        test::saved({{"net.teacher.a.weight", {1}, {1}}, {"net.student.a.weight", {1}, {2}}});
    CHECK_THROWS_WITH(state_entries(checkpoint, tree).refuse_rivals("x.pt"),
                      Catch::Contains("below net.teacher and below net.student"));
    const state_entries chosen(checkpoint, tree, "net.student");
    CHECK_NOTHROW(chosen.refuse_rivals(""));
    CHECK(chosen.find("a", "weight") == chosen.find("net.student.a.weight"));
}

} // namespace test::weights_detail_state_entries
