// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_JOINED_MODULES_HPP
#define STEMMA_EVIDENCE_DETAIL_JOINED_MODULES_HPP

#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/evidence/detail/parameter_owners.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <unordered_map>

namespace stemma::inline STEMMA_ABI::detail {

/// Tells the module of an operator that was fused from several from that of one of these.
template <operator_view Ops, module_view Modules>
class joined_modules {
public:
    /// `others` has the modules of what operators were fused with, by vertex index, if known.
    /// Requires: all arguments outlive it.
    joined_modules(const Ops& ops, const Modules& modules, const std::unordered_map<id, id>& others)
        : ops_(&ops), modules_(&modules), others_(&others) {}

    /// Returns: the common ancestor of `module` and what the operator was fused with; where that is
    /// not known, the caller of a module without children.
    [[nodiscard]] id around(operator_t<Ops> vertex, id module) const {
        const tree_index& tree = modules_->index();
        if (!others_->empty()) {
            const auto other = others_->find(static_cast<id>(index_of(ops_->graph(), vertex)));
            if (other != others_->end()) {
                return tree.lca(module, other->second);
            }
        }
        if constexpr (joined_operators<Ops>) {
            if (module != 0 && tree.is_leaf(module) && ops_->is_joined(vertex)) {
                return nearest_called(*modules_, tree.parent(module));
            }
        }
        return module;
    }

private:
    const Ops* ops_;
    const Modules* modules_;
    const std::unordered_map<id, id>* others_;
};

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_JOINED_MODULES_HPP
