// SPDX-License-Identifier: Apache-2.0
#include <stemma/tagging/tag_operators.hpp>

#include "../catch.hpp"
#include "../operator_scene.hpp"
#include "../random_numbers.hpp"

#include <stemma/core/id.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/mapped_modules.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/propagation.hpp>
#include <stemma/tagging/resolution.hpp>
#include <stemma/tagging/selection.hpp>
#include <stemma/tagging/tagger.hpp>

#include <boost/graph/adjacency_list.hpp>
#include <boost/property_map/function_property_map.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace test::tagging_tag_operators {

using stemma::id;
using stemma::provenance;
using stemma::tag_operators;

namespace {

using texts = std::vector<std::string>;

/// Returns: the tags of an operator, primary first.
template <class Tagging>
texts tags_of(const Tagging& tagged, std::size_t v) {
    texts tags{tagged.tags.text(tagged.attributions[v].module)};
    tagged.pool.for_each(tagged.tag_sets[v], [&](id m) { tags.push_back(tagged.tags.text(m)); });
    return tags;
}

/// Two layers of two parts each, with operators named as by an exporter.
struct scene {
    test::operator_scene ops;
    stemma::module_tree tree = test::tree_of({":zoo.Net", "layers:torch.nn.ModuleList",
                                              "layers.0:zoo.Layer", "layers.0.fc:torch.nn.Linear",
                                              "layers.1:zoo.Layer", "layers.1.fc:torch.nn.Linear"});

    id add(const std::string& name, const std::vector<id>& inputs = {}) {
        return ops.add(inputs, name, name.substr(name.rfind('/') + 1));
    }
};

// A graph and a tree of a program unrelated to ONNX.
struct host_operator {
    std::string label;
    std::string kind;
    texts weights{};
};
struct host_module {
    std::string field;
    std::string type;
};

/// Adds a vertex; a graph that does not number its vertices is given the number.
template <class Graph, class Content>
auto add_to(Graph& graph, Content content) {
    const auto number = num_vertices(graph);
    const auto v = add_vertex(graph);
    graph[v] = std::move(content);
    if constexpr (std::is_same_v<typename Graph::vertex_list_selector, boost::listS>) {
        put(boost::vertex_index, graph, v, number);
    }
    return v;
}

/// Tags a graph of a host program; `VertexList` is what it keeps its vertices in.
template <class VertexList>
texts tag_host_graph() {
    using graph_type =
        boost::adjacency_list<boost::vecS, VertexList, boost::bidirectionalS,
                              boost::property<boost::vertex_index_t, std::size_t, host_operator>>;
    using tree_type =
        boost::adjacency_list<boost::vecS, VertexList, boost::directedS,
                              boost::property<boost::vertex_index_t, std::size_t, host_module>>;
    graph_type graph;
    const auto first =
        add_to(graph, host_operator{"/block/fc/MatMul", "MatMul", {"block.fc.weight"}});
    const auto middle = add_to(graph, host_operator{"unnamed", "Add", {}});
    const auto last = add_to(graph, host_operator{"tail", "Gemm", {"head.weight"}});
    add_edge(first, middle, graph);
    add_edge(middle, last, graph);
    tree_type tree;
    const auto root = add_to(tree, host_module{"", "HostNet"});
    const auto block = add_to(tree, host_module{"block", "Block"});
    const auto fc = add_to(tree, host_module{"fc", "Dense"});
    const auto head = add_to(tree, host_module{"head", "Dense"});
    add_edge(root, block, tree);
    add_edge(block, fc, tree);
    add_edge(root, head, tree);

    const auto text = [](const auto& of, auto member) {
        using vertex = typename boost::graph_traits<std::decay_t<decltype(of)>>::vertex_descriptor;
        return boost::make_function_property_map<vertex>(
            [&of, member](const vertex& v) -> std::string_view { return of[v].*member; });
    };
    using graph_vertex = typename boost::graph_traits<graph_type>::vertex_descriptor;
    const stemma::mapped_operators ops(
        graph, text(graph, &host_operator::label), text(graph, &host_operator::kind),
        boost::make_function_property_map<graph_vertex>(
            [&](const graph_vertex& v) { return graph[v].weights; }));
    const stemma::mapped_modules modules(tree, root, text(tree, &host_module::field),
                                         text(tree, &host_module::type),
                                         text(tree, &host_module::type));
    const auto tagged = tag_operators(ops, modules);
    texts tags;
    for (std::size_t v = 0; v < num_vertices(graph); ++v) {
        tags.push_back(tagged.tags.text(tagged.attributions[v].module));
    }
    return tags;
}

} // namespace

TEST_CASE("tag_operators: evidence, propagation and names in one") {
    scene s;
    const auto a = s.add("/layers.0/fc/MatMul");
    const auto open = s.add("open", {a});
    s.add("/layers.1/fc/MatMul", {open});
    const auto tagged = tag_operators(s.ops, s.tree);
    CHECK(s.tree.path(tagged.attributions[a].module) == "layers.0.fc");
    CHECK(tagged.attributions[a].source == provenance::scope);
    CHECK(tags_of(tagged, a) == texts{"/Net/Layer.0", "/Net/Layer.0"});
    CHECK(tagged.attributions[open].source == provenance::between);
    CHECK(s.tree.path(tagged.attributions[open].module) == "layers");
    CHECK(tagged.selected(open) == 0);
    // Whom it serves and where it belongs are different questions.
    CHECK(tags_of(tagged, open) == texts{"/Net", "/Net/Layer.1"});
}

TEST_CASE("tag_operators: a result read by several modules has the tags of all, in tree order") {
    scene s;
    const auto x = s.add("x");
    s.add("/layers.1/fc/MatMul", {x});
    s.add("/layers.0/fc/MatMul", {x});
    const auto tagged = tag_operators(s.ops, s.tree);
    CHECK(tags_of(tagged, x) == texts{"/Net", "/Net/Layer.0", "/Net/Layer.1"});
}

TEST_CASE("tag_operators: a tied parameter gives the tags of all its owners") {
    stemma::module_tree_builder builder;
    builder.set_class(builder.at_path("embed"), "Embed", "zoo.Embed");
    builder.set_class(builder.at_path("head"), "Head", "zoo.Head");
    builder.add_shared_parameters({"embed.weight", "head.weight"});
    const auto tree = builder.build();
    test::operator_scene ops;
    const auto v = ops.add();
    ops.read_parameter(v, "embed.weight");
    const auto tagged = tag_operators(ops, tree);
    const auto tags = tags_of(tagged, v);
    CHECK(texts(tags.begin() + 1, tags.end()) == texts{"/model/Embed", "/model/Head"});
}

TEST_CASE("tag_operators: shared constants are reported, with their claims") {
    scene s;
    const auto constant = s.ops.add_constant("/layers.0/fc/Constant");
    s.add("/layers.0/fc/MatMul", {constant});
    s.add("/layers.1/fc/MatMul", {constant});
    const auto tagged = tag_operators(s.ops, s.tree);
    CHECK(s.tree.path(tagged.attributions[constant].module) == "layers");
    CHECK(tagged.attributions[constant].conflict);
    REQUIRE(tagged.conflicts.of(constant).size() == 2);
    CHECK(s.tree.path(tagged.conflicts.of(constant)[0].module) == "layers.0.fc");
}

TEST_CASE("tag_operators: every policy can be replaced, in any order") {
    scene s;
    const auto a = s.add("/layers.0/fc/MatMul");
    const auto open = s.add("open", {a});
    const auto tagged = tag_operators(
        s.ops, s.tree,
        stemma::policies{stemma::producers_only{}, stemma::module_paths{}, stemma::all_modules{}});
    CHECK(tags_of(tagged, a).front() == "/model/layers/0/fc");
    CHECK(tagged.attributions[open].source == provenance::producer);
    const auto off = tag_operators(s.ops, s.tree, stemma::policies{stemma::no_propagation{}});
    CHECK(off.attributions[open].source == provenance::root);
    CHECK(tags_of(off, open) == texts{"/Net", "/Net"});
    stemma::by_trust strict;
    strict.min_confidence = 1;
    const auto none = tag_operators(s.ops, s.tree, stemma::policies{strict});
    CHECK(none.attributions[a].module == 0);
    CHECK(none.dropped == 1);
}

TEST_CASE("tag_operators: without propagation a result serves nobody") {
    scene s;
    const auto x = s.add("x");
    s.add("/layers.0/fc/MatMul", {x});
    const auto off = tag_operators(s.ops, s.tree, stemma::policies{stemma::no_propagation{}});
    CHECK(tags_of(off, x) == texts{"/Net", "/Net"});
}

TEST_CASE("tag_operators: every operator has a module and a tag, whatever the graph") {
    test::random_numbers random(41);
    const texts names{"/layers.0/fc/MatMul", "/layers.1/MatMul", "/gone/MatMul", "", "x"};
    for (int round = 0; round < 200; ++round) {
        scene s;
        for (auto n = random(25); n > 0; --n) {
            std::vector<id> inputs;
            for (auto i = s.ops.size() == 0 ? 0 : random(4); i > 0; --i) {
                inputs.push_back(static_cast<id>(random(s.ops.size())));
            }
            s.ops.add(inputs, names[random(names.size())], "MatMul");
        }
        for (auto i = s.ops.size() == 0 ? 0 : random(3); i > 0; --i) {
            s.ops.read(static_cast<id>(random(s.ops.size())),
                       static_cast<id>(random(s.ops.size())));
        }
        const auto tagged = tag_operators(s.ops, s.tree);
        REQUIRE(tagged.attributions.size() == s.ops.size());
        REQUIRE(tagged.tag_sets.size() == s.ops.size());
        for (std::size_t v = 0; v < s.ops.size(); ++v) {
            REQUIRE(tagged.attributions[v].module < s.tree.size());
            const auto tags = tags_of(tagged, v);
            REQUIRE(tags.size() >= 2);
            for (const auto& tag : tags) {
                REQUIRE(tag.starts_with("/Net"));
            }
            if (stemma::is_evidence(tagged.attributions[v].source)) {
                REQUIRE(tags == texts{tags[0], tags[0]});
            }
        }
    }
}

TEST_CASE("tag_operators: runs on graphs unrelated to ONNX") {
    const texts expected{"/HostNet/Block/Dense", "/HostNet", "/HostNet/Dense"};
    CHECK(tag_host_graph<boost::vecS>() == expected);
    CHECK(tag_host_graph<boost::listS>() == expected);
}

} // namespace test::tagging_tag_operators
