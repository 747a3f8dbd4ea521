// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_EVIDENCE_EVIDENCE_SOURCES_HPP
#define STEMMA_EVIDENCE_EVIDENCE_SOURCES_HPP

#include <stemma/config.hpp>
#include <stemma/core/category.hpp>
#include <stemma/evidence/detail/named_claims.hpp>
#include <stemma/evidence/evidence_context.hpp>

#include <tuple>
#include <utility>

namespace stemma::inline STEMMA_ABI {

/// Several sources of evidence as one: their claims are concatenated.
template <detail::policy_for<evidence_category>... Sources>
class evidence_sources {
public:
    using policy_category = evidence_category;

    constexpr evidence_sources() = default;

    /// Sources are queried, and their claims listed, in this order.
    constexpr explicit evidence_sources(Sources... sources) requires(sizeof...(Sources) > 0)
        : sources_(std::move(sources)...) {}

    template <class... Claims>
    class claims {
    public:
        explicit claims(Claims... parts) : parts_(std::move(parts)...) {}

        template <class Vertex, class Function>
        void for_each_claim(const Vertex& v, Function f) const {
            std::apply([&](const auto&... part) { (part.for_each_claim(v, f), ...); }, parts_);
        }

    private:
        std::tuple<Claims...> parts_;
    };

    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(evidence_context<Ops, Modules>& context) const {
        return std::apply(
            [&](const auto&... source) {
                // Braces, so that they are prepared in order.
                return claims<decltype(detail::prepare_source(source, context))...>{
                    detail::prepare_source(source, context)...};
            },
            sources_);
    }

private:
    STEMMA_NO_UNIQUE_ADDRESS std::tuple<Sources...> sources_;
};

/// A source that can be switched off at run time.
template <detail::policy_for<evidence_category> Source>
struct optional_source {
    using policy_category = evidence_category;

    Source source{};     ///< queried while `enabled`
    bool enabled = true; ///< false: it makes no claims, but is still prepared

    template <class Claims>
    struct claims {
        Claims made;
        bool enabled = true;

        template <class Vertex, class Function>
        void for_each_claim(const Vertex& v, Function f) const {
            if (enabled) {
                made.for_each_claim(v, f);
            }
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(evidence_context<Ops, Modules>& context) const {
        return claims<decltype(detail::prepare_source(source, context))>{
            detail::prepare_source(source, context), enabled};
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_EVIDENCE_EVIDENCE_SOURCES_HPP
