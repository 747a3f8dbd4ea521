// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_DETAIL_NAMED_CLAIMS_HPP
#define STEMMA_EVIDENCE_DETAIL_NAMED_CLAIMS_HPP

#include <stemma/core/detail/policy_name.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/model/attribution.hpp>

#include <optional>

namespace stemma::inline STEMMA_ABI::detail {

/// The claims of a source, under the source's name if it has one.
template <class Claims>
struct named_claims {
    Claims made;                        ///< as prepared by the source
    std::optional<provenance> source{}; ///< overrides that of each claim

    template <class Vertex, class Function>
    void for_each_claim(const Vertex& v, Function f) const {
        if (!source) {
            made.for_each_claim(v, f);
            return;
        }
        made.for_each_claim(v, [&](claim one) {
            one.source = *source;
            f(one);
        });
    }
};

/// Returns: the result of `source.prepare(context)`, under the source's name if it has one.
template <class Source, class Ops, class Modules>
[[nodiscard]] auto prepare_source(const Source& source, evidence_context<Ops, Modules>& context) {
    if constexpr (named_policy<Source>) {
        const auto name = name_of_policy(source);
        const auto number =
            name.empty() ? std::optional<provenance>() : context.provenances().add(name);
        return named_claims<decltype(source.prepare(context))>{source.prepare(context), number};
    } else {
        return source.prepare(context);
    }
}

} // namespace stemma::inline STEMMA_ABI::detail

#endif // STEMMA_EVIDENCE_DETAIL_NAMED_CLAIMS_HPP
