// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_BENCH_ATTRIBUTED_SCENE_HPP
#define STEMMA_BENCH_ATTRIBUTED_SCENE_HPP

#include "generate_model.hpp"

#include <stemma/core/policies.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/rebuild_tree.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/tagging/tagger.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

namespace stemma_bench {

/// A generated model with attributed operators.
struct attributed_scene {
    explicit attributed_scene(std::size_t nodes) {
        model_options options;
        options.nodes = nodes;
        bytes = generate_model(options).model;
        model = std::make_unique<stemma::wire_model>(bytes);
        const stemma::onnx_operators ops(*model);
        auto rebuilt = stemma::rebuild_tree(ops);
        modules = std::move(rebuilt.modules);
        stemma::evidence_context context(ops, modules, std::move(rebuilt.facts));
        found = stemma::tag_operators(context, stemma::policies{});
    }

    std::string bytes;
    std::unique_ptr<stemma::wire_model> model;
    stemma::module_tree modules;
    stemma::tagging found;
};

} // namespace stemma_bench

#endif // STEMMA_BENCH_ATTRIBUTED_SCENE_HPP
