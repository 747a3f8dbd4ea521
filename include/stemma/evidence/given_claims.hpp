// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_GIVEN_CLAIMS_HPP
#define STEMMA_EVIDENCE_GIVEN_CLAIMS_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/concepts.hpp>
#include <stemma/core/id.hpp>
#include <stemma/evidence/detail/context_facts.hpp>
#include <stemma/evidence/detail/joined_modules.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/operator_view.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// The claims of one source about all operators, at most one each.
struct claim_table {
    provenance source = provenance::root; ///< of all claims
    std::vector<claim> of;                ///< by vertex index; `module == no_id` for no claim

    /// Returns: the number of operators with a claim. Complexity: O(operators).
    [[nodiscard]] std::size_t count() const noexcept {
        std::size_t claimed = 0;
        for (const auto& entry : of) {
            claimed += entry.module == no_id ? 0U : 1U;
        }
        return claimed;
    }
};

/// Evidence obtained elsewhere: by aligning a capture, or from whoever tagged the model.
///
/// Aligned operations are not fused, so a claim of theirs about an operator that was fused from
/// several is for the common ancestor of all; a doubtful one is for its module or one above.
struct given_claims {
    using policy_category = evidence_category;

    /// Queried in this order; none if null.
    const std::vector<claim_table>* tables = nullptr;

    template <class Ops, class Modules>
    class claims {
    public:
        claims(const Ops& ops, const std::vector<claim_table>* tables,
               std::optional<detail::joined_modules<Ops, Modules>> joined)
            : ops_(&ops), tables_(tables), joined_(joined) {}

        template <class Function>
        void for_each_claim(operator_t<Ops> vertex, Function f) const {
            if (tables_ == nullptr) {
                return;
            }
            const auto v = detail::index_of(ops_->graph(), vertex);
            for (const auto& table : *tables_) {
                if (v >= table.of.size() || table.of[v].module == no_id) {
                    continue;
                }
                auto one = table.of[v];
                if (joined_ && is_aligned(one.source)) {
                    const auto module = joined_->around(vertex, one.module);
                    // Around a doubtful one is much else: it would agree with what contradicts it.
                    if (one.confidence <= detail::confidence::capture_doubt) {
                        one.exact = one.exact && module == one.module;
                    } else if (module != one.module) {
                        one.module = module;
                        one.call = no_id;
                    }
                }
                f(one);
            }
        }

    private:
        const Ops* ops_;
        const std::vector<claim_table>* tables_;
        std::optional<detail::joined_modules<Ops, Modules>> joined_;
    };

    /// Requires: the tables outlive the claims, and their modules are those of the context.
    template <class Ops, class Modules>
    [[nodiscard]] claims<Ops, Modules> prepare(evidence_context<Ops, Modules>& context) const {
        if constexpr (parameter_readers<Ops>) {
            if (tables != nullptr &&
                std::any_of(tables->begin(), tables->end(),
                            [](const claim_table& table) { return is_aligned(table.source); })) {
                return {context.ops(), tables,
                        detail::joined_modules(context.ops(), context.modules(), context.joined())};
            }
        }
        return {context.ops(), tables, std::nullopt};
    }

private:
    [[nodiscard]] static bool is_aligned(provenance source) {
        return source == provenance::torchscript || source == provenance::trace ||
               source == provenance::fx;
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_GIVEN_CLAIMS_HPP
