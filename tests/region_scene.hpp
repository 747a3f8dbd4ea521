// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_REGION_SCENE_HPP
#define STEMMA_TESTS_REGION_SCENE_HPP

#include "operator_scene.hpp"

#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/evidence/detail/region_facts.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/model/module_tree_builder.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace test {

/// Operators, some of which belong to a module and read its weight.
template <class Operators = operator_scene>
struct region_scene {
    Operators ops;
    std::vector<std::string> modules; ///< of the operators, "" if unknown
    std::vector<stemma::id> lost;     ///< operators that read a weight of an unknown module
    std::vector<std::string> others;  ///< further modules of the tree
    std::vector<std::string> folded;  ///< modules that declare parameters which nothing reads

    stemma::id add(const std::vector<stemma::id>& inputs = {}, const std::string& module = "",
                   const std::string& type = "Add", const std::string& name = "") {
        const auto v = ops.add(inputs, name, type);
        if (!module.empty()) {
            ops.read_parameter(v, module + ".weight");
        }
        modules.push_back(module);
        return v;
    }

    /// Adds an operator that reads a weight of an unknown module.
    stemma::id lose(const std::vector<stemma::id>& inputs, const std::string& type = "MatMul") {
        lost.push_back(add(inputs, "", type));
        return lost.back();
    }

    /// Returns: the tree of all these modules, in order.
    [[nodiscard]] stemma::module_tree tree() const {
        stemma::module_tree_builder builder;
        for (const auto* paths : {&others, &modules}) {
            for (const auto& path : *paths) {
                path.empty() ? void() : void(builder.at_path(path));
            }
        }
        for (const auto& path : folded) {
            builder.add_parameter(builder.at_path(path), {"weight", "float32", {}, true});
        }
        return builder.build();
    }
};

/// What is known about the operators of a scene before any rule looks at their neighbours.
template <class Operators>
struct region_knowledge {
    stemma::module_tree tree;
    stemma::detail::parameter_owners owners;
    stemma::detail::region_facts<Operators, stemma::module_tree> facts;

    explicit region_knowledge(const region_scene<Operators>& scene)
        : tree(scene.tree())
        , owners(stemma::detail::find_parameter_owners(scene.ops, tree))
        , facts(scene.ops, tree, owners, std::vector<bool>(scene.ops.size())) {
        for (std::size_t v = 0; v < scene.modules.size(); ++v) {
            const auto& path = scene.modules[v];
            facts.owner[v] = path.empty() ? stemma::no_id : at(path);
        }
        for (const auto v : scene.lost) {
            facts.lost[v] = true;
        }
    }
    region_knowledge(const region_knowledge&) = delete;
    region_knowledge& operator=(const region_knowledge&) = delete;

    [[nodiscard]] stemma::id at(std::string_view path) const { return module_at(tree, path); }

    /// Returns: the path of a module; "none" for none.
    [[nodiscard]] std::string path(stemma::id m) const {
        return m == stemma::no_id ? "none" : std::string(tree.path(m));
    }
};

} // namespace test

#endif // STEMMA_TESTS_REGION_SCENE_HPP
