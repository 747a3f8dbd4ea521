// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_opener.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"
#include "../../random_numbers.hpp"
#include "../../sanitized.hpp"

#include <stemma/fold/detail/function_inliner.hpp>
#include <stemma/open/attributed_model.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace test::fold_detail_fold_opener {

namespace {

using stemma::id;
using stemma::no_id;

/// Folds by attribution, and returns the unfolded result.
std::pair<std::string, std::size_t> there_and_back(const stemma::attributed_model& opened,
                                                   const stemma::fold_options<>& options) {
    const auto& model = opened.model();
    const auto& tags = opened.tags();
    const stemma::graph_contents contents(model);
    stemma::node_shapes shapes(model, contents);
    const auto plan =
        stemma::plan_fold(model, contents, opened.modules(), tags.attributions, shapes, options);
    stemma::detail::fold_writer writer(model, contents, opened.modules(), tags.tags,
                                       tags.attributions, plan);
    stemma::detail::string_splice splice(opened.file().bytes());
    writer.build().write(splice);
    return {test::unfold(splice.text), plan.functions.size()};
}

/// Makes models with bodies up to three deep, in which all is read and names repeat.
class random_scene {
public:
    explicit random_scene(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] test::fold_scene make() {
        auto main = make_graph({"x", "cond"}, 0);
        auto scene = main.first.scene(3, main.second);
        scene.options.least = 1 + random_(3);
        scene.options.vary_constants = random_.one_in(2);
        return scene;
    }

private:
    using graph = std::pair<test::placed_nodes, std::string>; // and its result

    [[nodiscard]] std::string fresh(std::size_t depth) {
        // Bodies of the same depth make the same names, and can be equal.
        const auto number = depth == 0 ? std::to_string(next_++) : std::to_string(local_++);
        return (random_.one_in(3) ? "/layer.0/v" : "v") + std::to_string(depth) + "_" + number;
    }

    [[nodiscard]] graph make_graph(std::vector<std::string> visible, std::size_t depth) {
        graph built;
        std::vector<std::string> unread;
        auto module = static_cast<id>(random_(8));
        const auto take = [&] {
            if (!unread.empty() && !random_.one_in(4)) {
                auto name = unread.back();
                unread.pop_back();
                return name;
            }
            return visible[random_(visible.size())];
        };
        for (auto n = 2 + random_(depth == 0 ? 14 : 5); n > 0; --n) {
            module = random_.one_in(3) ? static_cast<id>(random_(8)) : module;
            const auto out = fresh(depth);
            const auto in = take();
            if (depth < 3 && random_.one_in(4)) {
                const auto previous = std::exchange(local_, depth == 0 ? 0 : local_);
                auto body = make_graph(visible, depth + 1);
                local_ = depth == 0 ? 0 : std::max(previous, local_);
                built.first.add_branches(body.first, body.second, out, module);
            } else if (random_.one_in(5)) {
                built.first.add(test::node("Constant", {}, {out})
                                    .inner(5, test::text_attribute("value_string",
                                                                   random_.one_in(2) ? "a" : "b")),
                                module);
            } else {
                const auto* type = random_.one_in(2) ? "Add" : "Mul";
                built.first.add(test::node(type, {in, take()}, {out}, "/" + out), module);
            }
            visible.push_back(out);
            unread.push_back(out);
        }
        built.second = visible.back();
        return built;
    }

    test::random_numbers random_;
    std::size_t next_ = 0;
    std::size_t local_ = 0;
};

} // namespace

TEST_CASE("fold_opener: restores every fixture byte for byte") {
    std::size_t functions = 0;
    for (const auto& file : test::model_files()) {
        CAPTURE(file);
        const stemma::attributed_model opened(file, {});
        const auto plain = there_and_back(opened, {});
        CHECK(plain.first == opened.file().bytes());
        const auto all = there_and_back(opened, {.selection = stemma::all_modules{}});
        CHECK(all.first == opened.file().bytes());
        const auto apart = there_and_back(opened, {.name_of = stemma::named_by_path{}});
        CHECK(apart.first == opened.file().bytes());
        CHECK(apart.second >= plain.second);
        const auto innermost = there_and_back(opened, {.selection = stemma::innermost<>{}});
        CHECK(innermost.first == opened.file().bytes());
        functions += plain.second + all.second;
    }
    CHECK(functions > 100);
}

TEST_CASE("fold_opener: restores files that no exporter would write") {
    test::random_numbers random(5);
    std::size_t folded = 0;
    std::size_t in_bodies = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        CAPTURE(seed);
        const auto bytes = test::random_model(seed, false, false).bytes();
        const stemma::wire_model probe(bytes);
        const stemma::graph_contents probed(probe);
        std::vector<stemma::attribution> where;
        for (stemma::id node = 0; node < probe.node_count(); ++node) {
            const bool outside = seed % 2 == 0 && !probed.bodies_of(node).empty();
            where.push_back({outside ? 0 : static_cast<stemma::id>(1 + random(5)), no_id, 1});
        }
        test::fold_scene scene{bytes, test::layers(2), where};
        scene.options.least = 1;
        try {
            const auto text = scene.fold();
            folded += scene.plan().functions.empty() ? 0U : 1U;
            const stemma::wire_model model(text);
            in_bodies += stemma::detail::find_fold_record(model).value().bodies.empty() ? 0U : 1U;
            CHECK(test::unfold(text) == bytes);
        } catch (const stemma::error& e) {
            const std::string reason = e.what(); // of what no model may be
            CHECK((reason.find("more than once") != reason.npos ||
                   reason.find("cycle") != reason.npos || reason.find("UTF-8") != reason.npos));
        }
    }
    CHECK(folded > 50);
    CHECK(in_bodies > 3);
}

TEST_CASE(
    "fold_opener: nodes between other fields, in several parts of the graph, stand there again") {
    std::vector<stemma::attribution> where;
    for (int i = 0; i < 4; ++i) {
        where.push_back({static_cast<stemma::id>(i < 2 ? 2 : 4), no_id, 1});
    }
    const auto relu = [](const char* in, const char* out) {
        return test::node("Relu", {in}, {out});
    };
    test::fold_scene scene{test::message()
                               .inner(7, test::message()
                                             .text(2, "first")
                                             .inner(1, relu("x", "a"))
                                             .inner(11, test::value_info("x"))
                                             .inner(1, relu("a", "b"))
                                             .inner(1, relu("b", "c")))
                               .number(1, 8)
                               .inner(7, test::message().inner(12, test::value_info("y")))
                               .inner(7, test::message().inner(1, relu("c", "y")))
                               .bytes(),
                           test::layers(2), where};
    const auto folded = scene.fold();
    CHECK(stemma::wire_model(folded).graph(0).node_count == 2);
    CHECK(test::unfold(folded) == scene.bytes);
}

TEST_CASE("fold_opener: restores names captured by bodies of a shared function") {
    std::vector<test::message> nodes;
    std::vector<stemma::attribution> where;
    for (const std::string layer : {"0", "1", "2"}) {
        const auto in = layer == "0" ? std::string("x") : "y" + std::to_string(layer[0] - '1');
        const auto body =
            test::graph({test::node("Add", {"a" + layer, "w" + layer}, {"inner"})}, {}, {"inner"});
        nodes.push_back(test::node("Relu", {in}, {"a" + layer}));
        nodes.push_back(test::owner_node("If", {"cond"}, {"y" + layer},
                                         {test::graph_attribute("then_branch", body),
                                          test::graph_attribute("else_branch", body)}));
        const auto m = static_cast<stemma::id>(2 + 2 * (layer[0] - '0'));
        where.insert(where.end(), 4, {m, no_id, 1}); // two in bodies come first
    }
    test::fold_scene scene{
        test::model(test::graph(nodes, {"x", "cond"}, {"y2"}, {"w0", "w1", "w2"})).bytes(),
        test::layers(3), where};
    CHECK(scene.plan().functions.size() == 1);
    CHECK(test::unfold(scene.fold()) == scene.bytes);
}

TEST_CASE("fold_opener: keeps the model's own functions, however odd") {
    const auto of = [](const char* name, const char* op, const char* domain = "") {
        return test::function("net", name, {"a"}, {"b"},
                              {test::node(op, {"a"}, {"b"}, "", domain)});
    };
    const std::vector<std::vector<test::message>> odd{
        {of("Layer", "Neg")},                             // the name that folding would give
        {of("Layer", "Neg"), of("Layer", "Exp")},         // one name for two bodies
        {of("A", "B", "net"), of("B", "A", "net")},       // each calls the other
        {of("", "Neg")},                                  // no name
        {test::function("net", "A", {}, {"nowhere"}, {})} // gives away what there is not
    };
    for (const auto& functions : odd) {
        auto scene = test::layered_model(2);
        for (const auto& function : functions) {
            scene.bytes += test::message().inner(25, function).bytes();
        }
        test::fold_scene whole{scene.bytes, scene.modules, scene.attributions};
        const auto before = whole.model.functions().size();
        whole.attributions.resize(whole.model.node_count(), {0, no_id, 1});
        const auto folded = whole.fold();
        const stemma::wire_model model(folded, "folded");
        CHECK(before == functions.size());
        CHECK(model.functions().size() == before + 2);
        CHECK(model.text(model.functions().back().name) ==
              (functions[0].bytes() == of("Layer", "Neg").bytes() ? "Layer.1" : "Layer"));
        CHECK(test::unfold(folded) == whole.bytes);
    }
}

TEST_CASE("fold_opener: rejects a changed file") {
    auto scene = test::layered_model(3);
    const auto folded = scene.fold();
    const auto replaced = [&](std::string_view from, std::string_view to) {
        auto text = folded;
        const auto at = text.find(from);
        REQUIRE(at != text.npos);
        return text.replace(at, from.size(), to);
    };
    CHECK_THROWS_AS(test::unfold(replaced("\"nodes\": 9", "\"nodes\": 8")), stemma::error);
    CHECK_THROWS_AS(test::unfold(replaced("\"nodes\": 9", "\"nodes\": 5")), stemma::error);
    CHECK_THROWS_AS(test::unfold(replaced("\"Layer\"]", "\"Lager\"]")), stemma::error);
}

TEST_CASE("fold_opener: restores outputs that are repeated, renamed, or inputs") {
    const auto back = [](const std::vector<test::message>& nodes, const test::names& outputs) {
        test::fold_scene scene{test::model(test::graph(nodes, {"x"}, outputs)).bytes(),
                               test::layers(2),
                               {{2, no_id, 1}, {2, no_id, 1}, {4, no_id, 1}, {4, no_id, 1}}};
        const auto plan = scene.plan();
        REQUIRE(plan.regions.size() == 3);
        CHECK(test::unfold(scene.fold()) == scene.bytes);
        return plan.outputs[2].size();
    };
    const auto node = [](const char* type, const char* in, const char* out) {
        return test::node(type, {in}, {out});
    };
    const std::vector<test::message> nodes{node("Relu", "x", "a"), node("Tanh", "a", "b"),
                                           node("Relu", "b", "c"), node("Identity", "c", "y")};
    CHECK(back(nodes, {"y", "y"}) == 1);
    CHECK(back(nodes, {"c", "y"}) == 2); // one value under two names
    CHECK(back(nodes, {"y", "x"}) == 1); // an output that is an input
    CHECK(back(nodes, {"b", "y", "a"}) == 1);
}

TEST_CASE("unfolded_graph: folded nodes are restored, wherever bodies and modules are") {
    std::size_t in_bodies = 0;
    std::size_t shared = 0;
    std::size_t noted = 0;
    std::size_t repeated = 0;
    const std::uint64_t scenes = test::sanitized ? 500 : 2000;
    for (std::uint64_t seed = 0; seed < scenes; ++seed) {
        CAPTURE(seed);
        auto scene = random_scene(seed).make();
        const auto plan = scene.plan();
        const auto folded = scene.fold();
        REQUIRE(test::unfold(folded) == scene.bytes);
        in_bodies += plan.graphs.size() > 1 ? 1U : 0U;
        noted += plan.noted.empty() ? 0U : 1U;
        std::size_t graphs = 0;
        for (id r = 0; r < plan.regions.size(); ++r) {
            graphs += plan.is_graph(r) ? 1U : 0U;
            const auto first = plan.body_of(r);
            shared += plan.graph[r] != 0 && plan.graph[first] == 0 ? 1U : 0U;
        }
        repeated += graphs > plan.graphs.size() ? 1U : 0U;
    }
    CHECK(in_bodies > scenes / 4);
    CHECK(noted > scenes / 10);
    CHECK(shared > scenes / 40);
    CHECK(repeated > scenes / 600);
}

TEST_CASE("unfolded_graph: restores nested bodies that share functions with the main graph") {
    auto scene = test::branched_model();
    const auto plan = scene.plan();
    CHECK(plan.in_bodies == 0);
    CHECK(plan.functions.size() == 2); // Layer and Linear
    CHECK(plan.call_count() == 2 * (1 + 2 + 4));
    CHECK(plan.graphs.size() == 1 + 2 + 4);
    for (const auto& function : plan.functions) {
        CHECK(function.calls == 7);
    }
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    for (id node = 0; node < model.node_count(); ++node) {
        const bool stays = model.op_type(node) == "If" || model.callee(node) != no_id ||
                           model.graph(model.graph_of(node)).kind == stemma::graph_kind::function;
        CHECK(stays);
    }
    CHECK(test::unfold(folded) == scene.bytes);
}

TEST_CASE("unfolded_graph: restores bodies of a shared function at each call") {
    auto scene = test::deciding_layers();
    const auto plan = scene.plan();
    CHECK(plan.functions.size() == 2);
    CHECK(plan.functions[plan.function[1]].calls == 2);
    CHECK(plan.graphs.size() == 3); // the main graph, and the branches of the first call
    CHECK(plan.in_bodies == 0);
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    const auto record = stemma::detail::find_fold_record(model).value();
    CHECK(record.bodies.size() == 2);
    CHECK(record.nodes == 4);
    for (const auto& body : record.bodies) {
        CHECK(body.nodes == 3);
    }
    CHECK(test::unfold(folded) == scene.bytes);
}

TEST_CASE("unfolded_graph: equal bodies with a different module structure are not shared") {
    auto scene = test::deciding_layers();
    for (auto& attribution : scene.attributions) {
        attribution.module =
            attribution.module == 5 ? 4 : attribution.module; // the second layer has no `fc` there
    }
    const auto plan = scene.plan();
    CHECK(plan.functions[plan.function[1]].calls == 1);
    CHECK(test::unfold(scene.fold()) == scene.bytes);
    scene.options.selection =
        stemma::of_classes{{"Layer"}}; // those of the first one only say that they are of it
    CHECK(scene.plan().functions.size() == 2);
    CHECK(test::unfold(scene.fold()) == scene.bytes);
}

TEST_CASE("unfolded_graph: keeps order, ValueInfos and fields of a body") {
    const auto info = [](const char* name) { return test::value_info(name); };
    const auto body = test::message()
                          .inner(13, info("a"))
                          .inner(1, test::node("Neg", {"x"}, {"n"}))
                          .inner(1, test::node("Relu", {"x"}, {"a"}))
                          .inner(13, info("n"))
                          .text(2, "body")
                          .inner(1, test::node("Exp", {"n"}, {"e"}))
                          .inner(1, test::node("Abs", {"a"}, {"b"}))
                          .inner(13, info("b"))
                          .inner(1, test::node("Add", {"b", "e"}, {"c"}))
                          .inner(12, info("c"));
    const auto graph = test::graph(
        {test::owner_node("If", {"x"}, {"y"}, {test::graph_attribute("then_branch", body)})}, {"x"},
        {"y"});
    std::vector<stemma::attribution> where;
    for (const id m : {0U, 2U, 0U, 2U, 0U, 0U}) {
        where.push_back({m, no_id, 1, stemma::provenance::scope, false});
    }
    test::fold_scene scene{test::message().number(1, 10).inner(7, graph).bytes(), test::layers(1),
                           where};
    const auto plan = scene.plan();
    REQUIRE(plan.call_count() == 1);
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    const auto record = stemma::detail::find_fold_record(model).value();
    REQUIRE(record.bodies.size() == 1);
    CHECK(record.bodies[0].layout.size() == 3);
    CHECK(record.bodies[0].infos.size() == 1); // that of `a`; `b` is given away
    CHECK(test::unfold(folded) == scene.bytes);
}

TEST_CASE(
    "unfolded_graph: a file whose bodies were changed since, or call themselves, is refused") {
    auto scene = test::branched_model();
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    const stemma::graph_contents contents(model);
    const auto record = stemma::detail::find_fold_record(model).value();
    const auto refused = [&](auto change) {
        auto other = record;
        change(other);
        stemma::detail::fold_opener opener(model, contents, other);
        CHECK_THROWS_AS(opener.build(), stemma::error);
    };
    refused([](stemma::detail::fold_record& other) { other.bodies.pop_back(); });
    refused([](stemma::detail::fold_record& other) { ++other.bodies[1].nodes; });
    refused([](stemma::detail::fold_record& other) { other.bodies[0].order = {{0, 1}, {0, 1}}; });
    refused([](stemma::detail::fold_record& other) { other.bodies[0].layout = {{0, 99, 1}}; });

    const auto inside = test::graph({test::node("f", {"a"}, {"c"}, "", "d")}, {}, {"c"});
    const auto bytes =
        test::message()
            .number(1, 8)
            .inner(7, test::graph({test::node("f", {"x"}, {"y"}, "", "d")}, {"x"}, {"y"}))
            .inner(25, test::function(
                           "d", "f", {"a"}, {"b"},
                           {test::owner_node("If", {"a"}, {"b"},
                                             {test::graph_attribute("then_branch", inside)})}))
            .bytes();
    const stemma::wire_model endless(bytes, "endless");
    const stemma::graph_contents endless_contents(endless);
    stemma::detail::fold_record claimed;
    claimed.functions = {{"d", "f"}};
    claimed.nodes = 1;
    claimed.bodies.resize(1);
    claimed.bodies[0].nodes = 1;
    stemma::detail::fold_opener opener(endless, endless_contents, claimed);
    CHECK_THROWS_AS(opener.build(), stemma::error);
}

TEST_CASE("unfolded_graph: restores bodies as deep as a model can nest them") {
    const auto opened = [](std::size_t depth) {
        test::message message;
        message.number(1, 8).inner(
            7, test::graph({test::node("f0", {"x"}, {"y"}, "", "d")}, {"x"}, {"y"}));
        stemma::detail::fold_record record;
        for (std::size_t f = 0; f <= depth; ++f) {
            const auto call = test::node("f" + std::to_string(f + 1), {"a"}, {"c"}, "", "d");
            const auto then = test::graph_attribute("then_branch", test::graph({call}, {}, {"c"}));
            const auto name = "f" + std::to_string(f);
            message.inner(25,
                          test::function("d", name, {"a"}, {"b"},
                                         {f < depth ? test::owner_node("If", {"a"}, {"b"}, {then})
                                                    : test::node("Relu", {"a"}, {"b"})}));
            record.functions.emplace_back("d", name);
        }
        record.nodes = 1;
        record.bodies.resize(depth);
        for (auto& body : record.bodies) {
            body.nodes = 1;
        }
        const auto bytes = message.bytes();
        const stemma::wire_model model(bytes, "folded");
        const stemma::graph_contents contents(model);
        stemma::detail::fold_opener opener(model, contents, record);
        stemma::detail::string_splice splice(bytes);
        opener.build().write(splice);
        return stemma::wire_model(splice.text, "opened").graph_count();
    };
    CHECK(opened(2) == 3);
    CHECK(opened(33) == 34);
    CHECK_THROWS_AS(opened(34), stemma::error);
    CHECK_THROWS_AS(opened(900), stemma::error);
}

TEST_CASE("unfolded_graph: all functions can be inlined, also in bodies") {
    auto scene = test::deciding_layers();
    const auto folded = scene.fold();
    const stemma::wire_model model(folded, "folded");
    stemma::detail::function_inliner inliner(model);
    stemma::detail::string_splice splice(folded);
    inliner.build().write(splice);
    const stemma::wire_model opened(splice.text, "opened");
    CHECK(opened.functions().empty());
    REQUIRE(opened.node_count() == scene.model.node_count());
    std::vector<std::string> types;
    std::vector<std::string> before;
    for (id node = 0; node < opened.node_count(); ++node) {
        types.emplace_back(opened.op_type(node));
        before.emplace_back(scene.model.op_type(node));
    }
    CHECK(types == before);
    CHECK(splice.text.find("pkg.stemma") == splice.text.npos);
}

} // namespace test::fold_detail_fold_opener
