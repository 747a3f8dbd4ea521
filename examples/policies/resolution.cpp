// SPDX-License-Identifier: Apache-2.0
// Resolution: which claim wins when sources disagree? Here the deepest module that any source
// names, unless contradicted.
#include "small_model.hpp"

#include <stemma/tagging/resolution.hpp>

#include <algorithm>
#include <span>

struct deepest {
    using policy_category = stemma::resolution_category;

    [[nodiscard]] stemma::attribution resolve(const stemma::tree_index& modules,
                                              std::span<const stemma::claim> claims) const {
        const auto& best =
            *std::max_element(claims.begin(), claims.end(), [&](const auto& a, const auto& b) {
                return modules.depth(a.module) < modules.depth(b.module);
            });
        stemma::attribution result{best.module, best.call, best.confidence, best.source, false};
        for (const auto& other : claims) {
            result.conflict = result.conflict || !modules.are_related(other.module, best.module);
        }
        return result;
    }
};

static_assert(stemma::explain_policy<stemma::resolution_category, deepest>());

int main() {
    auto graph = make_graph();
    graph[3].parameters = {"blocks.0.fc.bias"}; // the name says blocks.0, what is read says more
    graph[6].parameters = {"stem.conv.bias"};   // the name says head
    const auto modules = make_modules();
    const auto tagged = stemma::tag_operators(view_of(graph), modules, stemma::policies{deepest{}});
    print(graph, modules, tagged);
    for (std::size_t v = 0; v < num_vertices(graph); ++v) {
        if (tagged.attributions[v].conflict) {
            std::cout << "sources disagree on " << graph[v].name << "\n";
        }
    }
}
