// SPDX-License-Identifier: Apache-2.0
#include <stemma/evidence/detail/segment_modules.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/scope_table.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::evidence_detail_segment_modules {

using stemma::id;
using texts = std::vector<std::string>;

namespace {

/// The modules of a tree with call counts, and a scope `/f` in the names of its operators.
struct scene {
    explicit scene(const std::vector<std::pair<std::string, id>>& calls, bool complete = true) {
        stemma::module_tree_builder builder;
        for (const auto& [path, count] : calls) {
            builder.set_calls(builder.at_path(path), count);
        }
        tree = builder.build();
        ops.add({}, "/f/Add", "Add");
        ops.add({}, "/f/fc/Gemm", "Gemm");
        table = stemma::detail::collect_scopes(ops);
        segments.emplace(table, tree, complete);
    }

    /// Returns: what a call in scope `/f`, which stands for `around`, prints as `segment`.
    [[nodiscard]] texts below(std::string_view around, std::string_view segment,
                              bool uncalled = false) const {
        texts paths;
        for (auto m :
             segments->below(table.scope_of[0], test::module_at(tree, around), segment, uncalled)) {
            paths.push_back(tree.path(m));
        }
        return paths;
    }

    stemma::module_tree tree;
    test::operator_scene ops;
    stemma::detail::scope_table table;
    std::optional<stemma::detail::segment_modules<stemma::module_tree>> segments;
};

} // namespace

TEST_CASE("segment_modules: a module prints as its path from the last non-numeric name") {
    const scene one({{"enc.layer.0.1", 1}, {"7", 1}});
    const auto prints = [&](std::string_view path, std::string_view segment) {
        return one.segments->prints_as(test::module_at(one.tree, path), segment);
    };
    CHECK(prints("enc.layer.0.1", "layer.0.1"));
    CHECK(prints("enc.layer.0", "layer.0"));
    CHECK(prints("7", "7"));
    CHECK_FALSE(prints("enc.layer.0.1", "0.1"));
    CHECK_FALSE(prints("enc.layer.0.1", "enc.layer.0.1"));
}

TEST_CASE("segment_modules: below a module, past those that never run") {
    const scene one({{"f", 1}, {"f.list", 0}, {"f.list.0", 1}, {"f.fc", 1}, {"f.fc.in", 1}});
    CHECK(one.below("f", "list.0") == texts{"f.list.0"});
    CHECK(one.below("f", "fc") == texts{"f.fc"});
    CHECK(one.below("f", "in").empty()); // `f.fc` runs, so it has a scope of its own
    CHECK(one.below("f", "list").empty());
    CHECK(one.below("f", "list", true) == texts{"f.list"});
}

TEST_CASE("segment_modules: in an incomplete tree, a scope in the table shows what is called") {
    const std::vector<std::pair<std::string, id>> unknown{
        {"f", stemma::no_id}, {"f.fc", stemma::no_id}, {"f.fc.in", stemma::no_id}};
    CHECK(scene(unknown).below("f", "in") == texts{"f.fc.in"});
    CHECK(scene(unknown, false).below("f", "in").empty());
}

TEST_CASE("segment_modules: a Sequential repeats its name in front of its children's") {
    const scene one({{"layer1", 1}, {"layer1.0", 1}, {"layer1.0.fc", 1}});
    CHECK(one.below("layer1", "layer1.0") == texts{"layer1.0"});
}

TEST_CASE("segment_modules: an alias prints as a child with that path would") {
    stemma::module_tree_builder builder;
    builder.add_alias("block.1", builder.at_path("act"));
    const auto around = builder.at_path("block");
    const auto tree = builder.build();
    const scene empty({});
    const stemma::detail::segment_modules<stemma::module_tree> segments(empty.table, tree, true);
    const auto block = builder.rank_of(around);
    CHECK(segments.aliased(block, "block.1") == test::module_at(tree, "act"));
    CHECK(segments.aliased(block, "1") == test::module_at(tree, "act"));
    CHECK(segments.aliased(block, "2") == stemma::no_id);
    CHECK(empty.segments->aliased(0, "act") == stemma::no_id);
}

TEST_CASE("segment_modules: what a module holds as an alias prints as the module that it is") {
    stemma::module_tree_builder builder;
    for (const auto* block : {"0", "1"}) {
        const auto path = std::string(block);
        builder.add_alias(path + ".net.0", builder.at_path(path + ".act"));
        builder.add_alias(path + ".net.2", builder.at_path(path + ".list.0"));
        builder.set_calls(builder.at_path(path + ".net"), 1);
        builder.set_calls(builder.at_path(path + ".list"), 0);
    }
    builder.add_alias("0.net.0.in", builder.at_path("0.act.in"));
    builder.add_alias("far.list.0", builder.at_path("1.act"));
    builder.set_calls(builder.at_path("far"), 1);
    builder.set_calls(builder.at_path("far.list"), 0);
    scene one({});
    one.tree = builder.build();
    one.segments.emplace(one.table, one.tree, true);
    CHECK(one.below("0.net", "act") == texts{"0.act"});
    CHECK(one.below("1.net", "act") == texts{"1.act"});
    CHECK(one.below("1.net", "list.0") == texts{"1.list.0"});
    CHECK(one.below("far", "act") == texts{"1.act"}); // the list does not run
    CHECK(one.below("0.act", "in") == texts{"0.act.in"});
    CHECK(one.below("0.net", "in").empty());
    CHECK(one.below("0.net", "0").empty()); // left to `aliased`
}

TEST_CASE("segment_modules: a module ran in place if scopes there account for its calls") {
    const std::vector<std::pair<std::string, id>> calls{
        {"f", 1}, {"f.list", 0}, {"f.list.fc", 1}, {"g.fc", 1}, {"f.act", 1}};
    const scene one(calls);
    const auto in_place = [&](const char* path) {
        return one.segments->ran_in_place(test::module_at(one.tree, path), one.table.scope_of[1]);
    };
    CHECK(in_place("f"));
    CHECK(in_place("f.list.fc")); // the list has no scope
    CHECK_FALSE(in_place("g.fc"));
    CHECK_FALSE(in_place("f.act"));
    const scene twice({{"f", 1}, {"f.fc", 2}});
    CHECK_FALSE(
        twice.segments->ran_in_place(test::module_at(twice.tree, "f.fc"), twice.table.scope_of[1]));
    const scene hidden({{"f", 0}, {"f.fc", 1}});
    CHECK(hidden.segments->ran_in_place(test::module_at(hidden.tree, "f.fc"),
                                        hidden.table.scope_of[1]));
}

TEST_CASE("segment_modules: what may have run, of all that print alike") {
    const scene one({{"f.fc", 0}, {"g.fc", 2}, {"h.act", 0}});
    CHECK(one.segments->calls_known());
    CHECK(one.segments->calls(test::module_at(one.tree, "g.fc")) == 2);
    CHECK(one.segments->may_have_run("fc"));
    CHECK_FALSE(one.segments->may_have_run("act"));
    CHECK(one.segments->printing_as("fc").size() == 2);
    CHECK_FALSE(scene({{"f.fc", stemma::no_id}}).segments->calls_known());
}

} // namespace test::evidence_detail_segment_modules
