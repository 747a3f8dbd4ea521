// SPDX-License-Identifier: Apache-2.0
#include "archetypes.hpp"

#include "catch.hpp"
#include "operator_scene.hpp"
#include "random_numbers.hpp"

#include <stemma/align/align.hpp>
#include <stemma/align/captured_operations.hpp>
#include <stemma/core/topological_order.hpp>
#include <stemma/cut/acyclic_partition.hpp>
#include <stemma/cut/cut.hpp>
#include <stemma/cut/detail/complete_calls.hpp>
#include <stemma/cut/detail/find_reentry.hpp>
#include <stemma/cut/detail/vertex_set.hpp>
#include <stemma/cut/find_non_convex.hpp>
#include <stemma/cut/module_boundaries.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/partition_graph.hpp>
#include <stemma/cut/plan_cuts.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/sweeps.hpp>
#include <stemma/query/detail/explain_no_match.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/report/dot.hpp>
#include <stemma/report/fold_graph.hpp>
#include <stemma/report/graphml.hpp>
#include <stemma/report/module_dag.hpp>
#include <stemma/tagging/detail/number_calls.hpp>
#include <stemma/tagging/detail/overrule_shared.hpp>
#include <stemma/tagging/detail/propagate_tags.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/propagate.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/resolve_evidence.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace test::archetypes {

using stemma::attribution;
using stemma::id;
using stemma::no_id;
using test::graph_archetype;
using test::knowing_archetype;
using test::modules_archetype;
using test::named_archetype;
using test::operator_scene;
using test::operators_archetype;
using test::reading_archetype;

namespace {

/// A random model: operators with names and parameters of a module tree, bodies, conditions,
/// sometimes a cycle.
struct random_scene {
    operator_scene ops;
    stemma::module_tree tree = test::tree_of(
        {":zoo.Net", "layers:torch.nn.ModuleList", "layers.0:zoo.Layer", "layers.0.fc:zoo.Fc",
         "layers.1:zoo.Layer", "layers.1.fc:zoo.Fc", "head:torch.nn.Linear", "unknown"});

    explicit random_scene(test::random_numbers& random) {
        const std::vector<std::string> names{
            "/layers.0/fc/MatMul", "/layers.1/fc/MatMul", "/head/Gemm", "", "/layers.1/Add", "x"};
        const std::vector<std::string> types{"MatMul", "Add", "Constant", "Shape", "Relu"};
        const std::vector<std::string> parameters{"layers.0.fc.weight", "layers.1.fc.weight",
                                                  "head.bias", "other"};
        for (auto n = 1 + random(20); n > 0; --n) {
            std::vector<id> inputs;
            for (auto i = ops.size() == 0 ? 0 : random(4); i > 0; --i) {
                inputs.push_back(static_cast<id>(random(ops.size())));
            }
            const auto v =
                ops.add(inputs, names[random(names.size())], types[random(types.size())]);
            if (random.one_in(3)) {
                ops.read_parameter(v, parameters[random(parameters.size())]);
            }
            ops.at(v).hides_data = random.one_in(8);
            if (v > 0 && random.one_in(6)) {
                ops.at(v - 1).owner = v;
            }
        }
        if (random.one_in(3)) {
            ops.read(static_cast<id>(random(ops.size())), static_cast<id>(random(ops.size())),
                     random.one_in(2));
        }
    }
};

auto fields(const attribution& a) {
    return std::tuple(a.module, a.call, a.confidence, a.source, a.conflict);
}

bool same(const std::vector<attribution>& a, const std::vector<attribution>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return fields(x) == fields(y); });
}

template <class Function>
void for_each_scene(Function f) {
    test::random_numbers random(17);
    for (int round = 0; round < 100; ++round) {
        const random_scene scene(random);
        f(scene, random);
    }
}

std::vector<attribution> random_attributions(const random_scene& scene,
                                             test::random_numbers& random, bool everywhere) {
    std::vector<attribution> attributions(scene.ops.size());
    for (auto& one : attributions) {
        if (everywhere || random.one_in(2)) {
            one.module = static_cast<id>(random(scene.tree.size()));
            one.source = stemma::provenance::metadata;
            one.confidence = 0.9F;
        }
    }
    return attributions;
}

/// Reads a graph as the number of each vertex.
std::vector<std::size_t> numbers(const graph_archetype&,
                                 const std::vector<test::vertex_archetype>& list) {
    std::vector<std::size_t> indices;
    for (const auto& v : list) {
        indices.push_back(graph_archetype::number(v));
    }
    return indices;
}

const std::vector<std::size_t>& numbers(const operator_scene::graph_type&,
                                        const std::vector<std::size_t>& list) {
    return list;
}

} // namespace

TEST_CASE("archetypes: model their concept and no stronger one", "[archetypes]") {
    STATIC_REQUIRE(stemma::operator_graph_like<graph_archetype>);
    STATIC_REQUIRE(stemma::module_view<modules_archetype>);
    STATIC_REQUIRE_FALSE(stemma::counts_calls<modules_archetype>);
    STATIC_REQUIRE(stemma::operator_view<operators_archetype>);
    STATIC_REQUIRE_FALSE(stemma::named_operators<operators_archetype>);
    STATIC_REQUIRE(stemma::named_operators<named_archetype>);
    STATIC_REQUIRE_FALSE(stemma::parameter_readers<named_archetype>);
    STATIC_REQUIRE(stemma::parameter_readers<reading_archetype>);
    STATIC_REQUIRE_FALSE(stemma::nested_operators<reading_archetype>);
    STATIC_REQUIRE_FALSE(stemma::data_aware_operators<reading_archetype>);
    STATIC_REQUIRE(stemma::body_operators<knowing_archetype>);
    STATIC_REQUIRE(stemma::data_aware_operators<knowing_archetype>);
    STATIC_REQUIRE(stemma::steered_operators<knowing_archetype>);
    STATIC_REQUIRE(stemma::described_operators<knowing_archetype>);
    STATIC_REQUIRE(stemma::calling_operators<knowing_archetype>);
}

TEST_CASE("archetypes: orders match the original graph's", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers&) {
        const graph_archetype graph(scene.ops.graph());
        REQUIRE(numbers(graph, stemma::topological_order(graph)) ==
                stemma::topological_order(scene.ops.graph()));
        REQUIRE(numbers(graph, stemma::detail::reverse_topological_order(graph)) ==
                stemma::detail::reverse_topological_order(scene.ops.graph()));
        REQUIRE(stemma::is_topologically_indexed(graph) ==
                stemma::is_topologically_indexed(scene.ops.graph()));
    });
}

TEST_CASE("archetypes: modules are selected, named and found identically", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers&) {
        const modules_archetype modules(scene.tree);
        REQUIRE(stemma::detail::select_modules(modules) ==
                stemma::detail::select_modules(scene.tree));
        const auto check = [&](const auto& selection, const auto& naming) {
            const auto tags = stemma::name_modules(modules, selection, naming);
            const auto expected = stemma::name_modules(scene.tree, selection, naming);
            for (id m = 0; m < scene.tree.size(); ++m) {
                REQUIRE(tags.text(m) == expected.text(m));
            }
        };
        check(stemma::not_infrastructure{}, stemma::class_paths{});
        check(stemma::all_modules{}, stemma::module_paths{});
        check(stemma::in_packages{{"zoo"}}, stemma::class_paths{});
        check(stemma::of_classes{{"L*"}}, stemma::class_paths{});
        check(stemma::down_to_depth{1}, stemma::class_paths{});
        const stemma::module_lookup lookup(modules);
        for (id m = 0; m < scene.tree.size(); ++m) {
            REQUIRE(stemma::path_of(modules, m) == scene.tree.path(m));
            REQUIRE(stemma::find_module(lookup, scene.tree.path(m)) == m);
        }
    });
}

TEST_CASE("archetypes: every policy propagates identically", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers& random) {
        const operators_archetype bare(scene.ops);
        const knowing_archetype knowing(scene.ops);
        const auto given = random_attributions(scene, random, false);
        const auto check = [&](const auto& policy) {
            auto expected = given;
            auto propagated = given;
            stemma::propagate(scene.ops, scene.tree.index(), expected, policy);
            stemma::propagate(knowing, scene.tree.index(), propagated, policy);
            REQUIRE(same(propagated, expected));
            propagated = given;
            stemma::propagate(bare, scene.tree.index(), propagated, policy);
            for (const auto& one : propagated) {
                REQUIRE(one.module < scene.tree.size());
            }
        };
        check(stemma::both_sides{});
        check(stemma::consumers_only{});
        check(stemma::producers_only{});
        check(stemma::nearest_evidence{});
        check(stemma::residual_aware{});
        check(stemma::no_propagation{});
    });
}

TEST_CASE("archetypes: tags, shared constants and call numbers are identical", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers& random) {
        const knowing_archetype knowing(scene.ops);
        const operators_archetype bare(scene.ops);
        const auto given = random_attributions(scene, random, false);
        std::vector<stemma::detail::id_set> sets;
        for (const auto& one : given) {
            sets.push_back(one.module);
        }
        const auto spread = [&](const auto& ops) {
            auto tags = sets;
            stemma::detail::id_set_pool pool;
            stemma::detail::propagate_tags(ops, scene.tree.index(),
                                           stemma::detail::select_modules(scene.tree), tags, pool);
            std::vector<std::vector<id>> elements(tags.size());
            for (std::size_t v = 0; v < tags.size(); ++v) {
                pool.for_each(tags[v], [&](id m) { elements[v].push_back(m); });
            }
            return elements;
        };
        const auto expected = spread(scene.ops);
        REQUIRE(spread(knowing) == expected);
        REQUIRE(spread(bare) == expected);
        const auto correct = [&](const auto& ops) {
            auto changed = given;
            stemma::detail::overrule_shared(ops, scene.tree.index(),
                                            std::span<attribution>(changed));
            stemma::detail::number_calls(ops, scene.tree.index(), std::span<attribution>(changed));
            return changed;
        };
        REQUIRE(same(correct(knowing), correct(scene.ops)));
        auto untouched = given;
        REQUIRE(stemma::detail::overrule_shared(bare, scene.tree.index(),
                                                std::span<attribution>(untouched))
                    .empty());
        const reading_archetype reading(scene.ops);
        stemma::detail::number_calls(reading, scene.tree.index(),
                                     std::span<attribution>(untouched));
    });
}

TEST_CASE("archetypes: boundaries, convexity and partitions are the same", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers& random) {
        const auto given = random_attributions(scene, random, true);
        std::vector<id> module;
        stemma::detail::vertex_set set(scene.ops.size());
        for (std::size_t v = 0; v < given.size(); ++v) {
            module.push_back(given[v].module);
            set.inside[v] = random.one_in(2);
            set.apart[v] = random.one_in(6);
        }
        const auto answers = [&](const auto& graph) {
            using graph_type = std::decay_t<decltype(graph)>;
            const auto order = stemma::topological_order(graph);
            std::vector<id> rank(scene.ops.size(), no_id);
            std::vector<stemma::vertex_t<graph_type>> members;
            for (std::size_t at = 0; at < order.size(); ++at) {
                const auto v = stemma::detail::index_of(graph, order[at]);
                rank[v] = static_cast<id>(at);
                if (set.is_inside(v)) {
                    members.push_back(order[at]);
                }
            }
            std::vector<std::size_t> digest;
            const auto add = [&](const auto& list) {
                digest.push_back(list.size());
                digest.insert(digest.end(), list.begin(), list.end());
            };
            const auto border = stemma::detail::find_boundary(
                graph, set, std::span<const stemma::vertex_t<graph_type>>(members));
            for (const auto* edges : {&border.inputs, &border.outputs}) {
                for (const auto& e : *edges) {
                    digest.push_back(stemma::detail::index_of(graph, source(e, graph)));
                    digest.push_back(stemma::detail::index_of(graph, target(e, graph)));
                }
            }
            const stemma::detail::order_stretch<graph_type> stretch(graph, order, rank, members);
            add(numbers(graph, stemma::detail::find_reentry(graph, set, stretch)));
            add(stemma::detail::convex_runs(graph, set, stretch));
            add(numbers(graph, stemma::detail::find_gaps(graph, set, stretch)));
            std::vector<stemma::detail::call_member<stemma::vertex_t<graph_type>>> called;
            for (const auto& v : members) {
                called.push_back(
                    {v, stemma::detail::index_of(graph, v) % 3 == 0
                            ? stemma::no_id
                            : static_cast<id>(stemma::detail::index_of(graph, v) % 2)});
            }
            stemma::detail::complete_calls(graph, std::span<const id>(rank), called);
            for (const auto& m : called) {
                digest.push_back(m.call);
            }
            const auto between =
                stemma::find_module_boundaries(graph, scene.tree.index(), module, set.apart,
                                               [](const auto&) { return std::vector<id>{}; });
            add(between.inputs.range(0, between.inputs.size()));
            add(between.outputs.range(0, between.outputs.size()));
            for (const auto& one :
                 stemma::find_non_convex_modules(graph, scene.tree.index(), given, set.apart)) {
                digest.push_back(one.module);
                add(one.witness);
            }
            stemma::detail::module_dags dags(graph, scene.tree.index(),
                                             [&](id v, auto take) { take(module[v]); });
            for (id m = 0; m < scene.tree.size(); ++m) {
                add(dags.of(m).operators);
                for (const auto& [from, to] : dags.of(m).edges) {
                    digest.push_back(from);
                    digest.push_back(to);
                }
            }
            auto pieces = stemma::detail::make_acyclic(graph, module, scene.tree.size(), order);
            add(pieces.piece_of);
            stemma::join_levels(graph, pieces);
            add(pieces.piece_of);
            for (auto rule : {stemma::gap_rule::absorb, stemma::gap_rule::runs}) {
                const auto cuts = stemma::plan_cuts(
                    graph, members, stemma::standard_cut{stemma::dependence::weight, rule},
                    [&](const stemma::vertex_t<graph_type>& v) {
                        return set.apart[stemma::detail::index_of(graph, v)]
                                   ? stemma::dependence::constant
                                   : stemma::dependence::data;
                    });
                for (const auto& cut : cuts) {
                    add(numbers(graph, cut.vertices));
                    add(numbers(graph, cut.copies));
                    digest.push_back(cut.inputs.size());
                    digest.push_back(cut.outputs.size());
                }
            }
            const std::vector<std::uint64_t> costs(order.size(), 3);
            const stemma::partition_problem<graph_type> problem{graph, order, costs};
            add(stemma::partition_graph(problem, stemma::balanced_parts{}).piece_of);
            add(stemma::partition_graph(problem, stemma::parts_by_level{2}, true).piece_of);
            return digest;
        };
        const graph_archetype graph(scene.ops.graph());
        REQUIRE(answers(graph) == answers(scene.ops.graph()));
    });
}

TEST_CASE("archetypes: queries match the same", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers& random) {
        const modules_archetype modules(scene.tree);
        const named_archetype ops(scene.ops);
        const auto tags = stemma::name_modules(scene.tree);
        const auto given = random_attributions(scene, random, true);
        for (const auto* text : {"layers.*", "class:Layer and op:MatMul", "not op:Add", "head"}) {
            const auto asked = stemma::parse_query(text);
            if (!asked.asks_for_operators()) {
                REQUIRE(stemma::find_matching_modules(asked, modules, tags) ==
                        stemma::find_matching_modules(asked, scene.tree, tags));
            }
            REQUIRE(stemma::find_matching_operators(asked, modules, tags, ops, given) ==
                    stemma::find_matching_operators(asked, scene.tree, tags, scene.ops, given));
            REQUIRE(stemma::detail::explain_no_match(asked, modules, tags, ops, given) ==
                    stemma::detail::explain_no_match(asked, scene.tree, tags, scene.ops, given));
        }
    });
}

TEST_CASE("archetypes: a tree is rebuilt, and captured operations are aligned, identically",
          "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers&) {
        const knowing_archetype ops(scene.ops);
        const auto rebuilt = stemma::rebuild_tree(ops);
        const auto expected = stemma::rebuild_tree(scene.ops);
        REQUIRE(rebuilt.modules.size() == expected.modules.size());
        for (id m = 0; m < expected.modules.size(); ++m) {
            REQUIRE(rebuilt.modules.path(m) == expected.modules.path(m));
        }
        stemma::captured_operations captured;
        captured.add({3, no_id, true, false}, "matmul");
        captured.add_parameter("layers.0.fc.weight", {});
        captured.add({4, no_id, true, false}, "add");
        const reading_archetype reading(scene.ops);
        REQUIRE(stemma::rebuild_tree(reading).modules.size() == expected.modules.size());
        REQUIRE(stemma::align(reading, scene.tree.index(), captured).of.size() == scene.ops.size());
        const auto aligned = stemma::align(ops, scene.tree.index(), captured);
        const auto wanted = stemma::align(scene.ops, scene.tree.index(), captured);
        REQUIRE(aligned.of.size() == wanted.of.size());
        for (std::size_t v = 0; v < wanted.of.size(); ++v) {
            REQUIRE(aligned.of[v].module == wanted.of[v].module);
            REQUIRE(aligned.of[v].operation == wanted.of[v].operation);
        }
    });
}

TEST_CASE("archetypes: the whole tagger gives the same result", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers&) {
        const modules_archetype modules(scene.tree);
        const knowing_archetype ops(scene.ops);
        const auto tagged = stemma::tag_operators(ops, modules);
        const auto expected = stemma::tag_operators(scene.ops, scene.tree);
        REQUIRE(same(tagged.attributions, expected.attributions));
        for (std::size_t v = 0; v < scene.ops.size(); ++v) {
            std::vector<id> sets[2];
            tagged.pool.for_each(tagged.tag_sets[v], [&](id m) { sets[0].push_back(m); });
            expected.pool.for_each(expected.tag_sets[v], [&](id m) { sets[1].push_back(m); });
            REQUIRE(sets[0] == sets[1]);
        }
        const operators_archetype bare(scene.ops);
        REQUIRE(stemma::tag_operators(bare, modules, stemma::policies{stemma::evidence_sources<>{}})
                    .attributions.size() == scene.ops.size());
    });
}

TEST_CASE("archetypes: views of a graph are identical", "[archetypes]") {
    for_each_scene([](const random_scene& scene, test::random_numbers& random) {
        const modules_archetype modules(scene.tree);
        const named_archetype ops(scene.ops);
        const auto tagged = stemma::tag_operators(scene.ops, scene.tree);
        const auto name_of = [](id v) { return std::to_string(v); };
        stemma::string_sink texts[6];
        stemma::write_module_dags(texts[0], ops, modules.index(), tagged, name_of);
        stemma::write_module_dags(texts[1], scene.ops, scene.tree.index(), tagged, name_of);
        stemma::write_graphml(texts[2], ops, modules, tagged);
        stemma::write_graphml(texts[3], scene.ops, scene.tree, tagged);
        const stemma::collapse_options fold{0, static_cast<id>(random(3)), 2 + random(20)};
        stemma::write_dot(texts[4], ops, modules, tagged, fold);
        stemma::write_dot(texts[5], scene.ops, scene.tree, tagged, fold);
        REQUIRE(texts[0].text == texts[1].text);
        REQUIRE(texts[2].text == texts[3].text);
        REQUIRE(texts[4].text == texts[5].text);
        REQUIRE(texts[4].text.find("cluster_0") != std::string::npos);
        std::vector<id> module;
        for (const auto& attribution : tagged.attributions) {
            module.push_back(attribution.module);
        }
        const std::vector<bool> shown(module.size(), true);
        REQUIRE(
            stemma::fold_graph(ops.graph(), modules.index(), module, shown, fold).box_of ==
            stemma::fold_graph(scene.ops.graph(), scene.tree.index(), module, shown, fold).box_of);
    });
}

} // namespace test::archetypes
