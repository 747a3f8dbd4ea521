// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_EVIDENCE_SCENE_HPP
#define STEMMA_TESTS_EVIDENCE_SCENE_HPP

#include "find_in_model.hpp"
#include "wire_builder.hpp"

#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test {

/// A model in memory with the tree reconstructed from its operators, or a given one, for querying
/// evidence.
class evidence_scene {
public:
    using operators = stemma::onnx_operators<stemma::wire_model>;
    using context_type = stemma::evidence_context<operators, stemma::module_tree>;

    explicit evidence_scene(std::string bytes)
        : bytes_(std::move(bytes))
        , model_(bytes_)
        , ops_(model_)
        , rebuilt_(stemma::rebuild_tree(ops_))
        , modules_(std::move(rebuilt_.modules))
        , context_(ops_, modules_, std::move(rebuilt_.facts)) {}
    /// A model with this graph.
    explicit evidence_scene(const message& graph, std::uint64_t ir_version = 8)
        : evidence_scene(test::model(graph, ir_version).bytes()) {}
    evidence_scene(std::string bytes, stemma::module_tree modules)
        : bytes_(std::move(bytes))
        , model_(bytes_)
        , ops_(model_)
        , modules_(std::move(modules))
        , context_(ops_, modules_) {}
    evidence_scene(const evidence_scene&) = delete;
    evidence_scene& operator=(const evidence_scene&) = delete;

    [[nodiscard]] const stemma::wire_model& model() const { return model_; }
    [[nodiscard]] const stemma::module_tree& modules() const { return modules_; }
    [[nodiscard]] const operators& ops() const { return ops_; }
    [[nodiscard]] context_type& context() { return context_; }
    [[nodiscard]] stemma::id node(std::string_view name) const { return node_called(model_, name); }

    /// Returns: the claims of a source about the node with a name.
    template <class Source>
    [[nodiscard]] std::vector<stemma::claim> claims(std::string_view name) {
        std::vector<stemma::claim> claims;
        Source{}.prepare(context_).for_each_claim(
            node(name), [&](const stemma::claim& one) { claims.push_back(one); });
        return claims;
    }

    /// Returns: the paths of the modules that a source claims, the root as `/`.
    template <class Source>
    [[nodiscard]] std::vector<std::string> paths(std::string_view name) {
        std::vector<std::string> paths;
        for (const auto& one : claims<Source>(name)) {
            const auto path = modules_.path(one.module);
            paths.push_back(path.empty() ? "/" : std::string(path));
        }
        return paths;
    }

private:
    std::string bytes_;
    stemma::wire_model model_;
    operators ops_;
    stemma::rebuilt_tree rebuilt_;
    stemma::module_tree modules_;
    context_type context_;
};

} // namespace test

#endif // STEMMA_TESTS_EVIDENCE_SCENE_HPP
