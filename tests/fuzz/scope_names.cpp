// SPDX-License-Identifier: Apache-2.0
// Names of operators and parameters: a line is a name, a type and parameters with tabs between
// them. Operators form a chain; their modules come from themselves, or, where the text is of odd
// length, from every other name as a path.
#include "fuzz.hpp"

#include <stemma/core/policies.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/evidence/leftovers.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/mapped_operators.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>
#include <stemma/tagging/tagger.hpp>

#include <boost/graph/adjacency_list.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

struct operation {
    std::string name;
    std::string type;
    std::vector<std::string> parameters;
};

using graph_type =
    boost::adjacency_list<boost::vecS, boost::vecS, boost::bidirectionalS, operation>;

graph_type read(std::string_view text) {
    graph_type graph;
    for (auto line : fuzz::split(text, '\n')) {
        const auto parts = fuzz::split(line, '\t');
        operation parsed;
        parsed.name = parts[0];
        parsed.type = parts.size() > 1 ? parts[1] : "";
        for (std::size_t i = 2; i < parts.size(); ++i) {
            parsed.parameters.emplace_back(parts[i]);
        }
        const auto v = add_vertex(parsed, graph);
        if (v > 0) {
            add_edge(v - 1, v, graph);
        }
    }
    return graph;
}

/// Returns: a tree that some of the names say, with dots in place of slashes.
stemma::module_tree tree_of(const graph_type& graph) {
    stemma::module_tree_builder builder;
    for (std::size_t v = 0; v < num_vertices(graph); v += 2) {
        auto path = graph[v].name;
        std::replace(path.begin(), path.end(), '/', '.');
        builder.at_path(path.substr(0, path.rfind('.')));
    }
    return builder.build();
}

template <class Ops>
void tag(const Ops& ops, const stemma::module_tree& modules, stemma::rebuilt_tree* rebuilt) {
    stemma::evidence_context<Ops, stemma::module_tree> context(
        ops, modules,
        rebuilt != nullptr ? std::move(rebuilt->facts) : stemma::detail::evidence_facts());
    const stemma::evidence_sources<stemma::scope_names, stemma::parameter_names,
                                   stemma::parameter_regions, stemma::leftovers>
        sources;
    const auto tagged = stemma::tag_operators(context, stemma::policies{sources});
    for (const auto& attribution : tagged.attributions) {
        fuzz::demand(attribution.module < modules.size(), "an operator is of no module");
    }
    std::set<std::string> tags;
    for (stemma::id m = 0; m < modules.size(); ++m) {
        if (tagged.tags.selected(m) == m) {
            fuzz::demand(tags.insert(tagged.tags.text(m)).second, "two modules have the same tag");
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto graph = read({reinterpret_cast<const char*>(data), size});
    const stemma::mapped_operators ops(graph, get(&operation::name, graph),
                                       get(&operation::type, graph),
                                       get(&operation::parameters, graph));
    if (size % 2 == 1) {
        tag(ops, tree_of(graph), nullptr);
        return 0;
    }
    auto rebuilt = stemma::rebuild_tree(ops);
    const auto modules = rebuilt.modules;
    tag(ops, modules, &rebuilt);
    return 0;
}
