// SPDX-License-Identifier: Apache-2.0
#include <stemma/model/module_tree_builder.hpp>

#include "../catch.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/model/module_tree.hpp>

#include <range/v3/algorithm/equal.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace test::model_module_tree_builder {

using stemma::id;
using stemma::module_tree_builder;
using stemma::no_id;

namespace {

struct planned_tensor {
    std::string name;
    std::string dtype;
    std::vector<std::int64_t> shape{};
    bool trainable = false;
};

struct planned_module {
    std::string path;
    std::string class_name;
    id calls = no_id;
    std::vector<planned_tensor> parameters{};
    std::vector<planned_tensor> buffers{};
};

planned_tensor random_tensor(test::random_numbers& random) {
    planned_tensor tensor{"t" + std::to_string(random(4)), random.one_in(2) ? "float32" : ""};
    for (auto rank = random(4); rank > 0; --rank) {
        tensor.shape.push_back(static_cast<std::int64_t>(random(9)) - 1);
    }
    tensor.trainable = random.one_in(2);
    return tensor;
}

stemma::tensor_info info(const planned_tensor& from) {
    return {from.name, from.dtype, from.shape, from.trainable};
}

bool is_same(const stemma::tensor_info& actual, const planned_tensor& planned) {
    return actual.name == planned.name && actual.dtype == planned.dtype &&
           ranges::equal(actual.shape, planned.shape) && actual.trainable == planned.trainable;
}

void check_module(const stemma::module_tree& tree, id m, const planned_module& planned) {
    REQUIRE(tree.path(m) == planned.path);
    REQUIRE(tree.class_name(m) == planned.class_name);
    REQUIRE(tree.qualified_class(m) ==
            (planned.class_name.empty() ? "" : "pkg." + planned.class_name));
    REQUIRE(tree.calls(m) == planned.calls);
    REQUIRE(tree.parameter_count(m) == planned.parameters.size());
    REQUIRE(tree.buffer_count(m) == planned.buffers.size());
    for (std::size_t i = 0; i < planned.parameters.size(); ++i) {
        REQUIRE(is_same(tree.parameter(m, i), planned.parameters[i]));
    }
    for (std::size_t i = 0; i < planned.buffers.size(); ++i) {
        REQUIRE(is_same(tree.buffer(m, i), planned.buffers[i]));
    }
}

} // namespace

TEST_CASE("module_tree_builder: the tree contains everything added, in any order",
          "[model][module_tree_builder]") {
    test::random_numbers random(1);
    for (int round = 0; round < 50; ++round) {
        module_tree_builder builder("net");
        std::vector<planned_module> plan{{"", ""}};
        for (int i = 0; i < 25; ++i) {
            const auto parent = random(plan.size());
            const auto name = std::string(1, "abcd"[random(4)]);
            const auto path = plan[parent].path + (parent == 0 ? "" : ".") + name;
            const auto before = builder.size();
            const auto m = builder.child(static_cast<id>(parent), name);
            REQUIRE((m == before) == (builder.size() == before + 1));
            if (m == before) {
                plan.push_back({path, ""});
            }
            REQUIRE(plan[m].path == path);
            REQUIRE(builder.find_child(static_cast<id>(parent), name) == m);
            REQUIRE(builder.parent(m) == parent);
            REQUIRE(builder.name(m) == name);
        }
        for (int i = 0; i < 40; ++i) { // tensors of random modules
            const auto m = random(plan.size());
            const auto tensor = random_tensor(random);
            if (random.one_in(3)) {
                plan[m].buffers.push_back(tensor);
                builder.add_buffer(static_cast<id>(m), info(tensor));
            } else {
                plan[m].parameters.push_back(tensor);
                builder.add_parameter(static_cast<id>(m), info(tensor));
            }
        }
        for (id m = 0; m < plan.size(); ++m) {
            if (random.one_in(2)) {
                plan[m].class_name = "C" + std::to_string(random(3));
                CHECK_FALSE(builder.has_class(m));
                builder.set_class(m, plan[m].class_name, "pkg." + plan[m].class_name);
                CHECK(builder.has_class(m));
            }
            if (random.one_in(2)) {
                plan[m].calls = static_cast<id>(random(5));
                builder.set_calls(m, plan[m].calls);
            }
            CHECK(builder.calls(m) == plan[m].calls);
        }
        const auto tree = builder.build();
        REQUIRE(tree.size() == plan.size());
        for (id m = 0; m < plan.size(); ++m) {
            check_module(tree, builder.rank_of(m), plan[m]);
        }
    }
}

TEST_CASE("module_tree_builder: children keep the order of insertion",
          "[model][module_tree_builder]") {
    module_tree_builder builder;
    for (auto path : {"z.b", "a", "z.a", "m.x.y", "a.q", "z.b.c"}) {
        builder.at_path(path);
    }
    const auto tree = builder.build();
    std::vector<std::string> paths;
    for (id m = 0; m < tree.size(); ++m) {
        paths.push_back(tree.path(m));
    }
    CHECK(paths == std::vector<std::string>{"", "z", "z.b", "z.b.c", "z.a", "a", "a.q", "m", "m.x",
                                            "m.x.y"});
}

TEST_CASE("module_tree_builder: a path adds missing modules and finds existing ones",
          "[model][module_tree_builder]") {
    module_tree_builder builder("net");
    const auto layer = builder.at_path("encoder.layer");
    CHECK(builder.size() == 3);
    CHECK(builder.at_path("encoder.layer") == layer);
    CHECK(builder.at_path("layer", builder.at_path("encoder")) == layer);
    CHECK(builder.at_path("") == 0);
    CHECK(builder.at_path("", layer) == layer);
    CHECK(builder.find_child(0, "layer") == no_id);
    CHECK(builder.size() == 3);
    CHECK(builder.name(0) == "net");
    builder.set_root_name("other");
    CHECK(builder.build().name(0) == "other");
}

TEST_CASE("module_tree_builder: can be used after building a tree",
          "[model][module_tree_builder]") {
    module_tree_builder builder;
    const auto b = builder.at_path("b");
    builder.add_alias("also", b);
    const auto first = builder.build();
    const auto nested = builder.at_path("b.c");
    const auto a = builder.at_path("a");
    builder.add_alias("twice", a);
    builder.add_shared_parameters({"a.w", "b.w"});
    const auto second = builder.build();
    CHECK(first.size() == 2);
    CHECK(first.aliases().size() == 1);
    CHECK(first.shared_parameters().empty());
    REQUIRE(second.size() == 4);
    CHECK(second.path(builder.rank_of(nested)) == "b.c");
    REQUIRE(second.aliases().size() == 2);
    CHECK(second.aliases()[1].path == "twice");
    CHECK(second.aliases()[1].module == builder.rank_of(a));
    CHECK(second.aliased("twice") == builder.rank_of(a));
    for (id m = 0; m < second.size(); ++m) {
        const bool has = m == builder.rank_of(a) || m == builder.rank_of(b);
        CHECK(second.aliases_of(m).size() == (has ? 1U : 0U));
    }
    CHECK(second.aliases_of(builder.rank_of(b))[0] == 0);
    CHECK(second.aliases_of(builder.rank_of(a))[0] == 1);
    CHECK(second.aliased("a") == stemma::no_id);
    REQUIRE(second.shared_parameters().size() == 1);
    CHECK(second.shared_parameters()[0] == std::vector<std::string>{"a.w", "b.w"});
}

TEST_CASE("module_tree_builder: names may contain anything and are kept distinct",
          "[model][module_tree_builder]") {
    module_tree_builder builder;
    const std::vector<std::string> names{"",     ".",   "a.b", std::string(1, '\0'),
                                         "\xff", "a/b", "a\\"};
    std::map<id, std::string> stored;
    for (const auto& name : names) {
        stored.emplace(builder.child(0, name), name);
    }
    CHECK(stored.size() == names.size());
    const auto tree = builder.build();
    for (const auto& [m, name] : stored) {
        CHECK(tree.name(builder.rank_of(m)) == name);
        CHECK(tree.child(0, name) == builder.rank_of(m));
    }
}

TEST_CASE("module_tree_builder: accepts views of its own names", "[model][module_tree_builder]") {
    module_tree_builder builder("name");
    id last = 0;
    for (int i = 0; i < 100; ++i) {
        const std::string_view own = builder.name(last);
        last = builder.child(last, own);
    }
    CHECK(builder.name(last) == "name");
    CHECK(builder.size() == 101);
}

} // namespace test::model_module_tree_builder
