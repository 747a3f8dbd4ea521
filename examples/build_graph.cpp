// SPDX-License-Identifier: Apache-2.0
// Without ONNX: tags the steps of a build with their packages. Steps and packages are the program's
// own graphs, which stemma reads through property maps.
#include <stemma/evidence/evidence.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/mapped_modules.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/model/module_lookup.hpp>
#include <stemma/tagging/tag_operators.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct package {
    std::string folder; ///< its name in the folder around it
    std::string team;
    std::string kind; ///< `lib` or `app`; `` for a folder that only holds others
};

struct step {
    std::string label; ///< `//net/http:client.o`; `` where the build invented the step
    std::string tool;
};

using package_tree = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, package>;
using build_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, step>;

package_tree make_packages() {
    package_tree tree;
    const auto root = add_vertex(package{"", "Repository", ""}, tree);
    const auto app = add_vertex(package{"app", "Shop", "app"}, tree);
    const auto net = add_vertex(package{"net", "Network", ""}, tree);
    const auto http = add_vertex(package{"http", "Http", "lib"}, tree);
    const auto tls = add_vertex(package{"tls", "Tls", "lib"}, tree);
    add_edge(root, app, tree);
    add_edge(root, net, tree);
    add_edge(net, http, tree);
    add_edge(net, tls, tree);
    return tree;
}

build_graph make_steps() {
    const std::vector<step> steps{{"//net/tls:cipher.o", "compile"},
                                  {"//net/tls:keys.o", "compile"},
                                  {"", "archive"},
                                  {"//net/http:client.o", "compile"},
                                  {"", "archive"},
                                  {"//app:main.o", "compile"},
                                  {"", "link"}};
    build_graph graph;
    for (const auto& one : steps) {
        add_vertex(one, graph);
    }
    for (const auto& [from, to] : {std::pair{0, 2}, {1, 2}, {2, 4}, {3, 4}, {4, 6}, {5, 6}}) {
        add_edge(static_cast<std::size_t>(from), static_cast<std::size_t>(to), graph);
    }
    return graph;
}

/// Evidence: a label names the package of a step.
struct by_label {
    using policy_category = stemma::evidence_category;

    template <class Ops>
    struct claims {
        const Ops* ops;
        std::map<std::string, stemma::id, std::less<>> packages;

        template <class Function>
        void for_each_claim(stemma::operator_t<Ops> v, Function f) const {
            const std::string_view label = ops->name(v);
            const auto folder = label.substr(0, label.find(':'));
            if (const auto entry = packages.find(folder); entry != packages.end()) {
                f(stemma::claim{entry->second, stemma::no_id, 1.0F, stemma::provenance::scope});
            }
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] claims<Ops> prepare(stemma::evidence_context<Ops, Modules>& context) const {
        claims<Ops> prepared{&context.ops(), {}};
        for (stemma::id m = 1; m < context.index().size(); ++m) {
            auto folder = "//" + stemma::path_of(context.modules(), m);
            for (auto& c : folder) {
                c = c == '.' ? '/' : c;
            }
            prepared.packages[folder] = m;
        }
        return prepared;
    }
};

} // namespace

int main() {
    const auto tree = make_packages();
    const auto graph = make_steps();
    const stemma::mapped_modules packages(tree, 0, get(&package::folder, tree),
                                          get(&package::team, tree), get(&package::kind, tree));
    const stemma::mapped_operators steps(graph, get(&step::label, graph), get(&step::tool, graph));

    const auto tagged =
        stemma::tag_operators(steps, packages, stemma::policies{by_label{}, stemma::all_modules{}});
    for (std::size_t v = 0; v < num_vertices(graph); ++v) {
        const auto& attribution = tagged.attributions[v];
        std::cout << graph[v].tool << " " << graph[v].label << "\n  "
                  << tagged.tags.text(attribution.module) << " (" << to_string(attribution.source)
                  << ")\n";
    }
}
