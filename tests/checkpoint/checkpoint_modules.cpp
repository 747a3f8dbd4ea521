// SPDX-License-Identifier: Apache-2.0
#include <stemma/checkpoint/checkpoint_modules.hpp>

#include "../catch.hpp"

#include <stemma/checkpoint/checkpoint.hpp>
#include <stemma/core/id.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::checkpoint_checkpoint_modules {

namespace {

stemma::checkpoint of(const std::vector<std::pair<std::string, std::int32_t>>& tensors,
                      std::vector<stemma::checkpoint::module> modules = {}, std::size_t last_is = 0,
                      const std::string& trainable = "") {
    std::vector<stemma::checkpoint::entry> entries;
    for (const auto& [name, type] : tensors) {
        stemma::checkpoint::entry entry;
        entry.name = name;
        entry.data_type = type;
        entry.shape = {2, 3};
        entry.alias_of = entries.size();
        entry.trainable = name == trainable;
        entries.push_back(std::move(entry));
    }
    if (last_is > 0) {
        entries.back().alias_of = last_is - 1;
    }
    return {{}, std::move(entries), std::move(modules)};
}

/// Paths in tree order, with parameters and buffers.
std::string show(const stemma::module_tree& tree) {
    std::string text;
    for (stemma::id m = 0; m < tree.size(); ++m) {
        text += "[" + tree.path(m) + "]" + std::string(tree.qualified_class(m));
        for (std::size_t i = 0; i < tree.parameter_count(m); ++i) {
            text += " " + std::string(tree.parameter(m, i).name);
        }
        for (std::size_t i = 0; i < tree.buffer_count(m); ++i) {
            text += " -" + std::string(tree.buffer(m, i).name);
        }
    }
    return text;
}

} // namespace

TEST_CASE("modules_of: names make modules, and integers are buffers") {
    CHECK(show(modules_of(of({{"a.fc.weight", 1}, {"a.count", 7}, {"scale", 1}}))) ==
          "[] scale[a] -count[a.fc] weight");
}

TEST_CASE("modules_of: modules named by the file keep its order and their classes") {
    CHECK(show(modules_of(of({{"b.w", 1}}, {{"", "zoo.Net"}, {"act", ""}, {"b", "zoo.B"}}))) ==
          "[]zoo.Net[act][b]zoo.B w");
}

TEST_CASE("modules_of: modules from elsewhere come last") {
    const std::vector<std::string> others{"net.1"};
    CHECK(show(modules_of(of({{"net.0.w", 1}, {"net.2.w", 1}}), others)) ==
          "[][net][net.0] w[net.2] w[net.1]");
}

TEST_CASE("modules_of: if the file marks trained tensors, the rest are buffers") {
    CHECK(show(modules_of(of({{"a.w", 1}, {"a.mean", 1}}, {}, 0, "a.w"))) == "[][a] w -mean");
}

TEST_CASE("modules_of: wrappers that prefix all names are removed") {
    CHECK(show(modules_of(of({{"module._orig_mod.a.w", 1}, {"module._orig_mod.b.w", 1}},
                             {{"", ""}, {"module", ""}, {"module._orig_mod.act", ""}}))) ==
          "[][act][a] w[b] w");
    CHECK(show(modules_of(of({{"module.w", 1}, {"b.w", 1}}))) == "[][module] w[b] w");
}

TEST_CASE("modules_of: entries that are one tensor are shared parameters") {
    const auto tree = modules_of(of({{"a.w", 1}, {"b.w", 1}}, {}, 1));
    REQUIRE(tree.shared_parameters().size() == 1);
    CHECK(tree.shared_parameters()[0] == std::vector<std::string>{"a.w", "b.w"});
}

TEST_CASE("modules_of: names that are not paths add no modules") {
    const std::string deep(4000, '.');
    CHECK(show(modules_of(of({{"a..w", 1}, {deep, 1}, {"ok.w", 1}, {"\xff.w", 1}},
                             {{"x..y", ""}, {deep, ""}}))) == "[][ok] w");
}

} // namespace test::checkpoint_checkpoint_modules
