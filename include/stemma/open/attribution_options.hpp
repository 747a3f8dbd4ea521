// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_ATTRIBUTION_OPTIONS_HPP
#define STEMMA_OPEN_ATTRIBUTION_OPTIONS_HPP

#include <stemma/capture/capture_source.hpp>
#include <stemma/core/detail/range.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/policies.hpp>
#include <stemma/core/text_list.hpp>
#include <stemma/evidence/class_tags.hpp>
#include <stemma/evidence/detail/named_claims.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/evidence/hierarchy_metadata.hpp>
#include <stemma/evidence/leftovers.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/evidence/user_frames.hpp>
#include <stemma/io/detail/real_text.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/confidence.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire_model.hpp>
#include <stemma/record/detail/model_record.hpp>
#include <stemma/tagging/any_policy.hpp>
#include <stemma/tagging/policy_registry.hpp>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Policies by name, for ONNX files.
using onnx_policy_registry = policy_registry<onnx_operators<wire_model>, module_tree>;

/// How to find the modules of a file's nodes. Policies not chosen are those in the file's record,
/// else the defaults.
struct attribution_options {
    capture_source captures{}; ///< what PyTorch knew: `captures({path})` in captures.hpp
    any_policy<selection_category, module_tree> selection{}; ///< which modules get tags
    any_policy<naming_category, module_tree> naming{};       ///< what tags look like
    any_policy<resolution_category> resolution{};            ///< which claim is believed
    any_policy<propagation_category, onnx_operators<wire_model>>
        propagation{}; ///< where other nodes belong
    /// Custom sources, queried after those of the library.
    std::vector<any_policy<evidence_category, onnx_operators<wire_model>, module_tree>> evidence{};
    /// The library's sources to query; all if not set.
    std::optional<std::vector<provenance>> sources{};
    float min_confidence = 0;             ///< claims with less are ignored
    bool recompute = false;               ///< ignore all tags in the file
    bool retag = false;                   ///< use the file's tree and evidence, but not its tags
    bool digest = false;                  ///< compute what `record` needs while reading the file
    any_policy<frames_category> frames{}; ///< which frames of call stacks are the user's
    /// Resolves policy names in a record beyond those of the library; must outlive the model.
    const onnx_policy_registry* known = nullptr;

    /// Chooses policies, in any order: one per role, any number of evidence sources. Captures
    /// may be among them.
    template <class... Ps>
    attribution_options& set(Ps... chosen) {
        static_assert((has_category<Ps> && ...),
                      "attribution_options: a policy is a class with `using policy_category = "
                      "stemma::<role>_category;`");
        static_assert(((!has_category<Ps> || is_asked<Ps>)&&...),
                      "attribution_options: tagging uses no policy with this policy_category");
        static_assert(
            ((detail::policy_for<Ps, evidence_category> || detail::is_alone<Ps, Ps...>)&&...),
            "attribution_options: two arguments have the same policy_category");
        (set_one(std::move(chosen)), ...);
        return *this;
    }

private:
    template <class P>
    static constexpr bool is_capture = std::same_as<P, capture_source>;

    template <class P>
    static constexpr bool has_category =
        is_capture<P> || detail::attempted_policy<P, attribution_options>;

    template <class P>
    static constexpr bool is_asked =
        detail::policy_for<P, selection_category> || detail::policy_for<P, naming_category> ||
        detail::policy_for<P, evidence_category> || detail::policy_for<P, resolution_category> ||
        detail::policy_for<P, propagation_category> || detail::policy_for<P, frames_category> ||
        is_capture<P>;

    template <class P>
    void set_one(P chosen) {
        if constexpr (detail::policy_for<P, selection_category>) {
            selection = std::move(chosen);
        } else if constexpr (detail::policy_for<P, naming_category>) {
            naming = std::move(chosen);
        } else if constexpr (detail::policy_for<P, resolution_category>) {
            resolution = std::move(chosen);
        } else if constexpr (detail::policy_for<P, propagation_category>) {
            propagation = std::move(chosen);
        } else if constexpr (detail::policy_for<P, frames_category>) {
            frames = std::move(chosen);
        } else if constexpr (detail::policy_for<P, evidence_category>) {
            evidence.emplace_back(std::move(chosen));
        } else if constexpr (std::same_as<P, capture_source>) {
            captures = std::move(chosen);
        }
    }
};

namespace detail {

/// The name of an unnamed policy in records.
inline constexpr std::string_view unnamed_policy = "unnamed";

/// The prefix of `not_infrastructure::name` before the classes it keeps.
inline constexpr std::string_view keeping = "default:";

/// Returns: the name of a policy in records, "" if not chosen.
[[nodiscard]] inline std::string recorded_name(const held_name& policy) {
    return policy.is_chosen() && policy.name().empty() ? std::string(unnamed_policy)
                                                       : policy.name();
}

/// Returns: the minimum confidence in some options.
[[nodiscard]] inline float min_confidence(const attribution_options& options) noexcept {
    return options.min_confidence > 0 ? options.min_confidence
                                      : options.resolution.min_confidence();
}

/// Takes the policy named in a record if none was chosen; reports unknown ones.
template <class Any, class Library>
void adopt_policy(Any& option, const std::string& name, const policies_by_name<Any>* registry,
                  Library library, std::string_view role, std::vector<std::string>& problems) {
    if (option.is_chosen() || name.empty()) {
        return;
    }
    if (auto policy = registry != nullptr ? registry->find(name) : library().find(name)) {
        option = *std::move(policy);
    } else {
        const auto problem = name == unnamed_policy
                                 ? " was written with an unnamed " + std::string(role) +
                                       " policy; the default is used"
                                 : " names a " + std::string(role) + " policy, '" + name +
                                       "', which is unknown here; the default is used";
        problems.push_back(std::string(model_key) + problem);
    }
}

/// Takes the sources named in a record if none were chosen.
inline void adopt_sources(attribution_options& options, const std::vector<std::string>& names,
                          std::vector<std::string>& problems) {
    if (options.sources || names.empty()) {
        return;
    }
    options.sources.emplace();
    for (const auto& name : names) {
        const auto is_given = [&](const auto& source) { return source.name() == name; };
        const auto number = parse_provenance(name);
        if (number && is_evidence(*number)) {
            options.sources->push_back(*number);
        } else if (auto entry = options.known != nullptr ? options.known->sources.find(name)
                                                         : std::nullopt) {
            options.evidence.push_back(*std::move(entry));
        } else if (std::none_of(options.evidence.begin(), options.evidence.end(), is_given)) {
            problems.push_back(std::string(model_key) + " names a source of evidence, '" + name +
                               "', which is unknown here and ignored");
        }
    }
}

/// Returns: the choices that are not the default, by their names in records.
/// Complexity: O(sources).
[[nodiscard]] inline std::map<std::string, std::string>
recorded_options(const attribution_options& options) {
    std::map<std::string, std::string> recorded;
    const auto note = [&](const char* name, std::string value) {
        if (!value.empty()) {
            recorded[name] = std::move(value);
        }
    };
    const auto selection = recorded_name(options.selection);
    selection.starts_with(keeping) ? note("keep", selection.substr(keeping.size()))
                                   : note("select", selection);
    note("naming", recorded_name(options.naming));
    note("resolve", recorded_name(options.resolution));
    note("propagate", recorded_name(options.propagation));
    if (options.sources) {
        std::vector<std::string> names;
        for (const auto source : *options.sources) {
            names.emplace_back(to_string(source));
        }
        for (const auto& source : options.evidence) {
            names.push_back(recorded_name(source));
        }
        note("sources", join_list(names));
    }
    if (const auto least = min_confidence(options); least > 0) {
        char digits[real_text_size];
        note("min-confidence", std::string(digits, put_real(digits, least)));
    }
    return recorded;
}

/// Returns: options with the same frames and known policies, but no other choices.
[[nodiscard]] inline attribution_options without_choices(const attribution_options& options) {
    return {.frames = options.frames, .known = options.known};
}

/// Whether some options decide the modules of nodes by other rules than those of a record.
/// Complexity: O(sources).
[[nodiscard]] inline bool decide_otherwise(const attribution_options& options,
                                           const model_record& record) {
    const auto chosen = recorded_options(options);
    const auto rule = [](std::string name) { return name == "default" ? std::string() : name; };
    for (const auto* key : {"resolve", "propagate", "sources", "min-confidence"}) {
        const auto entry = chosen.find(key);
        if (entry != chosen.end() && rule(entry->second) != rule(record.option(key))) {
            return true;
        }
    }
    return false;
}

/// Adopts the choices of a record that `options` leave open. Returns: messages about unknown ones.
inline std::vector<std::string> adopt_options(attribution_options& options,
                                              const model_record& record) {
    using operators = onnx_operators<wire_model>;
    std::vector<std::string> problems;
    const auto* registry = options.known;
    const auto selection = record.option("select");
    const auto keep = split_list(record.option("keep"));
    if (!keep.empty() && (selection.empty() || selection == "default") &&
        !options.selection.is_chosen()) {
        options.selection = not_infrastructure{.packages = {}, .keep = keep};
    }
    adopt_policy(options.selection, selection, registry ? &registry->selections : nullptr,
                 selections_by_name<module_tree>, "selection", problems);
    adopt_policy(options.naming, record.option("naming"), registry ? &registry->namings : nullptr,
                 namings_by_name<module_tree>, "naming", problems);
    adopt_policy(options.resolution, record.option("resolve"),
                 registry ? &registry->resolutions : nullptr, resolutions_by_name, "resolution",
                 problems);
    adopt_policy(options.propagation, record.option("propagate"),
                 registry ? &registry->propagations : nullptr, propagations_by_name<operators>,
                 "propagation", problems);
    adopt_sources(options, split_list(record.option("sources")), problems);
    if (const auto text = record.option("min-confidence"); min_confidence(options) == 0) {
        read_real(text.data(), text.data() + text.size(), options.min_confidence);
    }
    return problems;
}

/// Returns: options with the policies by which a record names modules, nothing if one of them is
/// unknown.
[[nodiscard]] inline std::optional<attribution_options>
naming_of(const model_record& record, const onnx_policy_registry* registry = nullptr) {
    attribution_options options;
    options.known = registry;
    static_cast<void>(adopt_options(options, record));
    const bool selects = options.selection.is_chosen() || record.option("select").empty();
    const bool names = options.naming.is_chosen() || record.option("naming").empty();
    return selects && names ? std::optional(std::move(options)) : std::nullopt;
}

/// Sources that a program added to the library's.
struct added_sources {
    using policy_category = evidence_category;
    using source = any_policy<evidence_category, onnx_operators<wire_model>, module_tree>;

    std::vector<source> chosen{};

    struct claims {
        std::vector<named_claims<source::claims>> made;

        template <class Function>
        void for_each_claim(id node, Function f) const {
            for (const auto& one : made) {
                one.for_each_claim(node, std::ref(f));
            }
        }
    };

    [[nodiscard]] claims
    prepare(evidence_context<onnx_operators<wire_model>, module_tree>& context) const {
        claims all;
        for (const auto& one : chosen) {
            all.made.push_back(prepare_source(one, context));
        }
        return all;
    }
};

/// Whether some claims found elsewhere are not all in doubt, as those of a capture are that fits
/// the model badly. Complexity: O(claims).
[[nodiscard]] inline bool any_trusted(const std::vector<claim_table>& given) {
    return range::any_of(given, [](const claim_table& table) {
        return range::any_of(table.of, [](const claim& one) {
            return one.module != no_id && one.confidence > confidence::capture_doubt;
        });
    });
}

/// Regions of parameters. Beside claims found elsewhere they are silent, unless all of these are in
/// doubt, and about an operator are less sure than a region below the root, or one only says that
/// it is in some module, around the region's or the same.
struct refining_regions {
    using policy_category = evidence_category;

    bool enabled = true;
    const std::vector<claim_table>* given = nullptr; ///< those claims

    template <class Claims>
    struct claims {
        Claims made; ///< none if it is silent
        const tree_index* modules;
        const std::vector<claim_table>* given;

        template <class Function>
        void for_each_claim(id node, Function f) const {
            made.for_each_claim(node, [&](const claim& region) {
                bool speaks = given->empty() || region.module != 0;
                bool refines = false;
                for (const auto& table : *given) {
                    const auto one = node < table.of.size() ? table.of[node] : claim();
                    speaks = speaks && one.confidence < region.confidence;
                    refines = refines || (one.module != no_id && !one.exact &&
                                          modules->is_ancestor(one.module, region.module));
                }
                if (speaks || refines) {
                    f(region);
                }
            });
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(evidence_context<Ops, Modules>& context) const {
        using regions = decltype(prepare_source(parameter_regions(), context));
        const bool silent = !enabled || any_trusted(*given);
        return claims<regions>{silent ? regions(context.ops(), {})
                                      : prepare_source(parameter_regions(), context),
                               &context.index(), given};
    }
};

using onnx_sources =
    evidence_sources<optional_source<exporter_metadata>, optional_source<builder_metadata>,
                     optional_source<function_calls>, optional_source<scope_names>,
                     optional_source<parameter_names>, refining_regions, optional_source<leftovers>,
                     optional_source<class_tags>, given_claims, added_sources>;

/// All sources, where others are silent if one claim decides.
struct decided_sources {
    using policy_category = evidence_category;

    onnx_sources all;
    const claim_table* decided = nullptr; ///< null for none
    float least = 0;                      ///< the confidence a claim needs to decide

    template <class Claims>
    struct claims {
        Claims claims;
        const claim_table* decided;
        float least;

        template <class Function>
        void for_each_claim(id node, Function f) const {
            if (decided != nullptr && decided->of[node].module != no_id &&
                decided->of[node].confidence >= least) {
                f(decided->of[node]);
            } else {
                claims.for_each_claim(node, f);
            }
        }
    };

    template <class Ops, class Modules>
    [[nodiscard]] auto prepare(evidence_context<Ops, Modules>& context) const {
        return claims<decltype(all.prepare(context))>{all.prepare(context), decided, least};
    }
};

/// Returns: whether options enable a source of the library.
[[nodiscard]] inline bool uses(const attribution_options& options, provenance p) {
    return !options.sources ||
           std::find(options.sources->begin(), options.sources->end(), p) != options.sources->end();
}

/// Returns: the library's sources whose provenance satisfies `on`, claims found elsewhere, and
/// added sources.
template <class Chosen>
[[nodiscard]] onnx_sources sources_for(Chosen on, const std::vector<claim_table>& given,
                                       const attribution_options& options) {
    return onnx_sources({{}, on(provenance::metadata)}, {{}, on(provenance::metadata)},
                        {{}, on(provenance::function)}, {{}, on(provenance::scope)},
                        {{}, on(provenance::parameter)},
                        refining_regions{on(provenance::parameter), &given},
                        {{}, on(provenance::leftover)}, {{}, on(provenance::leftover)},
                        given_claims{&given}, added_sources{options.evidence});
}

} // namespace detail

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_ATTRIBUTION_OPTIONS_HPP
