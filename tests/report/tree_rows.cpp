// SPDX-License-Identifier: Apache-2.0
#include <stemma/report/tree_rows.hpp>

#include "../catch.hpp"

#include <stemma/model/module_tree_builder.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace test::report_tree_rows {

namespace {

using stemma::id;

/// Three layers with two parts each, and a head.
stemma::module_tree make_tree() {
    stemma::module_tree_builder builder;
    for (const auto* path :
         {"layer.0.a", "layer.0.b", "layer.1.a", "layer.1.b", "layer.2.a", "layer.2.b", "head"}) {
        builder.at_path(path);
    }
    return builder.build();
}

/// `path(last) xN` of all rows; a row that is the last of its parent ends in `.`.
std::string text_of(const stemma::module_tree& modules, const std::vector<stemma::tree_row>& rows) {
    std::string text;
    for (const auto& row : rows) {
        text += (text.empty() ? "" : " ") + modules.path(row.module);
        if (row.count > 1) {
            text += "-" + std::string(modules.name(row.last)) + "x" + std::to_string(row.count);
        }
        text += row.is_last ? "." : "";
    }
    return text;
}

} // namespace

TEST_CASE("list_tree: lists all modules in tree order by default") {
    const auto modules = make_tree();
    const std::vector<bool> all(modules.size(), true);
    CHECK(text_of(modules, stemma::list_tree(modules.index(), all)) ==
          ". layer layer.0 layer.0.a layer.0.b. layer.1 layer.1.a layer.1.b. layer.2. layer.2.a "
          "layer.2.b. head.");
}

TEST_CASE("list_tree: siblings that are alike share a line, with the first one expanded") {
    const auto modules = make_tree();
    const std::vector<bool> all(modules.size(), true);
    const auto layers = [&](id a, id b) {
        return modules.index().depth(a) == 2 && modules.name(a) != "a" &&
               modules.index().depth(b) == 2;
    };
    CHECK(text_of(modules, stemma::list_tree(modules.index(), all, {layers, {}})) ==
          ". layer layer.0-2x3. layer.0.a layer.0.b. head.");
}

TEST_CASE("list_tree: only consecutive siblings share a line") {
    const auto modules = make_tree();
    const std::vector<bool> all(modules.size(), true);
    const auto but_the_second = [&](id a, id b) {
        return modules.index().depth(a) == 2 && modules.path(a) != "layer.1" &&
               modules.path(b) != "layer.1";
    };
    const auto rows = stemma::list_tree(modules.index(), all, {but_the_second, {}});
    for (const auto& row : rows) {
        CHECK(row.count == 1);
    }
}

TEST_CASE("list_tree: siblings share a line only if the same parts of them are shown") {
    const auto modules = make_tree();
    const auto layers = [&](id a, id b) {
        return modules.index().depth(a) == 2 && modules.index().depth(b) == 2;
    };
    const auto without = [&](const std::vector<std::string>& hidden) {
        std::vector<bool> shown(modules.size(), true);
        for (id m = 0; m < modules.size(); ++m) {
            shown[m] = std::count(hidden.begin(), hidden.end(), modules.path(m)) == 0;
        }
        return text_of(modules, stemma::list_tree(modules.index(), shown, {layers, {}}));
    };
    CHECK(without({"layer.1.b"}) ==
          ". layer layer.0 layer.0.a layer.0.b. layer.1 layer.1.a. layer.2. layer.2.a layer.2.b. "
          "head.");
    CHECK(without({"layer.0.b", "layer.1.b", "layer.2.b"}) ==
          ". layer layer.0-2x3. layer.0.a. head.");
}

TEST_CASE("list_tree: hidden modules have no line, and are never last") {
    const auto modules = make_tree();
    std::vector<bool> shown(modules.size(), true);
    for (id m = 0; m < modules.size(); ++m) {
        shown[m] = m == 0 || modules.path(m) == "layer" || modules.path(m) == "layer.1";
    }
    CHECK(text_of(modules, stemma::list_tree(modules.index(), shown)) == ". layer. layer.1.");
    CHECK(stemma::list_tree(modules.index(), std::vector<bool>(modules.size())).empty());
}

TEST_CASE("list_tree: siblings are sorted stably, largest first") {
    const auto modules = make_tree();
    const std::vector<bool> all(modules.size(), true);
    const auto rows = stemma::list_tree(
        modules.index(), all, {{}, [&](id m) { return modules.path(m) == "layer.1" ? 1.0 : 0.0; }});
    CHECK(text_of(modules, rows) ==
          ". layer layer.1 layer.1.a layer.1.b. layer.0 layer.0.a layer.0.b. layer.2. layer.2.a "
          "layer.2.b. head.");
}

TEST_CASE("list_tree: a very deep tree needs no deep stack") {
    stemma::module_tree_builder builder;
    id above = 0;
    for (int i = 0; i < 100000; ++i) {
        above = builder.child(above, "m");
    }
    const auto modules = builder.build();
    CHECK(stemma::list_tree(modules.index(), std::vector<bool>(modules.size(), true)).size() ==
          100001);
}

} // namespace test::report_tree_rows
