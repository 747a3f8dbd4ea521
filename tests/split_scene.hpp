// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TESTS_SPLIT_SCENE_HPP
#define STEMMA_TESTS_SPLIT_SCENE_HPP

#include "model_files.hpp"
#include "scratch_folder.hpp"

#include <stemma/cut/cut_planner.hpp>
#include <stemma/cut/detail/cut_writer.hpp>
#include <stemma/cut/detail/random_nodes.hpp>
#include <stemma/cut/detail/split_skeleton.hpp>
#include <stemma/cut/detail/split_writer.hpp>
#include <stemma/cut/detail/weight_store.hpp>
#include <stemma/cut/partition.hpp>
#include <stemma/cut/split_planner.hpp>
#include <stemma/model/cost.hpp>
#include <stemma/open/attributed_model.hpp>
#include <stemma/types/detail/infer_shapes.hpp>
#include <stemma/types/value_types.hpp>

#include <string>
#include <utility>
#include <vector>

namespace test {

/// A model with everything needed to split it.
struct split_scene {
    stemma::attributed_model opened;
    stemma::cut_planner<> cuts;
    std::vector<stemma::operator_load> loads;
    stemma::split_planner<> planner;

    explicit split_scene(const std::string& path)
        : opened(path, {})
        , cuts(opened.model(), {}, stemma::detail::find_random_nodes(opened.model()))
        , loads(stemma::detail::find_loads(opened.model()))
        , planner(opened.model(), cuts, opened.modules().index(), opened.tags().attributions,
                  loads) {}

    [[nodiscard]] const stemma::wire_model& model() const { return opened.model(); }

    /// Returns: one part for every module without children, and the rest.
    [[nodiscard]] std::vector<stemma::split_part> by_leaf(bool joins = false) {
        const auto& modules = opened.modules().index();
        stemma::parts_by_modules leaves;
        for (stemma::id m = 0; m < modules.size(); ++m) {
            if (modules.end(m) == m + 1) {
                leaves.modules.push_back(m);
            }
        }
        return planner.divide(leaves, joins);
    }

    /// Writes parts as files 0.onnx, 1.onnx, ...
    stemma::split_manifest write(const std::vector<stemma::split_part>& parts,
                                 const std::string& folder) {
        std::vector<stemma::detail::split_part_names> called;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            called.push_back({std::to_string(p) + ".onnx", opened.modules().path(parts[p].module),
                              opened.tags().tags.text(parts[p].module)});
        }
        stemma::value_types types(model());
        stemma::detail::infer_shapes(model(), types);
        stemma::detail::weight_store store(model(), opened.file(),
                                           std::string(stemma::detail::split_weights_name), false);
        stemma::detail::cut_writer<> cut_writer(model(), cuts.contents(), types);
        stemma::detail::split_writer<> writer(model(), opened.file(), cut_writer, types, store);
        writer.place(parts);
        return writer.write(parts, called, folder, false);
    }
};

} // namespace test

#endif // STEMMA_TESTS_SPLIT_SCENE_HPP
