// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP
#define STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/layout_types.hpp>
#include <stemma/evidence/detail/region_finder.hpp>
#include <stemma/evidence/detail/sequence_starts.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_view.hpp>
#include <stemma/model/operator_view.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Evidence from parameters for the operators around those that read them, where names and metadata
/// are gone: the rest of a module that reads its parameters in its last steps, and what a module
/// does with the results of its children.
struct parameter_regions {
    using policy_category = evidence_category;

    template <class Ops>
    class claims {
    public:
        claims(const Ops& ops, std::vector<id> modules)
            : ops_(&ops), modules_(std::move(modules)) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            const auto v = detail::index_of(ops_->graph(), vertex);
            if (v < modules_.size() && modules_[v] != no_id) {
                f(claim{modules_[v], no_id, detail::confidence::region, provenance::parameter,
                        false});
            }
        }

    private:
        const Ops* ops_;
        std::vector<id> modules_;
    };

    /// Complexity: O(V + E).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] claims<Ops> prepare(evidence_context<Ops, Modules>& context) const {
        std::vector<id> matches;
        if (has_regions(context)) {
            matches = detail::region_finder<Ops, Modules>(context).run();
        }
        return {context.ops(), std::move(matches)};
    }

    /// Returns: sequence members that operators imply and the modules lack, as they have no
    /// parameters: the sequence and a number; sorted. Complexity: O(V + E).
    template <named_operators Ops, module_view Modules>
        requires parameter_readers<Ops>
    [[nodiscard]] static std::vector<std::pair<id, std::uint64_t>>
    find_missing_members(evidence_context<Ops, Modules>& context) {
        std::vector<std::pair<id, std::uint64_t>> missing;
        if (has_regions(context) &&
            detail::has_open_sequences(context.ops(), context.modules(), context.owners())) {
            detail::region_finder<Ops, Modules> finder(context);
            static_cast<void>(finder.run());
            missing = finder.missing();
            missing = detail::range::each_once(std::move(missing));
        }
        return missing;
    }

private:
    /// Whether parameters are the main evidence about operators.
    template <class Ops, class Modules>
    [[nodiscard]] static bool has_regions(evidence_context<Ops, Modules>& context) {
        // If names have scopes, the remaining operators are better placed by their neighbours; and
        // if most have metadata, the remaining ones are constants. What quantizers insert has
        // neither, whatever the others have.
        constexpr std::size_t few = 20;
        const auto& ops = context.ops();
        const auto& scopes = context.scopes().scope_of;
        const auto& chains = context.hierarchies().chain_of;
        std::size_t scoped = 0;
        std::size_t described = 0;
        std::size_t count = 0;
        for (auto [it, last] = vertices(ops.graph()); it != last; ++it) {
            const auto v = detail::index_of(ops.graph(), *it);
            const bool has_chain = !chains.empty() && chains[v] != no_id;
            const bool has_scope = !has_chain && scopes[v] != no_id;
            described += has_chain ? 1U : 0U;
            scoped += has_scope ? 1U : 0U;
            count += has_chain || has_scope || !detail::is_quantization(ops.op_type(*it)) ? 1U : 0U;
        }
        return context.owners().any() && scoped * few <= count && described * 4 <= count * 3;
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_PARAMETER_REGIONS_HPP
