// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ALIGN_DETAIL_STATED_SCORES_HPP
#define STEMMA_ALIGN_DETAIL_STATED_SCORES_HPP

#include <stemma/align/alignment.hpp>
#include <stemma/align/detail/aligned_nodes.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/detail/operator_domain.hpp>
#include <stemma/model/detail/stated_module.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <unordered_set>
#include <vector>

namespace stemma::inline STEMMA_ABI::detail {

/// The evidence of an operator's names and metadata against modules. One above or below the stated
/// module is as good as that: a trace and an exporter may differ by a level. Nothing counts for
/// shapes and constants, which may have been computed for several modules.
class stated_scores {
public:
    /// `stated` is by vertex index; it may be empty. Requires: it and `modules` outlive this.
    stated_scores(const tree_index& modules, std::span<const stated_module> stated,
                  const aligned_nodes& nodes)
        : modules_(modules), by_vertex_(stated) {
        if (stated.empty()) {
            return;
        }
        for (id n = 0; n < nodes.size(); ++n) {
            const auto& said = stated[nodes.vertex[n]];
            const bool counts =
                !nodes.of_shapes[n] && !nodes.fixed[n] && said.confidence > confidence::doubtful;
            stated_.push_back(counts ? said.module : no_id);
            inserted_.push_back(counts && is_conversion(plain_type(nodes.types[nodes.type[n]])));
            const double sureness = std::min(said.confidence, confidence::odds_limit);
            weight_.push_back(counts ? std::log(sureness / (1 - sureness)) : 0);
        }
    }

    /// Returns: the logarithm of the odds that operator `n` does not come from `module`, if it is
    /// stated to come from elsewhere; else 0. If `fused`, it may come from several modules, whose
    /// common ancestor is above the stated one.
    [[nodiscard]] double against(id n, id module, bool fused) const {
        const auto said = stated_.empty() ? no_id : stated_[n];
        const bool fits = said == no_id || modules_.is_ancestor(said, module) ||
                          (fused && modules_.is_ancestor(module, said));
        return fits ? 0 : weight_[n];
    }

    /// Whether a runtime inserted operator `n` to convert between layouts, for what its names
    /// state: such an operator does not come from several modules.
    [[nodiscard]] bool is_inserted(id n) const { return !inserted_.empty() && inserted_[n]; }

    /// Whether operator `n` is stated to come from another module than `module`.
    [[nodiscard]] bool denies(id n, id module) const {
        return !stated_.empty() && stated_[n] != no_id && stated_[n] != module;
    }

    /// Whether the operator with vertex index `v` is known for sure to come from another module
    /// than `module`.
    [[nodiscard]] bool excludes(std::size_t v, id module) const {
        return !by_vertex_.empty() && by_vertex_[v].settled && by_vertex_[v].module != module;
    }

    /// Whether operator `n` is stated to come from `module` itself.
    [[nodiscard]] bool confirms(id n, id module) const {
        return !stated_.empty() && stated_[n] == module;
    }

    /// Lowers the confidence of claims about operators whose names state another module. If that
    /// is beside the claimed one, what is claimed is withdrawn, also about other operators of the
    /// same operation that no name confirms.
    void overrule(const aligned_nodes& nodes, alignment& result) const {
        std::unordered_set<id> refuted; // operations
        for (id n = 0; n < stated_.size(); ++n) {
            auto& entry = result.of[nodes.vertex[n]];
            if (entry.module == no_id || !denies(n, entry.module)) {
                continue;
            }
            if (modules_.are_related(entry.module, stated_[n])) {
                entry.confidence = std::min(entry.confidence, confidence::aligned_denied);
            } else {
                ++result.denied;
                refuted.insert(entry.operation);
                entry = {};
            }
        }
        for (id n = 0; n < stated_.size() && !refuted.empty(); ++n) {
            auto& entry = result.of[nodes.vertex[n]];
            if (entry.operation != no_id && refuted.contains(entry.operation) &&
                !confirms(n, entry.module)) {
                entry = {};
            }
        }
    }

private:
    const tree_index& modules_;
    std::span<const stated_module> by_vertex_; // may be empty
    std::vector<id> stated_;                   // by operator; empty if nothing is stated about any
    std::vector<double> weight_;
    std::vector<bool> inserted_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_ALIGN_DETAIL_STATED_SCORES_HPP
