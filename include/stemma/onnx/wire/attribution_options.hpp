// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_ONNX_WIRE_ATTRIBUTION_OPTIONS_HPP
#define STEMMA_ONNX_WIRE_ATTRIBUTION_OPTIONS_HPP

#include <stemma/config.hpp>
#include <stemma/core/id.hpp>
#include <stemma/core/parallel.hpp>
#include <stemma/error.hpp>
#include <stemma/evidence/class_tags.hpp>
#include <stemma/evidence/evidence_context.hpp>
#include <stemma/evidence/evidence_sources.hpp>
#include <stemma/evidence/function_calls.hpp>
#include <stemma/evidence/given_claims.hpp>
#include <stemma/evidence/hierarchy_metadata.hpp>
#include <stemma/evidence/leftovers.hpp>
#include <stemma/evidence/parameter_names.hpp>
#include <stemma/evidence/parameter_regions.hpp>
#include <stemma/evidence/scope_names.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/model/module_tree.hpp>
#include <stemma/onnx/model_record.hpp>
#include <stemma/onnx/onnx_operators.hpp>
#include <stemma/onnx/wire/known_policies.hpp>
#include <stemma/onnx/wire/wire_model.hpp>
#include <stemma/policy/any_policy.hpp>
#include <stemma/policy/named_policies.hpp>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stemma {

/// How a file is to be attributed; policies by their names in `known_policies`, empty for the
/// default.
struct attribution_options {
    std::vector<std::string> captures{}; ///< paths of captures
    std::string selection{};             ///< see `parse_selection`
    std::vector<std::string> keep{};     ///< classes that the default selection selects as well
    std::string naming{};                ///< see `parse_naming`
    std::string resolution{};            ///< see `parse_resolution`
    std::string propagation{};           ///< see `parse_propagation`
    std::vector<std::string> sources{};  ///< provenances, and added sources, to use; empty: all
    float min_confidence = 0;            ///< claims below it are not believed
    bool recompute = false;              ///< use nothing of what the file carries of tags
    bool retag = false;     ///< use the tree and the evidence that it carries, not the tags
    bool digest = false;    ///< find what `record` needs while the file is read
    thread_limit threads{}; ///< that may read; the same is found by any number
};

namespace detail {

[[nodiscard]] inline std::string join_list(const std::vector<std::string>& parts) {
    std::string text;
    for (const auto& part : parts) {
        text.append(text.empty() ? "" : ",").append(part);
    }
    return text;
}

} // namespace detail

/// Returns: the choices that are not the default, by the names they have in a record.
[[nodiscard]] inline std::map<std::string, std::string>
recorded_options(const attribution_options& options) {
    std::map<std::string, std::string> recorded;
    const auto note = [&](const char* name, std::string value) {
        if (!value.empty()) {
            recorded[name] = std::move(value);
        }
    };
    note("select", options.selection);
    note("keep", detail::join_list(options.keep));
    note("naming", options.naming);
    note("resolve", options.resolution);
    note("propagate", options.propagation);
    note("sources", detail::join_list(options.sources));
    if (options.min_confidence > 0) {
        char digits[32];
        note("min-confidence",
             {digits, std::to_chars(digits, digits + sizeof digits, options.min_confidence).ptr});
    }
    return recorded;
}

/// Makes the choices of a record where `options` make none.
inline void adopt_options(attribution_options& options, const model_record& record) {
    const auto take = [&](const char* name, std::string& option) {
        option = option.empty() ? record.option(name) : option;
    };
    const auto take_list = [&](const char* name, std::vector<std::string>& option) {
        option = option.empty() ? split_list(record.option(name)) : option;
    };
    take("select", options.selection);
    take_list("keep", options.keep);
    take("naming", options.naming);
    take("resolve", options.resolution);
    take("propagate", options.propagation);
    take_list("sources", options.sources);
    if (const auto text = record.option("min-confidence"); options.min_confidence == 0) {
        std::from_chars(text.data(), text.data() + text.size(), options.min_confidence);
    }
}

namespace detail {

/// The policies that options ask for; refuses options that name none.
class chosen_policies {
public:
    using operators = onnx_operators<wire_model>;
    using context_type = evidence_context<operators, module_tree>;

    /// Sources that a program added to those in the box.
    struct added_sources {
        using policy_category = evidence_category;
        using source = any_evidence<operators, module_tree>;

        std::vector<source> chosen{};

        struct claims {
            std::vector<source::claims> made;

            template <class Function>
            void for_each_claim(id node, Function f) const {
                for (const auto& one : made) {
                    one.for_each_claim(node, std::ref(f));
                }
            }
        };

        [[nodiscard]] claims prepare(context_type& context) const {
            claims all;
            for (const auto& one : chosen) {
                all.made.push_back(one.prepare(context));
            }
            return all;
        }
    };

    using source_set =
        evidence_sources<optional_source<exporter_metadata>, optional_source<builder_metadata>,
                         optional_source<function_calls>, optional_source<scope_names>,
                         optional_source<parameter_names>, optional_source<parameter_regions>,
                         optional_source<leftovers>, optional_source<class_tags>, given_claims,
                         added_sources>;

    explicit chosen_policies(const attribution_options& options) : options_(options) {
        for (const auto& source : options.sources) {
            const auto known = parse_provenance(source);
            if ((!known || !is_evidence(*known)) && !known_policies().sources.find(source)) {
                refuse("source of evidence", source);
            }
        }
    }

    [[nodiscard]] bool uses(std::string_view source) const {
        const auto& names = options_.sources;
        return names.empty() || std::find(names.begin(), names.end(), source) != names.end();
    }
    [[nodiscard]] bool uses(provenance p) const { return uses(to_string(p)); }

    /// Returns: the sources in the box for whose provenance `on` holds, and those that were added.
    template <class Chosen>
    [[nodiscard]] source_set sources(Chosen on, const std::vector<claim_table>& given) const {
        added_sources added;
        known_policies().sources.for_each([&](const std::string& name, const auto& source) {
            if (uses(name)) {
                added.chosen.push_back(source);
            }
        });
        return source_set({{}, on(provenance::metadata)}, {{}, on(provenance::metadata)},
                          {{}, on(provenance::function)}, {{}, on(provenance::scope)},
                          {{}, on(provenance::parameter)},
                          {{}, on(provenance::parameter) && given.empty()},
                          {{}, on(provenance::leftover)}, {{}, on(provenance::leftover)},
                          given_claims{&given}, added);
    }

    [[nodiscard]] any_selection<module_tree> selection() const {
        auto found = known_policies().find_selection(options_.selection, options_.keep);
        if (!found) {
            refuse("selection", options_.selection);
        }
        return *std::move(found);
    }

    [[nodiscard]] any_naming<module_tree> naming() const {
        return look_up(known_policies().namings, "naming", options_.naming);
    }

    [[nodiscard]] any_resolution resolution() const {
        if (auto named = parse_resolution(options_.resolution, options_.min_confidence)) {
            return *named;
        }
        return look_up(known_policies().resolutions, "resolution", options_.resolution);
    }

    [[nodiscard]] any_propagation<operators> propagation() const {
        return look_up(known_policies().propagations, "propagation", options_.propagation);
    }

private:
    template <class Any>
    [[nodiscard]] static Any look_up(const policies_by_name<Any>& known, const char* role,
                                     const std::string& name) {
        auto found = known.find(name);
        if (!found) {
            refuse(role, name);
        }
        return *std::move(found);
    }

    [[noreturn]] static void refuse(std::string_view what, const std::string& text) {
        STEMMA_THROW(error(error_code::refused, "", what, "'" + text + "' is none that is known"));
    }

    attribution_options options_;
};

} // namespace detail

} // namespace stemma

#endif // STEMMA_ONNX_WIRE_ATTRIBUTION_OPTIONS_HPP
