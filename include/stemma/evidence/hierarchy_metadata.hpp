// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_HIERARCHY_METADATA_HPP
#define STEMMA_EVIDENCE_HIERARCHY_METADATA_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/hierarchy_modules.hpp>
#include <stemma/evidence/detail/hierarchy_table.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <span>

namespace stemma::inline STEMMA_ABI {

/// Evidence from the hierarchy that an exporter wrote into the metadata of operators: the modules
/// that were running, with their classes.
///
/// An operator that an optimizer fused from several carries the metadata of the first of them only,
/// or of all, with repeated keys: a claim for each, marked as doubtful.
template <detail::hierarchy_dialect Dialect>
struct hierarchy_metadata {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, const detail::hierarchy_table& table,
               const detail::hierarchy_modules& bound, std::span<const id> shallow)
            : ops_(&ops), table_(&table), bound_(&bound), shallow_(shallow) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (table_->chain_of.empty()) {
                return;
            }
            const auto v = static_cast<id>(detail::index_of(ops_->graph(), vertex));
            const auto chain = table_->chain_of[v];
            // Only torch's exporter omits the modules around a body.
            const auto written =
                chain == no_id ? detail::hierarchy_dialect::dynamo : table_->chains[chain].dialect;
            if (written != Dialect) {
                return;
            }
            const auto place = detail::find_place(*table_, *bound_, v);
            if (place.module == no_id) {
                return;
            }
            const bool exact =
                place.exact && !std::binary_search(shallow_.begin(), shallow_.end(), place.module);
            claim candidate{place.module,
                            no_id,
                            exact ? detail::confidence::metadata : detail::confidence::shallow,
                            provenance::metadata,
                            exact,
                            no_id};
            const auto stands_before = [](const auto& one, id wanted) {
                return one.first < wanted;
            };
            auto other =
                std::lower_bound(table_->further.begin(), table_->further.end(), v, stands_before);
            const bool several = other != table_->further.end() && other->first == v;
            candidate.doubtful = several || std::binary_search(table_->rewritten.begin(),
                                                               table_->rewritten.end(), v);
            f(candidate);
            for (; several && other != table_->further.end() && other->first == v; ++other) {
                const auto further = bound_->of_chain[other->second];
                if (further.module != no_id) {
                    candidate.module = further.module;
                    f(candidate);
                }
            }
        }

    private:
        const Ops* ops_;
        const detail::hierarchy_table* table_;
        const detail::hierarchy_modules* bound_;
        std::span<const id> shallow_; // where metadata stop short
    };

    /// Requires: the context outlives the claims.
    template <operator_view Ops, module_view Modules>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::span<const id> shallow;
        if constexpr (named_operators<Ops> && parameter_readers<Ops>) {
            shallow = context.shallow();
        }
        return {context.ops(), context.hierarchies(), context.modules_of_hierarchies(), shallow};
    }
};

/// The metadata of torch's exporter on top of torch.export.
using exporter_metadata = hierarchy_metadata<detail::hierarchy_dialect::dynamo>;

/// The metadata of the onnxscript builder.
using builder_metadata = hierarchy_metadata<detail::hierarchy_dialect::builder>;

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_HIERARCHY_METADATA_HPP
