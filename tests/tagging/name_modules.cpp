// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/name_modules.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/selection.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test::tagging_name_modules {

using stemma::id;
using stemma::name_modules;

namespace {

using name_list = std::vector<std::string>;

/// One module of a planned tree.
struct planned_module {
    std::size_t parent = 0; // position of an earlier one
    std::string attribute;
    std::string class_name;
    bool selected = true;
};

std::string pick(test::random_numbers& random, const name_list& from) {
    return from[random(from.size())];
}

/// Trees with names as hostile as a file can make them.
std::vector<planned_module> plan_tree(test::random_numbers& random, std::size_t size) {
    static const name_list attributes{
        "",    "0", "1", "00", "layer", "layer", "a",   "b",   "#",        "#0",           "0#0",
        "##0", "@", "/", ".",  "\\",    "\\/",   "a.0", "a/b", "\xc3\xa9", "\xe5\xb1\x82", "\xff"};
    static const name_list tame{"0", "1", "a", "layer"};
    static const name_list classes{"",  "",    "A", "A",  "B",   "layer", "a", "A.B",
                                   "0", "A#0", "/", "\\", "a.0", "#",     "."};
    const bool wild = !random.one_in(3);
    std::vector<planned_module> plan{{0, "", random.one_in(3) ? "" : "Net", true}};
    std::set<std::pair<std::size_t, std::string>> unique;
    while (plan.size() < size) {
        const auto parent = random.one_in(2) ? plan.size() - 1 : random(plan.size());
        const auto attribute = pick(random, wild ? attributes : tame);
        if (unique.emplace(parent, attribute).second) {
            plan.push_back({parent, attribute, pick(random, classes), !random.one_in(3)});
        } else if (random.one_in(8)) {
            break;
        }
    }
    return plan;
}

/// Builds a plan, adding modules in some order; `rank` is by position in the plan.
struct built_tree {
    built_tree(const std::vector<planned_module>& plan, const std::vector<std::size_t>& order) {
        stemma::module_tree_builder builder(plan[0].attribute);
        std::vector<id> numbers(plan.size(), 0);
        for (auto i : order) {
            numbers[i] = i == 0 ? 0 : builder.child(numbers[plan[i].parent], plan[i].attribute);
            if (!plan[i].class_name.empty() || !plan[i].selected) {
                builder.set_class(numbers[i], plan[i].class_name,
                                  plan[i].selected ? "zoo.X" : "torch.nn.X");
            }
        }
        modules = builder.build();
        for (auto m : numbers) {
            rank.push_back(builder.rank_of(m));
        }
    }

    stemma::module_tree modules;
    std::vector<id> rank;
};

std::vector<std::size_t> in_order(std::size_t size) {
    std::vector<std::size_t> order(size);
    for (std::size_t i = 0; i < size; ++i) {
        order[i] = i;
    }
    return order;
}

/// Another order with parents before their children.
std::vector<std::size_t> in_any_order(const std::vector<planned_module>& plan,
                                      test::random_numbers& random) {
    std::vector<std::size_t> order{0};
    std::vector<std::size_t> open;
    for (std::size_t i = 1; i < plan.size(); ++i) {
        if (plan[i].parent == 0) {
            open.push_back(i);
        }
    }
    while (!open.empty()) {
        std::swap(open[random(open.size())], open.back());
        const auto next = open.back();
        open.pop_back();
        order.push_back(next);
        for (std::size_t i = 1; i < plan.size(); ++i) {
            if (plan[i].parent == next) {
                open.push_back(i);
            }
        }
    }
    return order;
}

std::string escaped(std::string_view name) {
    std::string text;
    for (char c : name) {
        text.append(std::string_view("\\/.#").find(c) == std::string_view::npos ? "" : "\\");
        text.push_back(c);
    }
    return text;
}

bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// The definition of tags, transcribed literally, for small trees.
class reference_names {
public:
    explicit reference_names(const std::vector<planned_module>& plan) : plan_(plan) {
        for (std::size_t m = 0; m < plan.size(); ++m) {
            above_.push_back(0);
            for (auto at = plan[m].parent; m != 0; at = plan[at].parent) {
                if (is_selected(at)) {
                    above_[m] = at;
                    break;
                }
            }
            printed_.push_back(print_class(m));
        }
        std::vector<std::string> segment(plan.size());
        std::map<std::pair<std::size_t, std::string>, std::vector<std::size_t>> equal;
        for (std::size_t m = 0; m < plan.size(); ++m) {
            if (is_selected(m)) {
                segment[m] = printed_[m];
                const auto names = relative(m);
                const auto k = names_told(m);
                for (auto i = names.size() - std::min(k, names.size()); i < names.size(); ++i) {
                    segment[m] += "." + escaped(names[i]);
                }
                equal[{m == 0 ? plan.size() : above_[m], segment[m]}].push_back(m);
            }
        }
        for (auto& [where, members] : equal) {
            part(members, segment);
        }
        for (std::size_t m = 0; m < plan.size(); ++m) {
            const auto at = is_selected(m) ? m : above_[m];
            tags.push_back(at == m ? (m == 0 ? "" : tags[above_[m]]) + "/" + segment[m] : tags[at]);
        }
    }

    std::vector<std::string> tags; // by position in the plan

private:
    [[nodiscard]] bool is_selected(std::size_t m) const { return m == 0 || plan_[m].selected; }

    [[nodiscard]] std::string print_class(std::size_t m) const {
        if (!plan_[m].class_name.empty()) {
            return escaped(plan_[m].class_name);
        }
        if (m == 0) {
            return plan_[0].attribute.empty() ? "model" : escaped(plan_[0].attribute);
        }
        std::string text = escaped(plan_[m].attribute);
        for (auto at = m; is_digits(plan_[at].attribute) && plan_[at].parent != 0;) {
            at = plan_[at].parent;
            text.insert(0, escaped(plan_[at].attribute) + ".");
        }
        return text;
    }

    /// The names from below the nearest selected ancestor.
    [[nodiscard]] name_list relative(std::size_t m) const {
        name_list names;
        for (auto at = m; m != 0 && at != above_[m]; at = plan_[at].parent) {
            names.insert(names.begin(), plan_[at].attribute);
        }
        return names;
    }

    /// How many names the segment of `m` shows.
    [[nodiscard]] std::size_t names_told(std::size_t m) const {
        std::vector<name_list> group;
        for (std::size_t other = 1; other < plan_.size() && m != 0; ++other) {
            if (is_selected(other) && above_[other] == above_[m] &&
                printed_[other] == printed_[m]) {
                group.push_back(relative(other));
            }
        }
        if (group.size() < 2) {
            return m != 0 && is_digits(plan_[m].attribute) && !plan_[m].class_name.empty() ? 1 : 0;
        }
        for (std::size_t k = 1;; ++k) {
            std::set<name_list> distinct;
            for (const auto& names : group) {
                const auto count = static_cast<std::ptrdiff_t>(std::min(k, names.size()));
                distinct.insert(name_list(names.end() - count, names.end()));
            }
            if (distinct.size() == group.size()) {
                return k;
            }
        }
    }

    /// Numbers modules of unknown class that have another one's segment, by their reversed paths.
    void part(std::vector<std::size_t>& members, std::vector<std::string>& segment) const {
        const auto reversed = [&](std::size_t m) {
            auto names = relative(m);
            std::reverse(names.begin(), names.end());
            return names;
        };
        std::sort(members.begin(), members.end(),
                  [&](std::size_t a, std::size_t b) { return reversed(a) < reversed(b); });
        std::size_t number = 0;
        for (auto m : members) {
            if (members.size() > 1 && plan_[m].class_name.empty()) {
                segment[m] += "##" + std::to_string(number++);
            }
        }
    }

    const std::vector<planned_module>& plan_;
    std::vector<std::size_t> above_;
    name_list printed_;
};

/// Returns: the number of segments of a tag: every `/` begins one unless escaped by a `\\`.
std::size_t segments_in(std::string_view tag) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < tag.size(); ++i) {
        count += tag[i] == '/' ? 1U : 0U;
        i += tag[i] == '\\' ? 1U : 0U;
    }
    return count;
}

} // namespace

TEST_CASE("name_modules: tags match the definition, in every tree") {
    test::random_numbers random(1);
    for (int round = 0; round < 20'000; ++round) {
        const auto plan = plan_tree(random, 1 + random(14));
        const built_tree built(plan, in_order(plan.size()));
        const auto tags = name_modules(built.modules);
        const reference_names reference(plan);
        for (std::size_t m = 0; m < plan.size(); ++m) {
            if (tags.text(built.rank[m]) != reference.tags[m]) {
                REQUIRE(tags.text(built.rank[m]) == reference.tags[m]);
            }
        }
    }
}

TEST_CASE("name_modules: no two selected modules share a tag, in any tree") {
    test::random_numbers random(2);
    for (int round = 0; round < 20'000; ++round) {
        const auto plan = plan_tree(random, 2 + random(20));
        const built_tree built(plan, in_order(plan.size()));
        const auto classes = name_modules(built.modules);
        const auto paths =
            name_modules(built.modules, stemma::not_infrastructure{}, stemma::module_paths{});
        for (const auto& tags : {classes, paths}) {
            std::map<std::string, id> module_of;
            for (id m = 0; m < built.modules.size(); ++m) {
                if (tags.is_selected(m)) {
                    const auto text = tags.text(m);
                    const auto [entry, added] = module_of.emplace(text, m);
                    CAPTURE(text);
                    if (!added || text.size() != tags.length(m) || text.front() != '/') {
                        REQUIRE(added);
                        REQUIRE(text.size() == tags.length(m));
                        REQUIRE(text.front() == '/');
                    }
                } else {
                    REQUIRE(tags.text(m) == tags.text(built.modules.index().parent(m)));
                }
            }
        }
    }
}

TEST_CASE("name_modules: a tag has one segment for each selected ancestor") {
    test::random_numbers random(3);
    for (int round = 0; round < 2'000; ++round) {
        const auto plan = plan_tree(random, 2 + random(20));
        const built_tree built(plan, in_order(plan.size()));
        const auto tags = name_modules(built.modules);
        for (id m = 0; m < built.modules.size(); ++m) {
            std::size_t selected = 0;
            for (auto at = tags.selected(m); at != stemma::no_id; at = tags.above(at)) {
                ++selected;
            }
            if (segments_in(tags.text(m)) != selected) {
                CAPTURE(tags.text(m));
                REQUIRE(segments_in(tags.text(m)) == selected);
            }
        }
    }
}

TEST_CASE("name_modules: tags do not depend on the order of the input") {
    test::random_numbers random(4);
    for (int round = 0; round < 10'000; ++round) {
        const auto plan = plan_tree(random, 2 + random(14));
        const built_tree one(plan, in_order(plan.size()));
        const built_tree other(plan, in_any_order(plan, random));
        const auto tags = name_modules(one.modules);
        const auto again = name_modules(other.modules);
        for (std::size_t m = 0; m < plan.size(); ++m) {
            if (tags.text(one.rank[m]) != again.text(other.rank[m])) {
                REQUIRE(tags.text(one.rank[m]) == again.text(other.rank[m]));
            }
        }
    }
}

TEST_CASE("name_modules: modules that share more than 32 names are numbered") {
    const auto tags_with = [](bool turned) {
        stemma::module_tree_builder builder;
        builder.set_class(0, "Net", "zoo.Net");
        name_list branches{"a", "b", "c"};
        if (turned) {
            std::reverse(branches.begin(), branches.end());
        }
        std::map<std::string, id> leaf;
        for (const auto& branch : branches) {
            auto m = builder.child(0, branch);
            for (int depth = 0; depth < 40; ++depth) {
                builder.set_class(m, "List", "torch.nn.List");
                m = builder.child(m, "x");
            }
            builder.set_class(m, "Leaf", "zoo.Leaf");
            leaf[branch] = m;
        }
        const auto tree = builder.build();
        const auto tags = name_modules(tree);
        std::map<std::string, std::string> texts;
        for (const auto& [branch, m] : leaf) {
            texts[branch] = tags.text(builder.rank_of(m));
        }
        return texts;
    };
    const std::map<std::string, std::string> expected{
        {"a", "/Net/Leaf#0"}, {"b", "/Net/Leaf#1"}, {"c", "/Net/Leaf#2"}};
    CHECK(tags_with(false) == expected);
    CHECK(tags_with(true) == expected);
}

TEST_CASE("name_modules: a segment of a module that has none is refused") {
    for (const id misplaced : {id{1}, id{99'999}}) {
        const auto naming = [&](const auto& modules, stemma::tag_table& tags) {
            stemma::class_paths{}.name_modules(modules, tags);
            tags.set_segment(misplaced, "q");
        };
        const auto tree = test::tree_of({":zoo.Net", "list:torch.nn.ModuleList"});
        CHECK_THROWS_WITH(
            name_modules(tree, stemma::not_infrastructure{},
                         stemma::any_policy<stemma::naming_category, stemma::module_tree>(naming)),
            Catch::Matchers::Contains("not selected"));
    }
}

TEST_CASE("name_modules: real models read well") {
    const auto tree = test::tree_of(
        {":zoo.BertModel", "encoder:zoo.BertEncoder", "encoder.layer:torch.nn.ModuleList",
         "encoder.layer.0:zoo.BertLayer", "encoder.layer.0.attention:zoo.BertAttention",
         "encoder.layer.1:zoo.BertLayer", "layer3:torch.nn.Sequential", "layer3.1:zoo.BasicBlock",
         "decoder:zoo.T5Stack", "other:zoo.T5Stack", "rest.0"});
    const auto tags = name_modules(tree);
    const auto tag = [&](const char* path) { return tags.text(test::module_at(tree, path)); };
    CHECK(tag("") == "/BertModel");
    CHECK(tag("encoder.layer") == "/BertModel/BertEncoder");
    CHECK(tag("encoder.layer.0.attention") == "/BertModel/BertEncoder/BertLayer.0/BertAttention");
    CHECK(tag("encoder.layer.1") == "/BertModel/BertEncoder/BertLayer.1");
    CHECK(tag("layer3.1") == "/BertModel/BasicBlock.1");
    CHECK(tag("decoder") == "/BertModel/T5Stack.decoder");
    CHECK(tag("rest.0") == "/BertModel/rest/rest.0");
}

using stemma::id;
using stemma::detail::select_modules;

TEST_CASE("select_modules: each module gets the nearest selected one at or above it") {
    const auto tree = test::tree_of({":zoo.Net", "blocks:torch.nn.ModuleList", "blocks.0:zoo.Block",
                                     "blocks.0.fc:torch.nn.Linear", "blocks.1:zoo.Block",
                                     "head:torch.nn.Linear"});
    const auto at = [&](const char* path) { return test::module_at(tree, path); };
    const auto selected = select_modules(tree);
    REQUIRE(selected.size() == tree.size());
    CHECK(selected[at("")] == 0);
    CHECK(selected[at("blocks")] == 0);
    CHECK(selected[at("blocks.0")] == at("blocks.0"));
    CHECK(selected[at("blocks.0.fc")] == at("blocks.0"));
    CHECK(selected[at("blocks.1")] == at("blocks.1"));
    CHECK(selected[at("head")] == 0);
}

TEST_CASE("select_modules: the root is selected whatever the policy says") {
    const auto tree =
        test::tree_of({":torch.nn.Sequential", "0:torch.nn.Linear", "0.a:torch.nn.B"});
    CHECK(select_modules(tree) == std::vector<id>{0, 0, 0});
    CHECK(select_modules(tree, stemma::of_classes{{"Nothing"}}) == std::vector<id>{0, 0, 0});
    CHECK(select_modules(tree, stemma::all_modules{}) == std::vector<id>{0, 1, 2});
}

TEST_CASE("select_modules: accepts a function in place of a policy") {
    const auto tree = test::tree_of({":zoo.Net", "a:zoo.Layer", "a.b:zoo.Norm"});
    const auto selected = select_modules(
        tree, [](auto&& modules, auto m) { return modules.class_name(m) == "Norm"; });
    CHECK(selected == std::vector<id>{0, 0, 2});
}

} // namespace test::tagging_name_modules
