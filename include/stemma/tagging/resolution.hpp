// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_TAGGING_RESOLUTION_HPP
#define STEMMA_TAGGING_RESOLUTION_HPP

#include <stemma/core/category.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/tree_index.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace stemma::inline STEMMA_ABI {

namespace detail {

template <class P>
concept has_resolve = requires(const P& p, const tree_index& modules,
                               std::span<const claim> claims) {
    { p.resolve(modules, claims) } -> std::convertible_to<attribution>;
};

/// Returns: `resolve` of the claims with at least some confidence; nothing if there are none.
/// Complexity: O(claims), and that of `resolve`.
template <class Resolve>
[[nodiscard]] attribution resolve_sure(std::span<const claim> claims, float least,
                                       Resolve resolve) {
    const auto is_sure = [&](const claim& c) { return c.confidence >= least; };
    if (std::all_of(claims.begin(), claims.end(), is_sure)) {
        return claims.empty() ? attribution{} : resolve(claims);
    }
    std::vector<claim> sure;
    std::copy_if(claims.begin(), claims.end(), std::back_inserter(sure), is_sure);
    return sure.empty() ? attribution{} : resolve(std::span<const claim>(sure));
}

} // namespace detail

/// Combines all claims about one operator into an attribution.
///
/// `resolve(modules, claims)` returns it; a conflict is recorded in it rather than thrown.
///
/// Requires: `claims` is not empty, and those of one source are consecutive; the result depends
/// only on the claims, and has `module == no_id` if none is believed.
/// Complexity: callers ask at most once per operator with claims; keep it linear in the claims.
template <class P>
concept resolution_policy = detail::policy_for<P, resolution_category> && detail::has_resolve<P>;

/// Believes the most trusted source, with more confidence if an independent one agrees.
///
/// Trust is the order of `provenance`. A claim that is not exact agrees with every module above or
/// below its own; if it leads, an aligned operation decides between them, or a surer claim that it
/// is one below. Several claims of one source are alternatives: the one that fits the rest counts;
/// if none does, the most confident one, or the common ancestor of those equally confident or
/// doubtful. A doubtful claim yields to the common ancestor of it and whatever contradicts it, or
/// stands for an ancestor. Any disagreement is a conflict.
struct by_trust {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "trust";

    /// Claims with less confidence are ignored.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return detail::resolve_sure(claims, min_confidence, [&](std::span<const claim> sure) {
            return resolve_all(modules, sure);
        });
    }

    /// Returns: whether a claim can be true when the deepest module is `module`.
    [[nodiscard]] static bool agrees(const tree_index& modules, const claim& c, id module) {
        return c.module == module || (!c.exact && modules.are_related(c.module, module));
    }

private:
    [[nodiscard]] static attribution resolve_all(const tree_index& modules,
                                                 std::span<const claim> claims) {
        std::span<const claim> leading;
        for_each_source(claims, [&](std::span<const claim> group) {
            if (leading.empty() || group.front().source < leading.front().source) {
                leading = group;
            }
        });
        auto result = settle(modules, leading, claims);
        if (!leading.front().exact) {
            refine(modules, claims, leading.front(), result);
        }
        auto module = result.module;
        for_each_source(claims, [&](std::span<const claim> group) {
            if (group.front().source == result.source) {
                return;
            }
            const auto agreeing = std::find_if(group.begin(), group.end(), [&](const claim& c) {
                return agrees(modules, c, result.module);
            });
            if (agreeing == group.end()) {
                result.conflict = true;
                for (const auto& other : group) {
                    module = leading.front().doubtful ? modules.lca(module, other.module) : module;
                }
            } else if (leading.front().doubtful && modules.is_ancestor(agreeing->module, module)) {
                module = agreeing->module;
            } else if (agreeing->module == result.module) {
                result.confidence = 1 - (1 - result.confidence) * (1 - agreeing->confidence);
            }
        });
        if (module != result.module || leading.front().doubtful) {
            result.module = module;
            result.confidence = std::min(result.confidence, detail::confidence::doubtful);
        }
        return result;
    }

    template <class Function>
    static void for_each_source(std::span<const claim> claims, Function f) {
        for (std::size_t first = 0, last = 0; first < claims.size(); first = last) {
            while (last < claims.size() && claims[last].source == claims[first].source) {
                ++last;
            }
            f(claims.subspan(first, last - first));
        }
    }

    /// Lets an aligned operation decide which of the modules allowed by the leading claim it is, or
    /// even overrule the claim if it is sure, as it knows the same parameters and more; or another
    /// claim decide that is surer of a deeper one.
    static void refine(const tree_index& modules, std::span<const claim> claims,
                       const claim& leading, attribution& result) {
        for (const auto& c : claims) {
            const bool aligned = c.source == provenance::torchscript ||
                                 c.source == provenance::trace || c.source == provenance::fx;
            const float needed = agrees(modules, leading, c.module)
                                     ? detail::confidence::refining
                                     : detail::confidence::overruling;
            const bool deeper = !aligned && !c.exact && c.source != leading.source &&
                                c.confidence > leading.confidence &&
                                modules.is_ancestor(leading.module, c.module);
            if (c.module != result.module &&
                (deeper || (aligned && c.exact && c.confidence >= needed))) {
                result.module = c.module;
                result.call = c.call;
                result.source = c.source;
                result.confidence = c.confidence;
                return;
            }
        }
    }

    /// Picks among the alternatives of the leading source.
    [[nodiscard]] static attribution settle(const tree_index& modules,
                                            std::span<const claim> leading,
                                            std::span<const claim> claims) {
        const auto as_attribution = [](const claim& c) {
            return attribution{c.module, c.call, c.confidence, c.source, false};
        };
        if (leading.size() == 1) {
            return as_attribution(leading.front());
        }
        if (!leading.front().doubtful) { // else the operator was made from all of them
            const auto before = claims.first(static_cast<std::size_t>(&leading[0] - &claims[0]));
            const auto after = claims.subspan(before.size() + leading.size());
            for (const auto& alternative : leading) {
                const auto fits = [&](const claim& other) {
                    return agrees(modules, other, alternative.module);
                };
                if (std::any_of(before.begin(), before.end(), fits) ||
                    std::any_of(after.begin(), after.end(), fits)) {
                    return as_attribution(alternative);
                }
            }
        }
        const auto surest =
            std::max_element(leading.begin(), leading.end(), [](const claim& a, const claim& b) {
                return a.confidence < b.confidence;
            });
        auto result = as_attribution(*surest);
        for (const auto& alternative : leading) {
            if (alternative.confidence < surest->confidence) {
                continue;
            }
            result.call = alternative.module == result.module ? result.call : no_id;
            result.module = modules.lca(result.module, alternative.module);
        }
        return result;
    }
};

/// Believes one kind of evidence only if no other contradicts it; else takes the common ancestor.
struct cautious {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "cautious";

    /// Claims with less confidence are ignored.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return detail::resolve_sure(claims, min_confidence, [&](std::span<const claim> sure) {
            auto result = by_trust{}.resolve(modules, sure);
            if (result.conflict) {
                for (const auto& c : sure) {
                    result.module = modules.lca(result.module, c.module);
                }
                result.call = no_id;
                result.confidence =
                    std::min(result.confidence, detail::confidence::common_ancestor);
            }
            return result;
        });
    }
};

/// Believes the claim with the highest confidence, and the more trusted source among equals: for
/// evidence with measured confidences. Equally sure alternatives become their common ancestor; any
/// disagreement is a conflict.
struct by_confidence {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "confidence";

    /// Claims with less confidence are ignored.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return detail::resolve_sure(claims, min_confidence, [&](std::span<const claim> sure) {
            return resolve_all(modules, sure);
        });
    }

private:
    [[nodiscard]] static attribution resolve_all(const tree_index& modules,
                                                 std::span<const claim> claims) {
        const auto surest =
            std::max_element(claims.begin(), claims.end(), [](const claim& a, const claim& b) {
                return a.confidence != b.confidence ? a.confidence < b.confidence
                                                    : a.source > b.source;
            });
        attribution result{surest->module, surest->call, surest->confidence, surest->source, false};
        for (const auto& c : claims) {
            const bool is_equal =
                c.source == surest->source && !(c.confidence < surest->confidence);
            if (is_equal && c.module != result.module) {
                result.module = modules.lca(result.module, c.module);
                result.call = no_id;
            }
        }
        result.conflict = std::any_of(claims.begin(), claims.end(), [&](const claim& c) {
            return c.source != surest->source && !by_trust::agrees(modules, c, result.module);
        });
        return result;
    }
};

/// Weighs all sources by their measured confidences: several weak ones that agree beat a stronger
/// one they contradict, and a sure one beats a more trusted one that is not.
///
/// The weight of each claimed module is that of the sources agreeing with it, minus that of the
/// sources contradicting it; a source's weight is the log-odds of being right, 0 if it is more
/// likely wrong. Ties go to an exact claim, then by trust. Alternatives of one source that nothing
/// decides between become their common ancestor. A doubtful claim is treated as by `by_trust`.
struct by_weight {
    using policy_category = resolution_category;
    static constexpr std::string_view name = "default";

    /// Claims with less confidence are ignored.
    float min_confidence = 0;

    [[nodiscard]] attribution resolve(const tree_index& modules,
                                      std::span<const claim> claims) const {
        return detail::resolve_sure(claims, min_confidence, [&](std::span<const claim> sure) {
            return resolve_all(modules, sure);
        });
    }

private:
    [[nodiscard]] static attribution resolve_all(const tree_index& modules,
                                                 std::span<const claim> claims) {
        const auto trusted = by_trust{}.resolve(modules, claims);
        if (!trusted.conflict || has_doubt(claims)) {
            return trusted;
        }
        auto best = trusted;
        auto most = weight_of(modules, claims, trusted.module);
        bool overruled = false;
        for (const auto& c : claims) {
            const auto weight = weight_of(modules, claims, c.module);
            if (c.exact && weight > most + detail::confidence::odds_margin) {
                best = {c.module, c.call, c.confidence, c.source, true};
                most = weight;
                overruled = true;
            } else if (overruled && c.source == best.source && c.exact && !(weight < most)) {
                best.call = c.module == best.module ? best.call : no_id;
                best.module = modules.lca(best.module, c.module);
            }
        }
        if (best.module != trusted.module) {
            best.confidence = std::min(best.confidence, 1 - 1 / (1 + std::exp(most)));
        }
        return best;
    }

    [[nodiscard]] static bool has_doubt(std::span<const claim> claims) {
        return std::any_of(claims.begin(), claims.end(), [](const claim& c) { return c.doubtful; });
    }

    [[nodiscard]] static float odds(float confidence) {
        confidence = std::clamp(confidence, 1 - detail::confidence::odds_limit,
                                detail::confidence::odds_limit);
        return std::log(confidence / (1 - confidence));
    }

    /// Returns: the weight in favour of a module, counting for each source its best alternative.
    [[nodiscard]] static float weight_of(const tree_index& modules, std::span<const claim> claims,
                                         id module) {
        float sum = 0;
        for (std::size_t first = 0, last = 0; first < claims.size(); first = last) {
            float most = -std::numeric_limits<float>::infinity();
            for (; last < claims.size() && claims[last].source == claims[first].source; ++last) {
                const auto weight = std::max(odds(claims[last].confidence), 0.0F);
                most = std::max(most,
                                by_trust::agrees(modules, claims[last], module) ? weight : -weight);
            }
            sum += most;
        }
        return sum;
    }
};

/// Put `static_assert(explain_policy<resolution_category, mine>());` next to a policy that is
/// rejected.
template <std::same_as<resolution_category> Role, class P>
consteval bool explain_policy() {
    static_assert(std::copy_constructible<P>, "resolution policy: make the class copyable");
    static_assert(detail::declares<P, resolution_category>,
                  "resolution policy: add `using policy_category = stemma::resolution_category;`");
    static_assert(detail::has_resolve<P>,
                  "resolution policy: add `stemma::attribution resolve(const stemma::tree_index&, "
                  "std::span<const stemma::claim>) const`");
    return resolution_policy<P>;
}

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_TAGGING_RESOLUTION_HPP
