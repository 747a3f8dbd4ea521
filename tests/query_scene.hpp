// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_QUERY_SCENE_HPP
#define STEMMA_TESTS_QUERY_SCENE_HPP

#include <stemma/core/id.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/model/operator_graph.hpp>
#include <stemma/model/tag_table.hpp>
#include <stemma/query/find_matches.hpp>
#include <stemma/query/parse_query.hpp>
#include <stemma/tagging/name_modules.hpp>
#include <stemma/tagging/naming.hpp>
#include <stemma/tagging/selection.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// A tree of two blocks with two layers each and a head, with some operators.
class query_scene {
public:
    struct node {
        std::string name;
        std::string op_type;
        std::string module;
        stemma::provenance source = stemma::provenance::scope;
        float confidence = 1;
        bool conflict = false;
        std::vector<stemma::id> reads{};
        std::string domain{};
    };

    using graph_type = stemma::operator_graph;

    query_scene() : graph_(nodes.size(), chain(nodes.size())) {
        stemma::module_tree_builder builder;
        builder.set_class(0, "Net", "zoo.Net");
        for (const auto* block : {"blocks.0", "blocks.1"}) {
            const std::string path(block);
            builder.set_class(builder.at_path("blocks"), "ModuleList", "torch.nn.ModuleList");
            builder.set_class(builder.at_path(path), "Block", "zoo.Block");
            builder.set_class(builder.at_path(path + ".fc"), "Linear", "torch.nn.Linear");
            builder.set_class(builder.at_path(path + ".mix"), "Mixer", "zoo.Mixer");
            builder.set_class(builder.at_path(path + ".mix.fc"), "Linear", "torch.nn.Linear");
        }
        builder.set_class(builder.at_path("head"), "Linear", "torch.nn.Linear");
        builder.add_alias("tied", builder.at_path("head"));
        modules = builder.build();
        tags = stemma::name_modules(modules, stemma::not_infrastructure{});
        for (const auto& one : nodes) {
            stemma::attribution attribution;
            for (attribution.module = 0; modules.path(attribution.module) != one.module;
                 ++attribution.module) {
            }
            attribution.source = one.source;
            attribution.confidence = one.confidence;
            attribution.conflict = one.conflict;
            attributions.push_back(attribution);
        }
    }

    // The members of an operator view.
    [[nodiscard]] const graph_type& graph() const { return graph_; }
    [[nodiscard]] std::string_view name(stemma::id v) const { return nodes[v].name; }
    [[nodiscard]] std::string_view op_type(stemma::id v) const { return nodes[v].op_type; }
    [[nodiscard]] std::string_view domain(stemma::id v) const { return nodes[v].domain; }
    [[nodiscard]] std::size_t parameter_count() const { return parameters.size(); }
    [[nodiscard]] std::string_view parameter_name(stemma::id p) const { return parameters[p]; }
    template <class Function>
    void for_each_parameter(stemma::id v, Function f) const {
        for (auto p : nodes[v].reads) {
            f(p);
        }
    }

    std::vector<std::string> parameters{"blocks.0.fc.weight", "blocks.1.fc.weight", "head.bias"};
    std::vector<node> nodes{
        {"in", "Cast", "", stemma::provenance::root, 0},
        {"fc0", "MatMul", "blocks.0.fc", stemma::provenance::scope, 1, false, {0}},
        {"mix0", "MatMul", "blocks.0.mix.fc"},
        {"add0", "Add", "blocks.0", stemma::provenance::consumer, 0.7F},
        {"fc1", "MatMul", "blocks.1.fc", stemma::provenance::scope, 1, true, {1}},
        {"mix1", "MatMul", "blocks.1.mix.fc"},
        {"add1", "Add", "blocks.1", stemma::provenance::between, 0.5F},
        {"head", "Gemm", "head", stemma::provenance::parameter, 0.9F, false, {1, 2}, "com.zoo"}};
    stemma::module_tree modules;
    stemma::tag_table tags;
    std::vector<stemma::attribution> attributions;

    [[nodiscard]] std::set<std::string> operators_for(const std::string& text) const {
        std::set<std::string> names;
        for (auto v : stemma::find_matching_operators(stemma::parse_query(text), modules, tags,
                                                      *this, attributions)) {
            names.insert(nodes[v].name);
        }
        return names;
    }

    [[nodiscard]] std::vector<std::string> modules_for(const std::string& text) const {
        std::vector<std::string> paths;
        for (auto m : stemma::find_matching_modules(stemma::parse_query(text), modules, tags, *this,
                                                    attributions)) {
            paths.push_back(modules.path(m));
        }
        return paths;
    }

private:
    /// Each reads the result of the previous one.
    static std::vector<stemma::operator_edge> chain(std::size_t count) {
        std::vector<stemma::operator_edge> edges;
        for (stemma::id v = 1; v < count; ++v) {
            edges.push_back({v - 1, v, v - 1, 0, 0});
        }
        return edges;
    }

    graph_type graph_;
};

} // namespace test

#endif // STEMMA_TESTS_QUERY_SCENE_HPP
