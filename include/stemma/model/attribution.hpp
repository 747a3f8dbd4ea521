// SPDX-License-Identifier: Apache-2.0
#ifndef STEMMA_MODEL_ATTRIBUTION_HPP
#define STEMMA_MODEL_ATTRIBUTION_HPP

#include <stemma/core/id.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stemma {

/// Where an attribution comes from: a source of evidence, in falling order of trust, or a rule of
/// propagation.
enum class provenance : std::uint8_t {
    exported,    ///< scopes recorded during the export
    recorded,    ///< what the file carries of tags that it got before it was changed
    metadata,    ///< node metadata of an exporter
    function,    ///< local functions
    scope,       ///< scoped node names
    parameter,   ///< names of the initializers that are read
    torchscript, ///< a TorchScript archive
    trace,       ///< an aligned trace
    fx,          ///< an aligned FX graph
    leftover,    ///< what an optimizer left of the origin
    consumer,    ///< the readers
    producer,    ///< the producers
    between,     ///< readers and producers together
    owner,       ///< the operator that owns the body
    root,        ///< nothing is known
};

/// How many there are.
inline constexpr std::size_t provenance_count = 15;

/// Returns: the name that files and reports use.
[[nodiscard]] constexpr std::string_view to_string(provenance p) noexcept {
    constexpr std::array<std::string_view, provenance_count> names{
        "export",    "recorded",    "metadata", "function", "scope",
        "parameter", "torchscript", "trace",    "fx",       "leftover",
        "consumer",  "producer",    "between",  "owner",    "root"};
    return names[static_cast<std::size_t>(p)];
}

/// Returns: the provenance of a name, as `to_string` gives it.
/// Complexity: one comparison for each provenance.
[[nodiscard]] constexpr std::optional<provenance> parse_provenance(std::string_view name) noexcept {
    for (std::size_t i = 0; i < provenance_count; ++i) {
        if (to_string(static_cast<provenance>(i)) == name) {
            return static_cast<provenance>(i);
        }
    }
    return std::nullopt;
}

/// Whether `p` is a source of evidence rather than a rule of propagation.
[[nodiscard]] constexpr bool is_evidence(provenance p) noexcept {
    return p < provenance::consumer;
}

/// One source's word on one operator. Several claims of one source mean: one of these; or, where
/// they are doubtful, that it was made of operators of all of them.
struct claim {
    id module = no_id;    ///< preorder rank
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    float confidence = 0; ///< in [0, 1]
    provenance source = provenance::root; ///< who says so
    bool exact = true;     ///< the deepest module; else: the module, or one above or below it
    id caller = no_id;     ///< module that called, where it is not above the one called
    bool doubtful = false; ///< the source is known to name one of several modules here

    friend bool operator==(const claim&, const claim&) = default;
};

/// What is known of one operator's origin.
struct attribution {
    id module = no_id;    ///< the deepest module
    id call = no_id;      ///< which call of the module, from 0; `no_id` where unknown
    float confidence = 0; ///< in [0, 1]
    provenance source = provenance::root; ///< who was believed, or the rule that filled the gap
    bool conflict = false;                ///< some claim disagreed

    friend bool operator==(const attribution&, const attribution&) = default;
};

} // namespace stemma

#endif // STEMMA_MODEL_ATTRIBUTION_HPP
