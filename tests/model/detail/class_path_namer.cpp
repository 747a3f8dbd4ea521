// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/detail/class_path_namer.hpp>

#include "../../catch.hpp"
#include "../../operator_scene.hpp"

#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/selection.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test::model_detail_class_path_namer {

using stemma::detail::special_characters;

namespace {

/// Segments of all selected modules, with names distinguished by a maximum number of parts.
stemma::tag_table name(const stemma::module_tree& tree, std::size_t max_names = 32) {
    stemma::tag_table tags(tree.index(), stemma::detail::select_modules(tree));
    stemma::detail::class_path_namer<stemma::module_tree>(tree, tags, max_names).run();
    tags.finish();
    return tags;
}

std::string segment(const stemma::tag_table& tags, const stemma::module_tree& tree,
                    std::string_view path) {
    return std::string(tags.segment(test::module_at(tree, path)));
}

} // namespace

TEST_CASE("special_characters: each is escaped, and nothing else") {
    const special_characters special("\\/.");
    std::string text = "x";
    special.append_escaped("a.b\\c/d#", text);
    CHECK(text == "xa\\.b\\\\c\\/d#");
    special.append_escaped("\xe9#", text);
    CHECK(text == "xa\\.b\\\\c\\/d#\xe9#");
    CHECK(special.escaped("a/b", text) == "a\\/b");
    CHECK(special.escaped("a#b", text) == "a#b");
}

TEST_CASE("name_path: the names from below one module down to another, or the last of them") {
    const auto tree = test::tree_of({"a.b/c.d"});
    const auto m = static_cast<stemma::id>(tree.size() - 1);
    stemma::detail::name_path path(tree, special_characters("\\/."));
    CHECK(path(0, m) == "a.b\\/c.d");
    CHECK(path(tree.index().parent(m), m) == "d");
    CHECK(path(stemma::no_id, 0) == tree.name(0));
    std::string text = "x.";
    path.append(0, m, text, 2);
    CHECK(text == "x.b\\/c.d");
}

TEST_CASE("class_path_namer: a unique class shows its name only if that is a number") {
    const auto tree = test::tree_of({":zoo.Net", "fc:zoo.A", "0:zoo.B", "x.1:zoo.C"});
    const auto tags = name(tree);
    CHECK(segment(tags, tree, "") == "Net");
    CHECK(segment(tags, tree, "fc") == "A");
    CHECK(segment(tags, tree, "0") == "B.0");
    CHECK(segment(tags, tree, "x.1") == "C.1");
}

TEST_CASE("class_path_namer: equal classes show as many names as distinguish all of them") {
    const auto tree = test::tree_of({"l:torch.nn.L", "r:torch.nn.L", "l.in:zoo.A", "r.in:zoo.A",
                                     "r.out:zoo.A", "q:torch.nn.L", "q.one:zoo.B", "q.two:zoo.B"});
    const auto tags = name(tree);
    CHECK(segment(tags, tree, "l.in") == "A.l.in");
    CHECK(segment(tags, tree, "r.in") == "A.r.in");
    CHECK(segment(tags, tree, "r.out") == "A.r.out"); // one number for the whole group
    CHECK(segment(tags, tree, "q.one") == "B.one");
}

TEST_CASE("class_path_namer: many modules are distinguished like few") {
    std::vector<std::string> modules;
    for (const std::string list : {"l", "r"}) {
        modules.push_back(list + ":torch.nn.L");
        for (int i = 0; i < 20; ++i) {
            modules.push_back(list + "." + std::to_string(i) + ":zoo.A");
            modules.push_back(list + ".x" + std::to_string(i) + ":zoo." + list);
        }
    }
    const auto tree = test::tree_of(modules);
    const auto tags = name(tree);
    CHECK(segment(tags, tree, "l.7") == "A.l.7");
    CHECK(segment(tags, tree, "r.7") == "A.r.7");
    CHECK(segment(tags, tree, "l.x7") == "l.x7");
}

TEST_CASE("class_path_namer: shows all names of a path with fewer") {
    const auto tree = test::tree_of({"l:torch.nn.L", "l.in:zoo.A", "in:zoo.A"});
    const auto tags = name(tree);
    CHECK(segment(tags, tree, "l.in") == "A.l.in");
    CHECK(segment(tags, tree, "in") == "A.in");
}

TEST_CASE("class_path_namer: a module of unknown class is called by its name") {
    const auto tree = test::tree_of({"enc.layer.0.fc", "enc.layer.1", "7"});
    const auto tags = name(tree);
    CHECK(segment(tags, tree, "") == "model");
    CHECK(segment(tags, tree, "enc") == "enc");
    CHECK(segment(tags, tree, "enc.layer.0") == "layer.0");
    CHECK(segment(tags, tree, "enc.layer.0.fc") == "fc");
    CHECK(segment(tags, tree, "7") == "7");
}

TEST_CASE("class_path_namer: an unknown class that reads like a known one is marked") {
    stemma::module_tree_builder builder;
    builder.set_class(builder.child(0, "0"), "layer", "zoo.layer");
    builder.set_class(builder.child(0, "0#0"), "layer", "zoo.layer");
    const auto unrun = builder.child(0, "layer");
    builder.set_class(unrun, "List", "torch.nn.List");
    builder.child(unrun, "0");
    const auto tree = builder.build();
    const auto tags = name(tree);
    CHECK(segment(tags, tree, "0") == "layer.0");
    CHECK(segment(tags, tree, "0#0") == "layer.0\\#0");
    CHECK(segment(tags, tree, "layer.0") == "layer.0##0");
}

TEST_CASE("class_path_namer: two unknown classes may read alike") {
    // Below a, `0` needs one more name than its run, which then reads like the run of y.a.0.0.
    stemma::module_tree_builder builder;
    const auto a = builder.child(0, "a");
    builder.child(a, "0");
    for (const auto* path : {"y", "y.a", "y.a.0"}) {
        builder.set_class(builder.at_path(path, a), "List", "torch.nn.List");
    }
    builder.at_path("y.a.0.0", a);
    for (const auto* path : {"z", "z.a"}) {
        builder.set_class(builder.at_path(path, a), "List", "torch.nn.List");
    }
    builder.at_path("z.a.0", a);
    const auto tree = builder.build();
    const auto tags = name(tree);
    const auto one = segment(tags, tree, "a.0");
    const auto other = segment(tags, tree, "a.y.a.0.0");
    CHECK(one.starts_with("a.0.0"));
    CHECK(other.starts_with("a.0.0"));
    CHECK(one != other);
}

TEST_CASE("class_path_namer: runs of numbers stay short, however deep the tree") {
    stemma::module_tree_builder builder;
    std::size_t depth = 0;
    for (auto m = builder.child(0, "layer"); depth < 5000; ++depth) {
        m = builder.child(m, "0");
    }
    const auto tree = builder.build();
    const auto tags = name(tree);
    CHECK(tags.segment(1) == "layer");
    CHECK(tags.segment(3) == "layer.0.0");
    std::string run = "0";
    for (int i = 1; i < 32; ++i) {
        run += ".0";
    }
    CHECK(tags.segment(33) == run);
    CHECK(tags.segment(static_cast<stemma::id>(tree.size() - 1)) == run);
}

TEST_CASE("class_path_namer: uses ranks among the paths beyond the maximum number of names") {
    const auto tree = test::tree_of({"l:torch.nn.L", "l.x:torch.nn.L", "l.x.in:zoo.A",
                                     "r:torch.nn.L", "r.x:torch.nn.L", "r.x.in:zoo.A"});
    CHECK(segment(name(tree, 3), tree, "l.x.in") == "A.l.x.in");
    CHECK(segment(name(tree, 2), tree, "l.x.in") == "A#0");
    CHECK(segment(name(tree, 2), tree, "r.x.in") == "A#1");
}

} // namespace test::model_detail_class_path_namer
