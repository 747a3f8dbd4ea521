// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/naming.hpp>

#include "../catch.hpp"
#include "../random_graphs.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/tag_table.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace test::tagging_naming {

using stemma::class_paths;
using stemma::id;
using stemma::module_paths;
using stemma::module_tree;
using stemma::names_and_classes;
using stemma::no_id;
using stemma::tag_table;

namespace {

struct planned {
    std::string path;
    std::string class_name;
    bool selected = true;
};

/// Returns: tags by path, for selected modules.
template <class Policy>
std::map<std::string, std::string> tags_of(const std::vector<planned>& plan,
                                           std::string_view root = "net") {
    STATIC_REQUIRE(stemma::explain_policy<stemma::naming_category, Policy, module_tree>());
    stemma::module_tree_builder builder(root);
    std::map<std::string, bool> is_selected{{"", true}};
    for (const auto& one : plan) {
        builder.set_class(builder.at_path(one.path), one.class_name, "");
        is_selected[one.path] = one.selected;
    }
    const auto tree = builder.build();
    std::vector<id> selected{0};
    for (id m = 1; m < tree.size(); ++m) {
        selected.push_back(is_selected[tree.path(m)] ? m : selected[tree.index().parent(m)]);
    }
    tag_table tags(tree.index(), selected);
    Policy{}.name_modules(tree, tags);
    tags.finish();
    std::map<std::string, std::string> result;
    for (id m = 0; m < tree.size(); ++m) {
        if (tags.is_selected(m)) {
            result[tree.path(m)] = tags.text(m);
        }
    }
    return result;
}

using texts = std::map<std::string, std::string>;

/// A random tree with hostile names, some of whose modules are selected.
struct random_scene {
    module_tree tree;
    std::vector<id> selected;

    explicit random_scene(test::random_numbers& random) {
        const std::vector<std::string> names{"0", "1",  "layer", "a",  "a/b", "a.b", "\\",
                                             "",  "00", "a.",    ".a", "#0",  "/",   "a\\.b"};
        const std::vector<std::string> classes{"",      "",    "A",       "B",   "A.0",
                                               "layer", "A#0", "layer.0", "A/B", "\\"};
        stemma::module_tree_builder builder(names[random(names.size())]);
        const auto parents = test::random_parents(random, 1 + random(25), 1 + random(5));
        std::vector<id> modules{0};
        for (std::size_t m = 1; m < parents.size(); ++m) {
            modules.push_back(builder.child(modules[parents[m]], names[random(names.size())]));
        }
        for (id m = 0; m < builder.size(); ++m) {
            builder.set_class(m, classes[random(classes.size())], "");
        }
        tree = builder.build();
        selected.push_back(0);
        for (id m = 1; m < tree.size(); ++m) {
            selected.push_back(random.one_in(3) ? selected[tree.index().parent(m)] : m);
        }
    }

    template <class Policy>
    [[nodiscard]] tag_table tags() const {
        tag_table tags(tree.index(), selected);
        Policy{}.name_modules(tree, tags);
        tags.finish();
        return tags;
    }
};

/// Returns: the number of segments of a tag; an escaped `/` separates none.
std::size_t segments(std::string_view tag) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tag.size(); ++i) {
        count += tag[i] == '/' ? 1U : 0U;
        i += tag[i] == '\\' ? 1U : 0U;
    }
    return count;
}

template <class Policy>
void check_laws(const random_scene& scene) {
    const auto tags = scene.tags<Policy>();
    std::set<std::string> unique;
    for (id m = 0; m < scene.tree.size(); ++m) {
        if (!tags.is_selected(m)) {
            continue;
        }
        const auto tag = tags.text(m);
        REQUIRE(unique.insert(tag).second);
        std::size_t depth = 0;
        for (auto at = m; at != no_id; at = tags.above(at)) {
            ++depth;
        }
        REQUIRE(segments(tag) == depth);
        REQUIRE((m == 0 || tag.starts_with(tags.text(tags.above(m)) + "/")));
    }
}

} // namespace

TEST_CASE("class_paths: a unique class stands alone", "[policy][naming]") {
    CHECK(tags_of<class_paths>({{"", "Net"}, {"body", "Body"}, {"body.head", "Head"}}) ==
          texts{{"", "/Net"}, {"body", "/Net/Body"}, {"body.head", "/Net/Body/Head"}});
}

TEST_CASE("class_paths: a number identifies a list member, even a single one", "[policy][naming]") {
    CHECK(tags_of<class_paths>({{"", "Net"}, {"layer.0", "Layer"}, {"layer", "List", false}}) ==
          texts{{"", "/Net"}, {"layer.0", "/Net/Layer.0"}});
}

TEST_CASE("class_paths: equal classes show as many names as needed, the same for all",
          "[policy][naming]") {
    const std::vector<planned> plan{
        {"", "ResNet"},        {"layer1", "List", false}, {"layer1.0", "Block"},
        {"layer1.1", "Block"}, {"layer2", "List", false}, {"layer2.0", "Block"},
        {"stem", "Block"}};
    CHECK(tags_of<class_paths>(plan) == texts{{"", "/ResNet"},
                                              {"layer1.0", "/ResNet/Block.layer1.0"},
                                              {"layer1.1", "/ResNet/Block.layer1.1"},
                                              {"layer2.0", "/ResNet/Block.layer2.0"},
                                              {"stem", "/ResNet/Block.stem"}});
}

TEST_CASE("class_paths: groups end at the nearest selected module", "[policy][naming]") {
    CHECK(tags_of<class_paths>({{"", "T5"},
                                {"encoder", "Stack"},
                                {"decoder", "Stack"},
                                {"encoder.block", "Block"},
                                {"decoder.block", "Block"}}) ==
          texts{{"", "/T5"},
                {"encoder", "/T5/Stack.encoder"},
                {"decoder", "/T5/Stack.decoder"},
                {"encoder.block", "/T5/Stack.encoder/Block"},
                {"decoder.block", "/T5/Stack.decoder/Block"}});
}

TEST_CASE("class_paths: the name stands in for an unknown class", "[policy][naming]") {
    CHECK(tags_of<class_paths>({{"", ""},
                                {"body", ""},
                                {"body.layer", "", false},
                                {"body.layer.0", ""},
                                {"body.layer.1", ""}}) ==
          texts{{"", "/net"},
                {"body", "/net/body"},
                {"body.layer.0", "/net/body/layer.0"},
                {"body.layer.1", "/net/body/layer.1"}});
    CHECK(tags_of<class_paths>({{"", ""}}, "") == texts{{"", "/model"}});
}

TEST_CASE("class_paths: special characters are escaped", "[policy][naming]") {
    const auto tags = tags_of<class_paths>({{"", "a/b.c\\d"}});
    CHECK(tags.at("") == R"(/a\/b\.c\\d)");
}

TEST_CASE("class_paths: uses an ordinal beyond the maximum number of names", "[policy][naming]") {
    // Two modules whose last 40 names are equal.
    std::string tail;
    for (int i = 0; i < 40; ++i) {
        tail += ".m";
    }
    std::vector<planned> plan{{"", "Net"}, {"x" + tail, "Deep"}, {"y" + tail, "Deep"}};
    for (const auto* top : {"x", "y"}) {
        for (std::string path = top; path != top + tail; path += ".m") {
            plan.push_back({path, "Box", false});
        }
    }
    const auto tags = tags_of<class_paths>(plan);
    CHECK(tags.at("x" + tail) == "/Net/Deep#0");
    CHECK(tags.at("y" + tail) == "/Net/Deep#1");
}

TEST_CASE("module_paths: shows the names between two selected modules", "[policy][naming]") {
    CHECK(tags_of<module_paths>({{"", "Net"},
                                 {"encoder", "E"},
                                 {"encoder.layer", "L", false},
                                 {"encoder.layer.0", "B"}}) ==
          texts{{"", "/net"},
                {"encoder", "/net/encoder"},
                {"encoder.layer.0", "/net/encoder/layer.0"}});
    CHECK(tags_of<module_paths>({}, "").at("") == "/model");
    CHECK(tags_of<module_paths>({}, "a/b").at("") == R"(/a\/b)");
}

TEST_CASE("names_and_classes: shows names and classes", "[policy][naming]") {
    const std::vector<planned> plan{
        {"", "Net"}, {"encoder", ""}, {"encoder.layer", "L", false}, {"encoder.layer.0", "B:/"}};
    const texts expected{{"", "/net:Net"},
                         {"encoder", "/net:Net/encoder"},
                         {"encoder.layer.0", R"(/net:Net/encoder/layer.0:B\:\/)"}};
    CHECK(tags_of<names_and_classes>(plan) == expected);
    CHECK(tags_of<names_and_classes>({{"", "Net"}}, "").at("") == "/model:Net");
    // Further modules change nothing.
    auto more = plan;
    more.push_back({"encoder.layer.1", "B:/"});
    more.push_back({"decoder", ""});
    const auto tags = tags_of<names_and_classes>(more);
    for (const auto& [path, tag] : expected) {
        CHECK(tags.at(path) == tag);
    }
}

TEST_CASE("naming: a tag identifies one module and extends its ancestor's", "[policy][naming]") {
    test::random_numbers random(1);
    for (int round = 0; round < 3000; ++round) {
        const random_scene scene(random);
        check_laws<class_paths>(scene);
        check_laws<module_paths>(scene);
        check_laws<names_and_classes>(scene);
    }
    STATIC_REQUIRE(std::is_empty_v<class_paths>);
    STATIC_REQUIRE(std::is_empty_v<module_paths>);
}

} // namespace test::tagging_naming
