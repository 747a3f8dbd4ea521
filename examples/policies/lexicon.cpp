// SPDX-License-Identifier: Apache-2.0
// Lexicon: which operators does an exporter make of a captured one? Here for another front end with
// its own operation names.
#include "small_model.hpp"

#include <stemma/align/align.hpp>
#include <stemma/align/lexicon.hpp>

#include <string_view>

struct house_lexicon {
    using policy_category = stemma::lexicon_category;

    [[nodiscard]] stemma::correspondence correspond(std::string_view captured,
                                                    std::string_view type) const {
        const bool stands_for_it = (captured == "house.dense" && type == "MatMul") ||
                                   (captured == "house.image" && type == "Conv") ||
                                   (captured == "house.bend" && (type == "Relu" || type == "Gelu"));
        return stands_for_it ? stemma::correspondence::head : stemma::correspondence::none;
    }
    [[nodiscard]] stemma::trail trail_of(std::string_view) const { return stemma::trail::always; }
};

static_assert(stemma::explain_policy<stemma::lexicon_category, house_lexicon>());

int main() {
    auto graph = make_graph();
    const auto modules = make_modules();
    stemma::captured_operations captured;
    // What ran, in order, with the module that ran it: ranks in the tree, as make_modules() has it.
    struct run {
        const char* path;
        const char* name;
    };
    for (const auto& [path, name] :
         {run{"stem.conv", "house.image"}, run{"stem", "house.bend"},
          run{"blocks.0.fc", "house.dense"}, run{"blocks.0", "house.bend"},
          run{"blocks.1.fc", "house.dense"}, run{"blocks.1", "house.bend"},
          run{"head", "house.dense"}}) {
        stemma::id module = 0;
        while (modules.path(module) != path) {
            ++module;
        }
        const auto operation = captured.add({module}, name);
        if (operation == 0) {
            captured.add_input();
        } else {
            captured.add_source(operation - 1);
        }
    }
    for (std::size_t v = 0; v < num_vertices(graph); ++v) {
        graph[v].name.clear(); // the capture says where operators come from
        for (auto& parameter : graph[v].parameters) {
            parameter = "p" + std::to_string(v);
        }
    }
    const auto aligned =
        stemma::align(view_of(graph), modules.index(), captured, {}, {}, house_lexicon{});
    for (std::size_t v = 0; v < aligned.of.size(); ++v) {
        std::cout << graph[v].type << ": " << modules.path(aligned.of[v].module) << "\n";
    }
}
