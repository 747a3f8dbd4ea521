// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_OPEN_POLICY_NAMES_HPP
#define STEMMA_OPEN_POLICY_NAMES_HPP

#include <stemma/config.hpp>
#include <stemma/core/nearest_texts.hpp>
#include <stemma/error.hpp>
#include <stemma/model/attribution.hpp>
#include <stemma/open/attribution_options.hpp>
#include <stemma/tagging/selection.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace stemma::inline STEMMA_ABI {

/// Policies by their names in a registry, for command lines and configurations; "" if not chosen.
struct policy_names {
    std::string selection{};            ///< which modules get tags
    std::vector<std::string> keep{};    ///< classes that the default selection also selects
    std::string naming{};               ///< what tags look like
    std::string resolution{};           ///< which claim is believed
    std::string propagation{};          ///< where nodes without evidence belong
    std::vector<std::string> sources{}; ///< sources of evidence, built-in and added; empty: all

    /// Returns: `options` with the named policies, and the registry, which must outlive anything
    /// opened with them. Throws: `error` of `error_code::refused` for an unknown name, listing the
    /// known ones. Complexity: O(names).
    [[nodiscard]] attribution_options found_in(const onnx_policy_registry& registry,
                                               attribution_options options = {}) const {
        options.selection = registry.selections.get("selection", selection);
        if (!keep.empty() && (selection.empty() || selection == "default")) {
            options.selection = not_infrastructure{.packages = {}, .keep = keep};
        }
        options.naming = registry.namings.get("naming", naming);
        options.resolution = registry.resolutions.get("resolution", resolution);
        options.propagation = registry.propagations.get("propagation", propagation);
        options.known = &registry;
        if (sources.empty()) {
            registry.sources.for_each(
                [&](const std::string&, const auto& one) { options.evidence.push_back(one); });
            return options;
        }
        options.sources.emplace();
        for (const auto& name : sources) {
            const auto number = detail::parse_provenance(name);
            if (number && is_evidence(*number)) {
                options.sources->push_back(*number);
            } else if (auto added = registry.sources.find(name)) {
                options.evidence.push_back(*std::move(added));
            } else {
                STEMMA_THROW(error(
                    error_code::refused, "", "",
                    detail::unknown_name_text("source of evidence", name, all_sources(registry))));
            }
        }
        return options;
    }

    /// Returns: the names of all sources of evidence, `export, recorded`, including added ones.
    /// Complexity: O(names).
    [[nodiscard]] static std::string all_sources(const onnx_policy_registry& registry) {
        std::string names;
        for (std::size_t p = 0; p < detail::provenance_count; ++p) {
            if (const auto source = static_cast<provenance>(p); is_evidence(source)) {
                names.append(names.empty() ? "" : ", ").append(to_string(source));
            }
        }
        const auto added = registry.sources.names();
        return names.append(added.empty() ? "" : ", ").append(added);
    }
};

} // namespace stemma::inline STEMMA_ABI

#endif // STEMMA_OPEN_POLICY_NAMES_HPP
