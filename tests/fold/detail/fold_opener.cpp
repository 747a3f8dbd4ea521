// SPDX-License-Identifier: Apache-2.0
#include <stemma/fold/detail/fold_opener.hpp>

#include "../../catch.hpp"
#include "../../fold_scene.hpp"
#include "../../model_files.hpp"
#include "../../random_model.hpp"

#include <stemma/open/attributed_model.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test::fold_detail_fold_opener {

namespace {

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

} // namespace test::fold_detail_fold_opener
